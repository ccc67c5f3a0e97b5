"""The settings dialog and its pages."""

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import structs
from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QPushButton, QTabWidget, QVBoxLayout, QWidget

from app.header.local_models import models_here
from app.local_server.local_server import LocalServer
from app.preferences import NEW_CHATS, Preferences, PreferencesError, PreferencesFile, RecentPair
from app.runtime_setup.setup_job import EngineSetup
from app.settings.about_page import AboutPage
from app.settings.chat_options import chat_sections, drafter_choice
from app.settings.engine_page import EnginePage
from app.settings.engines_page import EnginesPage
from app.settings.form import Form
from app.settings.kept_chats import KeptChats
from app.settings.models_page import ModelsPage
from app.settings.options import Choice, OptionSection, get
from app.settings.presets_page import PresetsPage
from app.settings.program_options import appearance_sections, loading_sections
from app.settings.prompts_page import PromptsPage
from app.settings.reset_button import ResetButton
from app.settings.server_options import server_sections
from app.settings.server_page import ServerPage
from app.settings.tools_page import ToolsPage
from app.store import ChatSettings, Store
from app.tools.builtin import built_in
from app.widgets.fault_words import in_one
from app.widgets.flow import Flow
from app.widgets.form_parts import Scrolling
from app.widgets.plain_text import PlainLabel
from app.widgets.window_size import resize_on_screen
from engine import runtime

SIZE = (980, 660)
OF_THIS_MACHINE = (
    "options.drafter",
    "options.budget",
    "options.beams",
    "options.depth",
    "target",
    "draft",
    "context",
)


class SettingsDialog(QDialog):
    """The settings dialog. Changes apply at once, without a confirmation.

    It blocks its window while it is open, so that the chat whose settings it shows stays the same.

    Attributes:
        tabs: the widget with the pages: this chat, presets, prompts, new chats, appearance, memory, models,
            engines elsewhere, tools, server, engine (only in a packaged program), about.
        chat_page, defaults_page, appearance_page, memory_page: the pages that are forms.
        presets_page, prompts_page, models_page, engines_page, tools_page, server_page: the pages for
            presets, for saved prompts, for models, for engines elsewhere, for tools and for the local server.
        kept_chats: clears what is kept of chats, on the page for memory.
        reload: the button that reloads the model; shown after a change that takes effect only then.
        error: the label that says why a change could not be saved.

    Signals:
        chat_changed: the new ChatSettings of the chat that is shown
        preferences_changed: the new Preferences, which apply even if they could not be saved
        reload_asked: the user wants the model loaded again with the current settings
        models_moved: the models folder has changed
    """

    chat_changed = Signal(object)
    preferences_changed = Signal(object)
    reload_asked = Signal()
    models_moved = Signal()

    def __init__(
        self,
        preferences: PreferencesFile,
        store: Store,
        chat: ChatSettings,
        server: LocalServer,
        drafters: Sequence[str] = (),
        parent: QWidget | None = None,
        place: str = "",
    ) -> None:
        """drafters: the drafters that the loaded pair supports, as in `Loaded.drafters`. place: host and port
        of the engine elsewhere that answers; "": this machine."""
        super().__init__(parent)
        self.setObjectName("settings")
        self.setWindowTitle(self.tr("Settings"))
        resize_on_screen(self, *SIZE)
        self._file = preferences
        now = preferences.now
        self.tabs = QTabWidget(self)
        self.tabs.setDocumentMode(True)
        self.tabs.setAccessibleName(self.windowTitle())
        self.chat_page: Form[ChatSettings] = Form(chat_sections(), chat, self._defaults(chat))
        self.presets_page = PresetsPage(store.presets, chat)
        self.prompts_page = PromptsPage(store.prompts)
        self.defaults_page: Form[ChatSettings] = Form(
            chat_sections(for_new_chats=True), now.new_chats, NEW_CHATS
        )
        self.appearance_page: Form[Preferences] = Form(appearance_sections(), now, Preferences())
        self.memory_page: Form[Preferences] = Form(loading_sections(), now, Preferences())
        self.kept_chats = KeptChats()
        self.models_page = ModelsPage()
        self.engines_page = EnginesPage()
        self.server_page = ServerPage(server, now)
        self.tools_page = ToolsPage(now.tools, [tool.known for tool in built_in(store)])
        self.error = PlainLabel(parent=self)
        self.error.setProperty("role", "danger")
        self.error.setWordWrap(True)
        self.error.hide()
        self.reload = QPushButton(self.tr("Reload the model"), self)
        self.reload.setAutoDefault(False)
        self.reload.hide()
        self._offer(drafters)
        if place:
            self._leave_to(place)
        self._build()
        self._connect()

    def _build(self) -> None:
        pages: list[tuple[QWidget, str]] = [
            (
                _with_reset(self.chat_page, self.tr("Reset all to the settings for new chats")),
                self.tr("This chat"),
            ),
            (Scrolling(self.presets_page), self.tr("Presets")),
            (Scrolling(self.prompts_page), self.tr("Prompts")),
            (_with_reset(self.defaults_page, self.tr("Reset all")), self.tr("New chats")),
            (self.appearance_page, self.tr("Appearance")),
            (_with_reset(self.memory_page, self.tr("Reset all"), self.kept_chats), self.tr("Memory")),
            (Scrolling(self.models_page), self.tr("Models")),
            (Scrolling(self.engines_page), self.tr("Engines elsewhere")),
            (Scrolling(self.tools_page), self.tr("Tools")),
            (self.server_page, self.tr("Server")),
            *((EnginePage(setup), self.tr("Engine")) for setup in _setups()),
            (Scrolling(AboutPage(self._file.path)), self.tr("About")),
        ]
        for page, title in pages:
            framed = QWidget()
            around = QVBoxLayout(framed)
            around.setContentsMargins(12, 14, 12, 8)
            around.addWidget(page)
            self.tabs.addTab(framed, title)
        close = QPushButton(self.tr("Close"), self)
        close.clicked.connect(self.accept)
        lower = Flow()
        lower.addStretch()
        lower.addWidget(self.reload)
        lower.addWidget(close)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 8, 12, 12)
        layout.addWidget(self.tabs, 1)
        layout.addWidget(self.error)
        layout.addLayout(lower)

    def _connect(self) -> None:
        self.chat_page.changed.connect(self._change_chat)
        self.defaults_page.changed.connect(lambda settings: self._keep(new_chats=settings))
        self.appearance_page.changed.connect(self._keep_page(appearance_sections()))
        self.memory_page.changed.connect(self._keep_page(loading_sections()))
        self.server_page.changed.connect(self._keep_page(server_sections()))
        self.tools_page.changed.connect(lambda tools: self._keep(tools=tools))
        self.presets_page.used.connect(self._use)
        self.presets_page.used_for_new.connect(self._use_for_new)
        self.models_page.moved.connect(self.models_moved)
        self.reload.clicked.connect(self.reload_asked)
        self.reload.clicked.connect(self.reload.hide)

    def _offer(self, drafters: Sequence[str]) -> None:
        installed = [(model.name, model.text) for model in models_here()]
        for page in (self.chat_page, self.defaults_page):
            _add_choices(page, "options.drafter", [drafter_choice(name) for name in drafters])
        for name in ("target", "draft"):
            _add_choices(self.chat_page, name, installed)

    def _leave_to(self, place: str) -> None:
        """Disable what an engine elsewhere decides itself."""
        reason = self.tr("The engine at {} decides this.").format(place)
        for path in OF_THIS_MACHINE:
            self.chat_page.rows[path].disable(reason)
        loading = self.tr("For models on this machine. The engine at {} decides how it loads its own.")
        for path, row in self.memory_page.rows.items():
            if path.startswith("loading."):
                row.disable(loading.format(place))

    @property
    def pair(self) -> RecentPair:
        """The models chosen on the page of the chat."""
        value = self.chat_page.value
        return RecentPair(value.target, value.draft, value.engine)

    def _defaults(self, chat: ChatSettings) -> ChatSettings:
        """Return the settings that the page of the chat can be reset to; its models stay."""
        return structs.replace(
            self._file.now.new_chats, target=chat.target, draft=chat.draft, engine=chat.engine
        )

    def show_page(self, name: str) -> None:
        """Show the page that the attribute of this name holds."""
        page = getattr(self, name)
        framed = map(self.tabs.widget, range(self.tabs.count()))
        self.tabs.setCurrentWidget(next(each for each in framed if each and each.isAncestorOf(page)))

    # -- changes ---------------------------------------------------------------------------------------------

    def _change_chat(self, settings: ChatSettings) -> None:
        before, self.presets_page.chat = self.presets_page.chat, settings
        self.chat_changed.emit(settings)
        self._ask_reload(chat_sections(), before, settings)

    def _use(self, settings: ChatSettings) -> None:
        self.chat_page.show_record(settings, self._defaults(settings))
        self._change_chat(settings)

    def _use_for_new(self, settings: ChatSettings) -> None:
        self.defaults_page.show_record(settings, NEW_CHATS)
        self._keep(new_chats=settings)

    def _keep_page(self, sections: Sequence[OptionSection]) -> Callable[[Preferences], None]:
        """Return a function that saves only those preferences that the options in `sections` edit.

        Other pages may have changed the other preferences in the meantime.
        """
        fields = {option.path.partition(".")[0] for section in sections for option in section.options}

        def keep(preferences: Preferences) -> None:
            before = self._file.now
            self._keep(**{name: getattr(preferences, name) for name in fields})
            self._ask_reload(sections, before, self._file.now)

        return keep

    def _keep(self, **fields: Any) -> None:
        self.error.hide()
        try:
            self._file.change(**fields)
        except PreferencesError as error:
            self.error.setText(in_one(error))
            self.error.show()
        self.chat_page.show_record(self.chat_page.value, self._defaults(self.chat_page.value))
        self.preferences_changed.emit(self._file.now)

    def _ask_reload(self, sections: Sequence[OptionSection], before: Any, now: Any) -> None:
        paths = [option.path for section in sections for option in section.options if option.reloads]
        if any(get(before, path) != get(now, path) for path in paths):
            self.reload.show()


def _setups() -> Sequence[EngineSetup]:
    """Return a sequence with the program's one set-up, which outlives windows.

    The sequence is empty where torch comes with the environment, as in a checkout.
    """
    app = QCoreApplication.instance()
    return app.findChildren(EngineSetup) if app and runtime.uses_runtimes() else []


def _with_reset(form: Form[Any], text: str, beside: QWidget | None = None) -> QWidget:
    """Return a page with the form above a button that resets all options. beside: a widget beside that."""
    button = ResetButton(form, text)
    page = QWidget()
    layout = QVBoxLayout(page)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.addWidget(form, 1)
    lower = QHBoxLayout()
    lower.addWidget(button, 0, Qt.AlignmentFlag.AlignBottom)
    if beside is None:
        lower.addStretch(1)
    else:
        lower.addWidget(beside, 1)
    layout.addLayout(lower)
    return page


def _add_choices(page: Form[ChatSettings], path: str, choices: Sequence[Choice]) -> None:
    """Let an option offer `choices` after those that it always offers."""
    own = page.rows[path].option.choices
    page.offer(path, [*own, *(choice for choice in choices if choice[0] not in {value for value, _ in own})])
