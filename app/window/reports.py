"""Shows in the panes what the engine and the chat report through their signals."""

from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import structs
from PySide6.QtCore import QObject, QUrl
from PySide6.QtGui import QDesktopServices

from app import formatting
from app.connection.conversation import Conversation
from app.connection.engine import BUSY, WILL_ANSWER, Engine, State
from app.connection.memory import without_oldest
from app.header import model_choice
from app.header.status_line import usual_tokens
from app.panel import calibration, run_figures
from app.panel.last_runs import LastRuns
from app.panel.tint import Tint
from app.preferences import pair_of
from app.sidebar.outline import chat_title
from app.widgets import motion, remark_words
from app.widgets.announcement import announce
from app.widgets.fault_words import FaultWords, words_of
from app.widgets.notice import Notice
from app.widgets.plain_text import plain
from app.window.more_room import MoreRoom
from app.window.panes import Panes
from app.window.remedies import Remedies
from engine import planner
from engine.errors import PromptTooLong, SpecExecError
from engine.protocol.messages import (
    Answer,
    AnswerBegun,
    DiskSilence,
    EngineLost,
    Event,
    Failed,
    IterationDone,
    Load,
    Loaded,
    PassProgress,
    PrefillProgress,
    Remark,
    SmallerPlan,
    TextDelta,
    TreeGrown,
)

MOST_SAID = 2_000  # characters of an answer that a screen reader says by itself


class Reports(QObject):
    """Connects the signals of the engine and the chat to the panes, which show the events and errors.

    An error notice has a button with a remedy. No request is sent before the user presses it.

    Attributes:
        remedies: offers what helps where an engine elsewhere fails.
    """

    def __init__(
        self, engine: Engine, chat: Conversation, panes: Panes, kept_plans: list[tuple[Load, SmallerPlan]]
    ) -> None:
        """kept_plans: the smaller plans that the user keeps, see `Core`; the notice about one adds it."""
        super().__init__(panes)
        self._kept_plans = kept_plans
        self._engine, self._chat = engine, chat
        self._header, self._sidebar = panes.header, panes.sidebar
        self._transcript, self._composer, self._panel = panes.transcript, panes.composer, panes.panel
        self.remedies = Remedies(engine, panes)
        self._more_room = MoreRoom(panes, chat, engine)
        self._tint = Tint(self)
        self._runs = LastRuns()
        # The last chat with a notice about an answer.
        self._failed: tuple[int | None, Notice | None] = None, None
        self._explained: tuple[int, Answer] | None = None  # the answer in the panel, and its id
        self._warning: Notice | None = None  # of the loaded model; stays during answers
        self._silence: Notice | None = None  # of a disk that does not answer
        self._remarked: Sequence[Remark] = ()  # the remarks shown last
        self._undrafted: set[str | None] = set()  # targets that shall not draft for themselves
        self._connect_engine()
        self._connect_chat()
        self._panel.colours_toggled.connect(self._tint.set_on)
        self._panel.text_asked.connect(self._tint.look_at)
        self._tint.position_asked.connect(self._panel.show_origin)
        self._waiting = panes.waiting
        self._transcript.why_asked.connect(self._explain)

    def _connect_engine(self) -> None:
        engine = self._engine
        engine.state_changed.connect(self._show_state)
        engine.load_progressed.connect(self._header.status.show_load_progress)
        engine.load_waits.connect(self._show_load_silence)
        engine.busy_for_changed.connect(
            lambda: self._header.status.show_busy_for(engine.state, engine.busy_for)
        )
        engine.loaded.connect(self._header.show_loaded)
        engine.loaded.connect(self._panel.show_loaded)
        engine.loaded.connect(self._show_damage)
        engine.loaded.connect(self._show_shortage)
        engine.loaded.connect(self._offer_own_draft)
        engine.load_failed.connect(self._show_load_failure)
        engine.lost.connect(self._show_loss)

    def _connect_chat(self) -> None:
        chat = self._chat
        chat.opened.connect(self._open)
        chat.opened.connect(self._show_waiting)
        chat.waiting_changed.connect(self._show_waiting)
        chat.path_changed.connect(self._show_path)
        for changed in (chat.opened, chat.path_changed, chat.settings_changed):
            changed.connect(self._mark_memory)
        self._transcript.whole_asked.connect(chat.send_whole_chat)
        chat.listed.connect(self._list_chats)
        chat.text_added.connect(self._add_text)
        chat.reported.connect(self._report)
        chat.failed.connect(self._show_failure)
        chat.store_failed.connect(self.show_error)

    def catch_up(self) -> None:
        """Show what was reported before this window was opened."""
        self._show_state(self._engine.state)
        if self._engine.pair is not None:
            self._header.show_loaded(self._engine.pair)
            self._panel.show_loaded(self._engine.pair)
        self._show_waiting()
        self._list_chats()

    # -- the chat --------------------------------------------------------------------------------------------

    def _open(self) -> None:
        failed, notice = self._failed
        if failed != self._chat.id and self._transcript.notice is notice:
            self._transcript.clear_notice()
        self._clear_silence()
        self._runs.leave(self._panel.kept_run())
        self._tint.follow(None, self._panel.origins)
        self._transcript.open(self._chat.shown, self._answering)
        self._open_thought()
        self._allow()
        self._show_kept_run()
        self._list_chats()

    def _show_kept_run(self) -> None:
        """Show the last run of the chat that is opened, if its answer is shown."""
        message, run = self._runs.enter(self._chat.id)
        view = self._transcript.answer_of(message) if message is not None else None
        self._explained = None
        if run is None or view is None or message is None:
            self._panel.begin()
            return
        self._panel.show_run(run)
        if run.answer is not None:
            self._explained = message, run.answer
            self.show_speed()
        self._tint.follow(view, self._panel.origins)

    def _show_path(self) -> None:
        self._allow()
        before = self._transcript.answer
        self._transcript.show_path(self._chat.shown, self._answering)
        self._open_thought()
        if self._transcript.answer and self._transcript.answer is not before:
            if self._warning is None or self._transcript.notice is not self._warning:
                self._transcript.clear_notice()
            self._transcript.follow()
            self._panel.begin()
            self._explained = None
            self._runs.begin(self._chat.id, self._answering)
            self._tint.follow(self._transcript.answer, self._panel.origins)
            reports = [shown.message.reports[-1] for shown in self._chat.shown if shown.message.reports]
            most = self._chat.settings.options.max_new_tokens
            self._header.status.expect(most, usual_tokens([report.tokens for report in reports]))
        self.show_speed()

    def _open_thought(self) -> None:
        """Tell the view of the answer in progress whether the prompt has opened a thought."""
        if self._transcript.answer and self._chat.answering:
            self._transcript.answer.open_thought(self._chat.answering.under_way.opened)

    def _mark_memory(self) -> None:
        """Mark where the model's memory begins, if oldest turns are left out."""
        sent = without_oldest([shown.message for shown in self._chat.shown], self._chat.settings.left_out)
        self._transcript.mark_memory(sent[0].id if sent and self._chat.settings.left_out else None)

    def _show_waiting(self) -> None:
        self._waiting.show_waiting(list(self._chat.waiting), self._chat.titles_of_waiting())

    @property
    def _answering(self) -> int | None:
        return self._chat.answering.message if self._chat.answering else None

    def _list_chats(self) -> None:
        self._sidebar.refresh()
        self._sidebar.show_chat(self._chat.id)
        self._sidebar.mark_answering(self._chat.answering.chat if self._chat.answering else None)

    # -- the answer in progress ------------------------------------------------------------------------------

    def _add_text(self, text: str) -> None:
        if self._transcript.answer:
            if not self._transcript.answer.text:
                self._header.status.show_answering()
            self._transcript.answer.append(text)

    def _report(self, event: Event) -> None:
        status = self._header.status
        match event:
            case AnswerBegun():
                self._open_thought()
            case PrefillProgress():
                status.show_prefill(event)
                if self._transcript.answer:
                    self._transcript.answer.set_status(status.state.text())
            case TreeGrown() | IterationDone():
                status.show_iteration(event)
                if isinstance(event, IterationDone) or not motion.is_reduced():
                    self._panel.show_tree(event)
                self._tint.refresh()
            case TextDelta():
                if self._transcript.answer:
                    self._transcript.answer.count(event.tokens)
                if event.committed is not None:
                    self._panel.show_told_tokens(event.committed)
                    self._tint.refresh()
            case PassProgress():
                status.show_pass(event)
                self._panel.show_pass(event)
            case DiskSilence():
                going_on = self.tr(
                    "The answer goes on as soon as the disk does. See that it is connected, or stop the "
                    "answer: the text so far stays."
                )
                self._show_silence(event.seconds, going_on, self.tr("Stop"))
            case Answer():
                self._clear_silence()
                self._panel.show_answer(event)
                self._tint.refresh()
                self._explained = self._chat.shown[-1].message.id, event
                self.show_speed()
                self._announce()
                self._show_remarks(event.remarks)
                if event.stop_reason == "repetition":
                    self._show_repetition()

    def _show_remarks(self, remarks: Sequence[Remark]) -> None:
        """Show the remarks about an answer or a load, unless they are those shown last."""
        if remarks and remarks != self._remarked:
            message, hint = remark_words.in_one(remarks)
            notice = Notice(message, hint, self.tr("Close"), self._transcript, tone="offer")
            self._show_notice(notice, self._transcript.clear_notice)
        self._remarked = remarks or self._remarked

    def _announce(self) -> None:
        """Let a screen reader say the answer that has ended, or its beginning, and why it is not whole."""
        message = self._chat.shown[-1].message
        if view := self._transcript.answer_of(message.id):
            said = formatting.excerpt(view.answer(), MOST_SAID)
            if ending := formatting.message_ending(message):
                announce(view, self.tr("Answer not complete. {}: {}").format(ending, said))
            else:
                announce(view, self.tr("Answer complete: {}").format(said))

    def show_speed(self) -> None:
        """Show below the answer how fast it came; a measurement of plain decoding adds the comparison."""
        pair = self._engine.pair
        if self._explained is None or pair is None:
            self._transcript.show_speed(None, "")
            return
        message, answer = self._explained
        self._transcript.show_speed(message, run_figures.speed_line(answer, calibration.plain_speed(pair)))

    def _explain(self) -> None:
        """Open the panel at the page that explains the speed."""
        self._panel.open_speed()
        self._header.panel_switch.setChecked(True)

    # -- states and errors -----------------------------------------------------------------------------------

    def _show_state(self, state: State) -> None:
        self._header.show_state(state)
        if state is State.LOADING:
            self._header.show_loading(model_choice.text_of(pair_of(self._engine.wanted)))
        self._allow()
        self._transcript.allow_changes(state in (State.READY, State.IDLE))
        if state in (State.STARTING, State.LOADING):
            self._clear_silence()
            self._transcript.clear_notice()
            self._remarked = ()

    def _allow(self) -> None:
        """Let the composer send, or stop what goes on here: the load, or an answer in the chat shown."""
        state = self._engine.state
        loads = state is State.LOADING
        stops = state in BUSY and (loads or self._chat.is_answering_here)
        self._composer.allow(send=state in WILL_ANSWER, stop=stops, is_loading=loads)

    def _show_damage(self, loaded: Loaded) -> None:
        """Say that files of the models are probably damaged."""
        if loaded.damage:
            words = FaultWords(*remark_words.in_one(loaded.damage))
            self._warning = self._notify(words, self.tr("Close"), self._transcript.clear_notice)

    def _show_shortage(self, loaded: Loaded) -> None:
        """Say what was given up because memory ran out while the models were loaded."""
        if loaded.damage:
            return
        plan = loaded.smaller_plan
        if plan is not None and (self._engine.wanted, plan) not in self._kept_plans:
            self._offer_full_plan(loaded, plan)
        else:
            self._show_remarks([remark for remark in loaded.shortages if remark != plan])

    def _offer_full_plan(self, loaded: Loaded, smaller: SmallerPlan) -> None:
        """Say that the models run by a smaller plan, and how to return to the full one."""
        plan = self._engine.wanted, smaller
        said = self.tr(
            "Memory ran out before, so the model was loaded by a smaller plan. It may answer more slowly, or "
            "remember less of a chat. Close other programs to free memory, then load it in full again."
        )
        title, again = self.tr("The model runs with less memory now"), self.tr("Load in full again")
        details = remark_words.in_one(loaded.shortages).message
        notice = Notice(title, said, again, self._transcript, tone="offer", details=details)
        self._show_notice(notice, self._engine.load_in_full)
        keep = notice.offer(self.tr("Keep it so"))
        keep.clicked.connect(lambda: self._kept_plans.append(plan))
        keep.clicked.connect(self._transcript.clear_notice)

    def _offer_own_draft(self, loaded: Loaded) -> None:
        """Offer that the model drafts for itself, once for each model."""
        wanted, own = self._engine.wanted, loaded.own_draft
        if own is None or loaded.damage or loaded.shortages or wanted.target in self._undrafted:
            return
        self._undrafted.add(wanted.target)
        faster = self.tr("It can answer about {} times as fast").format(formatting.rounded(own.speedup))
        said = self.tr(
            "This model is read from the disk again and again. "
            "It can draft for itself: the copy in fewer bits that it needs is on the disk already."
        )
        if own.nbytes:
            said = self.tr(
                "This model is read from the disk again and again. "
                "It can draft for itself: a copy in fewer bits is made once, which takes {} of the disk."
            ).format(formatting.nbytes(own.nbytes))
        notice = Notice(faster, said, self.tr("Let it draft for itself"), self._transcript, tone="offer")
        self._show_notice(notice, lambda: self._engine.load(structs.replace(wanted, draft=planner.SELF)))
        notice.offer(self.tr("Not now")).clicked.connect(self._transcript.clear_notice)

    def _show_load_silence(self, seconds: float) -> None:
        going_on = self.tr(
            "Loading goes on as soon as the disk does. See that it is connected, or cancel loading."
        )
        self._show_silence(seconds, going_on, self.tr("Cancel loading"))

    def _show_silence(self, seconds: float, going_on: str, stop: str) -> None:
        """Say for how long the disk has not answered, and how it goes on, until it answers. seconds: 0 once
        nobody waits for it any more. stop: the text of the button that ends the wait."""
        self._header.status.show_silence(seconds, self._engine.state)
        if not seconds:
            self._clear_silence()
        elif self._silence is None:
            said = self.tr("The disk with the model does not answer")
            self._silence = self._notify(FaultWords(said, going_on), stop, self._chat.stop)

    def _clear_silence(self) -> None:
        if self._silence is not None and self._transcript.notice is self._silence:
            self._transcript.clear_notice()
        self._silence = None

    def _show_repetition(self) -> None:
        """Offer to continue the answer that was stopped because it repeats itself."""
        answer = self._chat.shown[-1].message.id
        said = self.tr(
            "The answer says the same over and over, so it was stopped. “DRY penalty”, in this chat's "
            "settings, makes that less likely."
        )
        go_on = self.tr("Continue")
        notice = Notice(self.tr("It repeats itself"), said, go_on, self._transcript, tone="offer")
        self._show_notice(notice, lambda: self._chat.continue_answer(answer))
        stop = notice.offer(self.tr("Stop here"))
        stop.clicked.connect(self._transcript.clear_notice)
        stop.clicked.connect(self._composer.setFocus)
        self._failed = self._chat.id, notice

    def _show_failure(self, chat: int, failed: Failed) -> None:
        words = words_of(failed)
        if chat != self._chat.id:
            message = self.tr("In “{}”: {}").format(chat_title(self._chat.title_of(chat)), words.message)
            words = words._replace(message=message)
        if failed.kind == PromptTooLong.kind:
            notice = self._more_room.notice(words, chat)
            self._transcript.show_notice(notice)
        else:
            notice = self._notify(words, self.tr("Try again"), lambda: self._try_again(chat))
            self.remedies.offer(notice, failed)
        if chat == self._chat.id and failed.kind != "option_refused":
            self._offer_to_continue(notice)
        self._failed = chat, notice

    def _offer_to_continue(self, notice: Notice) -> None:
        """Offer to continue the answer that broke off, if it has any text."""
        last = self._chat.shown[-1].message if self._chat.shown else None
        if last is not None and last.role == "assistant" and last.text:
            go_on = notice.offer(self.tr("Continue"))
            go_on.clicked.connect(lambda: self._chat.continue_answer(last.id))
            go_on.clicked.connect(self._composer.setFocus)

    def _try_again(self, chat: int) -> None:
        if chat != self._chat.id:
            self._chat.open(chat)
        if chat == self._chat.id:  # it can be opened
            self._chat.try_again()

    def _show_load_failure(self, failed: Failed) -> None:
        if self._engine.pair is not None:  # the models loaded before still are
            self._notify(words_of(failed), self.tr("Close"), self._transcript.clear_notice)
            return
        wanted, before = self._engine.wanted, self._engine.loaded_last
        again = self.tr("Connect again") if wanted.engine else self.tr("Reload")
        notice = self._notify(words_of(failed), again, self._engine.load)
        if before is not None and pair_of(before) != pair_of(wanted):
            back = notice.offer(self.tr("Back to {}").format(model_choice.text_of(pair_of(before))))
            back.clicked.connect(lambda: self._engine.load(before))
        elif wanted.engine:
            self.remedies.offer_local(notice)
        self.remedies.offer(notice, failed)

    def _show_loss(self, lost: EngineLost) -> None:
        log = Path(lost.log_path)
        restart = self.tr("Restart with the safer plan") if lost.next_is_safer else self.tr("Restart engine")
        notice = self._notify(words_of(lost), restart, self._engine.start)
        open_log = notice.offer(self.tr("Open log"))
        open_log.setToolTip(plain(str(log)))
        open_log.clicked.connect(lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(log)))

    def show_error(self, error: SpecExecError) -> None:
        """Show an error that is not about an answer."""
        self.show_words(words_of(error))

    def show_words(self, words: FaultWords) -> None:
        """Show why something is not done."""
        self._notify(words, self.tr("Close"), self._transcript.clear_notice)

    def _notify(self, words: FaultWords, remedy: str, do: Callable[[], object]) -> Notice:
        notice = Notice(words.message, words.hint, remedy, self._transcript, details=words.details)
        self._show_notice(notice, do)
        return notice

    def _show_notice(self, notice: Notice, do: Callable[[], object]) -> None:
        """Show a notice whose button does `do`."""
        notice.pressed.connect(lambda: do())
        notice.pressed.connect(self._composer.setFocus)  # the button with the focus disappears
        self._transcript.show_notice(notice)
