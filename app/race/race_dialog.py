"""The dialog of a race: the form, the race, its replay."""

from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import structs
from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QFileDialog, QStackedWidget, QVBoxLayout, QWidget

from app import formatting
from app.connection.engine import Engine, State
from app.header import local_models
from app.preferences import LoadPreferences, RecentPair, load_request
from app.race import race_picture, race_record, race_words
from app.race.race_page import RacePage
from app.race.race_record import SUFFIX, RaceLane, RaceRecording
from app.race.race_run import RacePlan, RaceRun
from app.race.race_start import RaceStart
from app.widgets.fault_words import FaultWords
from app.widgets.form_parts import Scrolling
from app.widgets.notice import Problem
from app.widgets.save_dialog import ask_where_to_save
from engine import catalog
from engine.errors import SpecExecError
from engine.protocol.messages import Load, LoadProgress, Message, Options, PrefillProgress

SIZE = (1040, 720)
SHARE = 0.94  # of the screen, at most


class RaceDialog(QDialog):
    """The dialog of a race. It blocks its window, so that no question comes between the two answers.

    Closing it ends the race; `RaceRun` then loads the first models back.

    Attributes:
        form, page: the two pages.
        problem: the place for errors.

    Signals:
        restart_asked: the engine is lost, and the user wants it back
    """

    restart_asked = Signal()

    def __init__(
        self,
        run: RaceRun,
        engine: Engine,
        messages: Sequence[Message],
        options: Options,
        parent: QWidget | None = None,
    ) -> None:
        """messages: the question of the chat, as the last one, and what was said before it; or only a system
        prompt. options: of both answers, with a seed."""
        super().__init__(parent)
        self.setObjectName("race")
        self.setWindowTitle(self.tr("Race"))
        room = self.screen().availableSize() * SHARE
        self.resize(min(SIZE[0], room.width()), min(SIZE[1], room.height()))
        self._run, self._engine, self._options = run, engine, options
        self._before = [*messages]
        self._lane = 0
        self._loads: dict[str, Load] = {}
        question = self._before.pop().content if messages and messages[-1].role == "user" else ""
        self.form = RaceStart(self)
        self.form.question.setPlainText(question)
        if options.max_new_tokens is not None:
            self.form.tokens.setValue(options.max_new_tokens)
        self.page = RacePage(self)
        self.problem = Problem(self)
        self._pages = QStackedWidget(self)
        self._form_place, self._page_place = Scrolling(self.form), Scrolling(self.page)
        self._pages.addWidget(self._form_place)
        self._pages.addWidget(self._page_place)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(18, 16, 18, 16)
        layout.setSpacing(10)
        layout.addWidget(self.problem)
        layout.addWidget(self._pages, 1)
        self._connect()
        self._allow()

    def _connect(self) -> None:
        self.form.start_asked.connect(self._start)
        self.form.open_asked.connect(self._ask_file)
        page, run = self.page, self._run
        page.again_asked.connect(self._begin_again)
        page.stop_asked.connect(self._stop)
        page.copy_asked.connect(self.copy_picture)
        page.picture_asked.connect(self._ask_picture)
        page.keep_asked.connect(self._ask_recording)
        run.lane_began.connect(self._begin_lane)
        run.load_progressed.connect(self._show_load)
        run.prompt_read.connect(self._show_prompt)
        run.text_added.connect(self._add)
        run.lane_ended.connect(self._end_lane)
        run.finished.connect(self._show_result)
        run.failed.connect(self._fail)
        run.returned.connect(self._come_home)
        self._engine.state_changed.connect(self._allow)
        self.finished.connect(self._leave)

    def offer_rivals(self, context: int | None, loading: LoadPreferences) -> None:
        """Offer the other models on this machine as second models. context: as in `Load`."""
        loaded = self._engine.wanted.target or catalog.default_target()
        models = [model for model in local_models.models_here() if model.name != loaded]
        self._loads = {model.name: load_request(RecentPair(model.name), context, loading) for model in models}
        self.form.offer(models)

    # -- running ---------------------------------------------------------------------------------------------

    def _start(self) -> None:
        question, rival = self.form.question.toPlainText().strip(), self.form.rival
        options = structs.replace(self._options, max_new_tokens=self.form.tokens.value())
        load = self._loads[rival] if rival is not None else None
        plan = RacePlan([*self._before, Message("user", question)], options, load)
        pair = self._engine.pair
        if pair is None:
            return
        self.problem.clear()
        names = pair.target.name, self.form.rivals.currentText()
        is_of_one = rival is None
        shown = race_words.name(is_of_one, 0, names[0]), race_words.name(is_of_one, 1, names[1])
        self.page.begin(question, shown)
        self._pages.setCurrentWidget(self._page_place)
        self.page.stop.setFocus()
        if not self._run.start(plan):
            self._begin_again()

    def _begin_lane(self, lane: int) -> None:
        self._lane = lane
        self.page.show_status(lane, self.tr("preparing…"))

    def _show_load(self, progress: LoadProgress) -> None:
        if self._run.is_returning:
            text = self.tr("The first model is being loaded back. {}")
            self.page.show_hint(text.format(formatting.load_stage(progress)))
        else:
            self.page.show_status(self._lane, formatting.load_stage(progress))

    def _show_prompt(self, progress: PrefillProgress) -> None:
        self.page.show_status(self._lane, self.tr("reading the question…"))

    def _add(self, text: str) -> None:
        self.page.show_status(self._lane, self.tr("running alone…"))
        self.page.add(self._lane, text)

    def _end_lane(self, lane: RaceLane) -> None:
        done = self.tr("finished after {} s").format(formatting.decimal(lane.seconds))
        self.page.show_status(self._lane, done)

    def _show_result(self, race: RaceRecording) -> None:
        self.show_race(race)
        if self._run.is_returning:
            self.page.show_hint(self.tr("The first model is being loaded back."))

    def _come_home(self) -> None:
        self.page.show_hint("")

    def _fail(self, words: FaultWords) -> None:
        self._begin_again()
        is_lost = self._engine.state is State.LOST
        notice = self.problem.show_words(words, self.tr("Restart engine") if is_lost else "")
        if is_lost:
            notice.pressed.connect(self.restart_asked)
            notice.pressed.connect(self.problem.clear)

    def _stop(self) -> None:
        self._run.cancel()
        self._begin_again()

    def _begin_again(self) -> None:
        self._pages.setCurrentWidget(self._form_place)
        self.form.question.setFocus()

    def _allow(self) -> None:
        self.form.allow(self._engine.state is State.READY)

    def _leave(self) -> None:
        self._run.cancel()
        self.page.clock.pause()

    # -- recordings and pictures -----------------------------------------------------------------------------

    def show_race(self, race: RaceRecording) -> None:
        self.problem.clear()
        self._pages.setCurrentWidget(self._page_place)
        self.page.show_race(race)

    def open_recording(self, path: Path) -> None:
        """Show a recording; show an error if the file cannot be read."""
        try:
            self.show_race(race_record.read(path))
        except SpecExecError as error:
            self.problem.show_error(error)

    def save_recording(self, path: Path) -> None:
        """Write the recording that is shown; show an error if that fails."""
        self._write(path, race_record.save)

    def save_picture(self, path: Path) -> None:
        """Write the result as a picture; show an error if that fails."""
        self._write(path, race_picture.save_picture)

    def copy_picture(self) -> None:
        if self.page.race is not None:
            QGuiApplication.clipboard().setImage(race_picture.picture_of(self.page.race))
            self.page.show_hint(self.tr("The picture is in the clipboard."))

    def _write(self, path: Path, write: Callable[[Path, RaceRecording], None]) -> None:
        if self.page.race is None:
            return
        self.problem.clear()
        try:
            write(path, self.page.race)
            self.page.show_hint(self.tr("Saved as {}.").format(path))
        except SpecExecError as error:
            self.problem.show_error(error)

    def _ask_file(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, self.tr("Open a recording"), "", f"*{SUFFIX}")
        if path:
            self.open_recording(Path(path))

    def _ask_recording(self) -> None:
        kinds = {f"*{SUFFIX}": SUFFIX.removeprefix(".")}
        path = ask_where_to_save(self, self.tr("Save recording"), "specexec", kinds)
        if path is not None:
            self.save_recording(path)

    def _ask_picture(self) -> None:
        path = ask_where_to_save(self, self.tr("Save picture"), "specexec-race", {"*.png": "png"})
        if path is not None:
            self.save_picture(path)
