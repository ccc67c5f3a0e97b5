"""Everything a person may set, on pages."""

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QCoreApplication, Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QPushButton, QTabWidget, QVBoxLayout, QWidget

from app.local_models import models_here
from app.preferences import NEW_CHATS, Preferences, PreferencesError, PreferencesFile
from app.settings.about_page import AboutPage
from app.settings.chat_options import chat_sections
from app.settings.engine_page import EnginePage
from app.settings.fields import get
from app.settings.form import Form
from app.settings.models_page import ModelsPage
from app.settings.options import Choice, Section
from app.settings.presets_page import PresetsPage
from app.settings.program_options import appearance_sections, loading_sections
from app.store import ChatSettings
from app.store.presets import Presets
from app.wizard import EngineSetup
from engine import runtime

SIZE = (760, 600)


class SettingsDialog(QDialog):
    """What is changed counts at once; there is nothing to confirm. Blocks its window, so that the chat it
    shows stays the same.

    Attributes:
        tabs: the pages: this chat, presets, defaults, appearance, memory, models, engine, about.
        chat_page, defaults_page, appearance_page, memory_page: forms; `presets_page`, `models_page`.
        reload: a button, shown where something counts only once the model is loaded again.
        said: what could not be kept.

    Signals:
        chat_changed: ChatSettings of the chat that is shown
        preferences_changed: Preferences, after they were kept
        reload_asked: load the model again, as it is set now
        models_moved: models lie in another folder now
    """

    chat_changed = Signal(object)
    preferences_changed = Signal(object)
    reload_asked = Signal()
    models_moved = Signal()

    def __init__(
        self,
        preferences: PreferencesFile,
        presets: Presets,
        chat: ChatSettings,
        drafters: Sequence[str] = (),
        parent: QWidget | None = None,
    ) -> None:
        """drafters: those that the loaded pair can run; `Loaded.drafters`."""
        super().__init__(parent)
        self.setObjectName("settings")
        self.setWindowTitle(self.tr("Settings"))
        self.resize(*SIZE)
        self._file = preferences
        now = preferences.now
        self.tabs = QTabWidget(self)
        self.tabs.setDocumentMode(True)
        self.chat_page: Form[ChatSettings] = Form(chat_sections(), chat, now.new_chats)
        self.presets_page = PresetsPage(presets, chat)
        self.defaults_page: Form[ChatSettings] = Form(chat_sections(), now.new_chats, NEW_CHATS)
        self.appearance_page: Form[Preferences] = Form(appearance_sections(), now, Preferences())
        self.memory_page: Form[Preferences] = Form(loading_sections(), now, Preferences())
        self.models_page = ModelsPage()
        self.said = QLabel(self)
        self.said.setProperty("role", "danger")
        self.said.setWordWrap(True)
        self.said.hide()
        self.reload = QPushButton(self.tr("Load the model again now"), self)
        self.reload.setAutoDefault(False)
        self.reload.hide()
        self._offer(drafters)
        self._build()
        self._connect()

    def _build(self) -> None:
        pages: list[tuple[QWidget, str]] = [
            (
                _with_reset(self.chat_page, self.tr("Set all back to those of new chats")),
                self.tr("This chat"),
            ),
            (self.presets_page, self.tr("Presets")),
            (_with_reset(self.defaults_page, self.tr("Set all back")), self.tr("New chats")),
            (self.appearance_page, self.tr("Appearance")),
            (_with_reset(self.memory_page, self.tr("Set all back")), self.tr("Memory")),
            (self.models_page, self.tr("Models")),
            *((EnginePage(setup), self.tr("Engine")) for setup in _setups()),
            (AboutPage(self._file.path), self.tr("About")),
        ]
        for page, title in pages:
            framed = QWidget()
            around = QVBoxLayout(framed)
            around.setContentsMargins(12, 14, 12, 8)
            around.addWidget(page)
            self.tabs.addTab(framed, title)
        close = QPushButton(self.tr("Close"), self)
        close.clicked.connect(self.accept)
        lower = QHBoxLayout()
        lower.addWidget(self.said, 1)
        lower.addStretch(1)
        lower.addWidget(self.reload)
        lower.addWidget(close)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 8, 12, 12)
        layout.addWidget(self.tabs, 1)
        layout.addLayout(lower)

    def _connect(self) -> None:
        self.chat_page.changed.connect(self._change_chat)
        self.defaults_page.changed.connect(lambda settings: self._keep(new_chats=settings))
        self.appearance_page.changed.connect(self._keep_page(appearance_sections()))
        self.memory_page.changed.connect(self._keep_page(loading_sections()))
        self.presets_page.used.connect(self._use)
        self.presets_page.used_for_new.connect(self._use_for_new)
        self.models_page.moved.connect(self.models_moved)
        self.reload.clicked.connect(self.reload_asked)
        self.reload.clicked.connect(self.reload.hide)

    def _offer(self, drafters: Sequence[str]) -> None:
        here = [(model.name, model.text) for model in models_here()]
        for page in (self.chat_page, self.defaults_page):
            _add_choices(page, "options.drafter", [(name, name) for name in drafters])
            _add_choices(page, "target", here)
            _add_choices(page, "draft", here)

    # -- what is changed -------------------------------------------------------------------------------------

    def _change_chat(self, settings: ChatSettings) -> None:
        before, self.presets_page.chat = self.presets_page.chat, settings
        self.chat_changed.emit(settings)
        self._ask_reload(chat_sections(), before, settings)

    def _use(self, settings: ChatSettings) -> None:
        self.chat_page.show_record(settings, self._file.now.new_chats)
        self._change_chat(settings)

    def _use_for_new(self, settings: ChatSettings) -> None:
        self.defaults_page.show_record(settings, NEW_CHATS)
        self._keep(new_chats=settings)

    def _keep_page(self, sections: Sequence[Section]) -> Callable[[Preferences], None]:
        """Each page keeps only its own fields: another one may have changed the others."""
        fields = {option.path.partition(".")[0] for section in sections for option in section.options}

        def keep(preferences: Preferences) -> None:
            before = self._file.now
            self._keep(**{name: getattr(preferences, name) for name in fields})
            self._ask_reload(sections, before, self._file.now)

        return keep

    def _keep(self, **fields: Any) -> None:
        self.said.hide()
        try:
            self._file.change(**fields)
        except PreferencesError as error:
            self.said.setText(f"{error.message} {error.hint}")
            self.said.show()
        self.chat_page.show_record(self.chat_page.value, self._file.now.new_chats)
        self.preferences_changed.emit(self._file.now)

    def _ask_reload(self, sections: Sequence[Section], before: Any, now: Any) -> None:
        paths = [option.path for section in sections for option in section.options if option.reloads]
        if any(get(before, path) != get(now, path) for path in paths):
            self.reload.show()


def _setups() -> Sequence[EngineSetup]:
    """The program's one, which outlives windows. A checkout's engine runs in its own environment."""
    app = QCoreApplication.instance()
    return app.findChildren(EngineSetup) if app and runtime.is_packaged() else []


def _with_reset(form: Form[Any], text: str) -> QWidget:
    button = QPushButton(text)
    button.setAutoDefault(False)
    button.clicked.connect(form.reset_all)
    page = QWidget()
    layout = QVBoxLayout(page)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.addWidget(form, 1)
    lower = QHBoxLayout()
    lower.addWidget(button)
    lower.addStretch(1)
    layout.addLayout(lower)
    return page


def _add_choices(page: Form[ChatSettings], path: str, choices: Sequence[Choice]) -> None:
    """Behind those that are always there."""
    own = page.rows[path].option.choices
    page.offer(path, [*own, *(each for each in choices if each[0] not in {value for value, _ in own})])
