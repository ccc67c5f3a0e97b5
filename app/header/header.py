"""The header widget: the loaded model, the status line, and buttons."""

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from app import formatting
from app.connection.engine import State
from app.header import local_models
from app.header.memory import by_part, by_tier
from app.header.name_button import NameButton
from app.header.picker import Picker
from app.header.place_sign import PlaceSign
from app.header.status_line import StatusLine
from app.preferences import LoadPreferences, RecentPair
from app.widgets import remark_words
from app.widgets.elided_label import ElidedLabel
from app.widgets.icons import icon
from app.widgets.plain_text import plain, wrapped
from engine.protocol.messages import Loaded

CAN_UNLOAD = frozenset({State.READY, State.LOAD_FAILED})


class Header(QFrame):
    """Row of widgets at the top of the window.

    Attributes:
        model: button that shows the model's name and opens `picker`.
        place_sign: sign that says where the text goes.
        status: status line, whose methods show the engine's events.
        sidebar_switch, new_chat, panel_switch: buttons that the window connects.
        settings: button that emits `settings_asked`.

    Signals:
        load_asked: RecentPair that the user wants to load
        unload_asked, reload_asked: the user wants to unload the model, or to load it again
        wizard_asked, settings_asked: the user wants to download models, or to open the settings
        engines_asked: the user wants to see the list of engines elsewhere, or to add one
    """

    load_asked = Signal(object)
    unload_asked = Signal()
    reload_asked = Signal()
    wizard_asked = Signal()
    settings_asked = Signal()
    engines_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("model_bar")
        self.setMinimumHeight(52)
        self._recent: Sequence[RecentPair] = ()
        self._used = RecentPair()
        self._loading = LoadPreferences()
        self._state = State.STARTING
        self._loaded: Loaded | None = None
        self.model = NameButton(self)
        self.model.setObjectName("model_button")
        self.model.setIcon(icon("down"))
        self.model.setIconSize(QSize(14, 14))
        self.model.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.model.setLayoutDirection(Qt.LayoutDirection.RightToLeft)  # puts the arrow after the name
        self.model.clicked.connect(self.open_picker)
        self._details = ElidedLabel(self)
        self._details.setProperty("role", "caption")
        self.place_sign = PlaceSign(self)
        self.place_sign.clicked.connect(self.engines_asked)
        self.status = StatusLine(self)
        self.picker = Picker(self)
        self.sidebar_switch = self._switch("sidebar", self.tr("Chats (Ctrl+B)"), self.tr("Chats"))
        self.new_chat = self._button("add", self.tr("New chat (Ctrl+N)"), self.tr("New chat"))
        self.sidebar_switch.toggled.connect(self.new_chat.setHidden)  # the sidebar has one of its own
        self.new_chat.hide()
        self.panel_switch = self._switch(
            "tree", self.tr("How the answer was made (Ctrl+T)"), self.tr("How the answer was made")
        )
        self.settings = self._button("settings", self.tr("Settings (Ctrl+,)"), self.tr("Settings"))
        self.settings.clicked.connect(self.settings_asked)
        self.picker.chosen.connect(self.load_asked)
        self.picker.unload_asked.connect(self.unload_asked)
        self.picker.reload_asked.connect(self.reload_asked)
        self.picker.wizard_asked.connect(self.wizard_asked)
        self.picker.engines_asked.connect(self.engines_asked)
        self._build()
        self._show_name(self.tr("Choose a model"))
        # The glyphs of some languages are taller than those of a model's name.
        self.model.ensurePolished()
        self.model.setMinimumHeight(self.model.sizeHint().height())

    def _build(self) -> None:
        model = QVBoxLayout()
        model.setSpacing(0)
        model.addStretch(1)
        model.addWidget(self.model, alignment=Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignAbsolute)
        below = QHBoxLayout()
        below.setSpacing(6)
        below.addWidget(self.place_sign)
        below.addWidget(self._details, 1)
        model.addLayout(below)
        model.addStretch(1)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(12, 5, 12, 6)
        self._row.setSpacing(6)
        self._row.addWidget(self.sidebar_switch)
        self._row.addLayout(model, 3)
        self._row.addWidget(self.status, 2)
        self._row.addSpacing(8)
        for button in (self.new_chat, self.panel_switch, self.settings):
            self._row.addWidget(button)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def _button(self, icon_name: str, tip: str, name: str) -> QToolButton:
        button = QToolButton(self)
        button.setIcon(icon(icon_name))
        button.setIconSize(QSize(20, 20))
        button.setToolTip(plain(tip))
        button.setAccessibleName(name)
        return button

    def _switch(self, icon_name: str, tip: str, name: str) -> QToolButton:
        button = self._button(icon_name, tip, name)
        button.setCheckable(True)
        button.setChecked(True)
        return button

    def place(self, widget: QWidget) -> None:
        """Insert a widget, such as an indicator of running downloads, before the buttons at the end."""
        self._row.insertWidget(self._row.indexOf(self.new_chat), widget)

    # -- content ---------------------------------------------------------------------------------------------

    def show_state(self, state: State) -> None:
        self._state = state
        if state in (State.UNLOADED, State.IDLE, State.LOADING, State.LOST):
            self._loaded = None
            self._details.setText("")
        if state in (State.UNLOADED, State.LOAD_FAILED):
            self._show_name(self.tr("Choose a model"))
        self.status.show_state(state)

    def show_loading(self, name: str) -> None:
        """Show the model that is being loaded."""
        self._show_name(name)

    def show_loaded(self, loaded: Loaded) -> None:
        self._loaded = loaded
        draft = "" if loaded.place else formatting.draft_name(loaded)
        self._show_name(loaded.target.name, draft)
        is_demo = not loaded.place and local_models.is_demo(loaded.target.path)
        demo = self.tr("A tiny demo model") if is_demo else ""
        tiers, parts = ("", "")
        if loaded.memory and not loaded.place:
            tiers, parts = by_tier(loaded.memory), by_part(loaded.memory)
        about = [demo, tiers] if demo else [tiers, draft]  # who has just begun reads nothing of drafts
        self._details.setText(" · ".join(filter(None, about)))
        details = formatting.model_details(loaded)
        facts = "\n".join(filter(None, [demo, details, tiers, parts, loaded.target.path]))
        tip = [facts, *remark_words.paragraphs(loaded.remarks)]
        self._details.setToolTip(wrapped("\n\n".join(tip)))

    def show_place(self, used: RecentPair, place: str) -> None:
        """Show where the text goes. used: the pair that is loaded or being loaded."""
        self._used = used
        self.place_sign.show_place(place)

    def show_recent(self, recent: Sequence[RecentPair]) -> None:
        """Set the pairs loaded most recently, which the picker will list."""
        self._recent = recent

    def plan_by(self, loading: LoadPreferences) -> None:
        """Set how models are loaded, by which the picker plans."""
        self._loading = loading

    def open_picker(self) -> None:
        """Open the picker below the model's name."""
        self.picker.offer(
            self._recent,
            self._loaded,
            self._used,
            can_unload=self._state in CAN_UNLOAD,
            helps=self._loading.processor_helps,
        )
        below = self.model.mapToGlobal(QPoint(0, self.model.height() + 4))
        screen = self.screen().availableGeometry()
        furthest = screen.bottomRight() - QPoint(self.picker.width(), self.picker.height())
        self.picker.move(min(below.x(), furthest.x()), min(below.y(), furthest.y()))
        self.picker.show()

    def _show_name(self, name: str, draft: str = "") -> None:
        """Show the name of the model, and what it drafts with where the pointer rests on it."""
        self.model.setText(name)
        tip = self.tr("{}: choose another model").format(name)
        self.model.setToolTip(plain("\n".join(filter(None, [tip, draft]))))
        self.model.setAccessibleName(self.tr("Model: {}").format(name))
