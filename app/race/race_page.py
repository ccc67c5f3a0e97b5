"""The race itself: two answers beside each other, and the controls of the replay."""

from PySide6.QtCore import QEvent, QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QSlider, QVBoxLayout, QWidget

from app import formatting
from app.race import race_words
from app.race.lane_view import LaneView
from app.race.race_record import RaceRecording
from app.race.replay_clock import ReplayClock
from app.widgets import motion
from app.widgets.elided_label import ElidedLabel
from app.widgets.flow import Flow
from app.widgets.form_parts import Card, button, label
from app.widgets.plain_text import PlainLabel, plain

STEPS_PER_S = 100  # of the slider
MOST_STEPS = 1_000_000_000
SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)


class RacePage(QWidget):
    """Shows a race while it runs, and replays its recording.

    Attributes:
        lanes: the two columns.
        clock: the clock of the replay.
        race: the recording that is shown, or None while a race runs.
        play, slider, speed: the controls of the replay.
        factor, sameness: labels with the result.
        again, copy, picture, keep, stop: buttons.

    Signals:
        again_asked, copy_asked, picture_asked, keep_asked, stop_asked: the button of this name was pressed
    """

    again_asked = Signal()
    copy_asked = Signal()
    picture_asked = Signal()
    keep_asked = Signal()
    stop_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.race: RaceRecording | None = None
        self._question = ElidedLabel(self)
        self._question.setProperty("role", "heading")
        self._status = label("", "caption", self)
        self.lanes = (LaneView(self), LaneView(self))
        self.clock = ReplayClock(self)
        self.play = button("▶", self.tr("Play"), self)
        self.play.setMinimumWidth(52)
        self.slider = QSlider(Qt.Orientation.Horizontal, self)
        self.slider.setAccessibleName(self.tr("Time"))
        self._time = PlainLabel(parent=self)
        self._time.setProperty("role", "caption")
        self.speed = QComboBox(self)
        self.speed.setAccessibleName(self.tr("Speed of the replay"))
        for speed in SPEEDS:
            self.speed.addItem(f"{speed:g}×", speed)
        self.speed.setCurrentIndex(SPEEDS.index(1.0))
        self.factor = label("", "heading", self)
        self.finishes = label("", "muted", self)
        self.sameness = label("", "muted", self)
        self.again = button(self.tr("Another race…"), parent=self)
        self.copy = button(self.tr("Copy picture"), parent=self)
        self.picture = button(self.tr("Save picture…"), parent=self)
        self.keep = button(self.tr("Save recording…"), parent=self)
        self.stop = button(self.tr("Stop the race"), parent=self)
        self._result = Card(self)
        self._controls = QWidget(self)
        self._build()
        self._connect()

    def _build(self) -> None:
        columns = QHBoxLayout()
        columns.setSpacing(12)
        for lane in self.lanes:
            columns.addWidget(lane, 1)
        controls = QHBoxLayout(self._controls)
        controls.setContentsMargins(0, 0, 0, 0)
        for widget in (self.play, self.slider, self._time, self.speed):
            controls.addWidget(widget, 1 if widget is self.slider else 0)
        for line in (self.factor, self.finishes, self.sameness):
            self._result.column.addWidget(line)
        buttons = Flow()
        buttons.addWidget(self.again)
        buttons.addStretch()
        for widget in (self.copy, self.picture, self.keep, self.stop):
            buttons.addWidget(widget)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(10)
        layout.addWidget(self._question)
        layout.addWidget(self._status)
        layout.addLayout(columns, 1)
        layout.addWidget(self._controls)
        layout.addWidget(self._result)
        layout.addLayout(buttons)

    def _connect(self) -> None:
        self.again.clicked.connect(self.again_asked)
        self.copy.clicked.connect(self.copy_asked)
        self.picture.clicked.connect(self.picture_asked)
        self.keep.clicked.connect(self.keep_asked)
        self.stop.clicked.connect(self.stop_asked)
        self.play.clicked.connect(self._toggle)
        self.slider.valueChanged.connect(self._slide)
        self.speed.currentIndexChanged.connect(self._set_speed)
        self.clock.moved.connect(self._show_time)
        self.clock.played.connect(self._show_playing)

    # -- while it runs ---------------------------------------------------------------------------------------

    def begin(self, question: str, names: tuple[str, str]) -> None:
        """Show a race that begins, with these names of its answers."""
        self.clock.pause()
        self.race = None
        self._question.setText(formatting.excerpt(question, 300))
        for lane, name in zip(self.lanes, names, strict=True):
            lane.wait(name, self.tr("waiting"))
        self._show_parts(is_running=True)

    def show_status(self, lane: int, text: str) -> None:
        """Say what happens for an answer."""
        self.lanes[lane].state.setText(text)

    def add(self, lane: int, text: str) -> None:
        self.lanes[lane].add(text)

    def show_hint(self, text: str) -> None:
        """Show a line below the question; "" for none."""
        self._status.setText(text)
        self._status.setVisible(bool(text))

    # -- the recording ---------------------------------------------------------------------------------------

    def show_race(self, race: RaceRecording) -> None:
        """Show a recording from its beginning and, unless motion is reduced, play it."""
        self.clock.pause()
        self.race = race
        self._question.setText(formatting.excerpt(race.question, 300))
        self.clock.end_s = race.seconds
        self._time.setMinimumWidth(self._time.fontMetrics().horizontalAdvance(self._time_text(race.seconds)))
        with QSignalBlocker(self.slider):
            self.slider.setRange(0, min(MOST_STEPS, round(race.seconds * STEPS_PER_S)))
            self.slider.setSingleStep(max(1, self.slider.maximum() // 100))
            self.slider.setPageStep(max(1, self.slider.maximum() // 10))
        for place, lane in enumerate(self.lanes):
            lane.show_lane(race_words.lane_name(race, place), race.lanes[place], 0.0)
        self.factor.setText(race_words.factor(race))
        self.finishes.setText(race_words.finishes(race))
        self.sameness.setText(race_words.sameness(race))
        self.sameness.setToolTip(plain(race_words.why_they_part(race)))
        self._show_parts(is_running=False)
        self.clock.go_to(race.seconds if motion.is_reduced() else 0.0)
        if not motion.is_reduced():
            self.clock.play()
        self.play.setFocus()

    def hideEvent(self, event: QEvent) -> None:
        super().hideEvent(event)  # type: ignore[arg-type]
        self.clock.pause()

    def _show_parts(self, *, is_running: bool) -> None:
        for widget in (self._controls, self._result, self.again, self.copy, self.picture, self.keep):
            widget.setVisible(not is_running)
        self.stop.setVisible(is_running)
        self.show_hint("")

    def _toggle(self) -> None:
        if self.clock.is_playing:
            self.clock.pause()
        else:
            self.clock.play()

    def _show_playing(self, is_playing: bool) -> None:
        self.play.setText("❚❚" if is_playing else "▶")
        self.play.setAccessibleName(self.tr("Pause") if is_playing else self.tr("Play"))

    def _slide(self, step: int) -> None:
        self.clock.pause()
        share = step / max(1, self.slider.maximum())
        self.clock.go_to(share * self.clock.end_s)

    def _set_speed(self) -> None:
        self.clock.speed = self.speed.currentData()

    def _show_time(self, t: float) -> None:
        with QSignalBlocker(self.slider):
            share = t / self.clock.end_s if self.clock.end_s else 1.0
            self.slider.setValue(round(share * self.slider.maximum()))
        self._time.setText(self._time_text(t))
        for lane in self.lanes:
            lane.show_at(t)

    def _time_text(self, t: float) -> str:
        return self.tr("{} of {} s").format(formatting.decimal(t), formatting.decimal(self.clock.end_s))
