"""What all windows share: the store, the preferences, the engine and the queue of questions."""

from typing import TYPE_CHECKING

from msgspec import structs
from PySide6.QtCore import QObject, Signal

from app.connection.answer_queue import AnswerQueue
from app.connection.call_desk import CallDesk
from app.connection.engine import Engine
from app.connection.engine_link import EngineLink
from app.connection.idle_timer import IdleTimer
from app.header import model_choice
from app.local_server.local_server import LocalServer
from app.panel.calibration import Calibration
from app.preferences import Preferences, PreferencesError, PreferencesFile, RecentPair, load_request, pair_of
from app.race.race_run import RaceRun
from app.store import ChatSettings, Store
from app.tools.toolbox import Toolbox
from app.window.arguments import Arguments
from app.window.unsent_messages import UnsentMessages
from engine.errors import SpecExecError
from engine.protocol.messages import Load, SmallerPlan
from engine.remote import engines
from engine.remote.any_engine import AnyEngine

if TYPE_CHECKING:
    from app.window.window import Window


class Core(QObject):
    """One engine with its models, for every window.

    Attributes:
        store, preferences: the user's chats and preferences.
        engine, queue: the engine, and the questions that it answers one at a time.
        toolbox, desk: the tools that answers may call, and the calls that wait for the user or run.
        unsent: what was written and not sent, in whichever window.
        idle: unloads the models when nobody has used them for a while.
        calibration: measures the speed of plain decoding.
        race: runs races; their dialogs show them.
        server: the local server, which other programs use.
        kept_plans: requests to load models, and the smaller plans that the engine took, where the user wants
            no offer to load in full again.
        new_chats: settings for new chats, as the command line changes them.
        windows: the windows that are open; the one used last comes last.

    Signals:
        preferences_changed: Preferences; the user changed them
        chat_deleted: int, id of a chat that the user deleted in one of the windows
        engines_changed: an engine elsewhere was added, changed or removed
        pairs_changed: list of RecentPair, after the models that the user asked for were loaded
        failed: PreferencesError or StoreError
    """

    preferences_changed = Signal(object)
    chat_deleted = Signal(int)
    engines_changed = Signal()
    pairs_changed = Signal(list)
    failed = Signal(object)

    def __init__(
        self,
        arguments: Arguments,
        store: Store,
        preferences: PreferencesFile,
        link: EngineLink | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.store, self.preferences = store, preferences
        self.unsent = UnsentMessages(store, self)
        self.unsent.failed.connect(self.failed)
        now = preferences.now
        link = link or EngineLink(lambda: AnyEngine.share(self.engine.wanted.engine))
        link.setParent(self)
        first = _first_pair(arguments, now)
        wanted = load_request(first, now.new_chats.context, now.loading)
        wanted = structs.replace(wanted, drafter=arguments.drafter)
        self.engine = Engine(link, wanted, self, insists=arguments.target is not None)
        self.idle = IdleTimer(self.engine, self)
        options = now.new_chats.options
        if arguments.drafter != "auto":
            options = structs.replace(options, drafter=arguments.drafter)
        if arguments.budget is not None:
            options = structs.replace(options, budget=arguments.budget)
        self.new_chats: ChatSettings = structs.replace(now.new_chats, options=options)
        self.toolbox = Toolbox(store, preferences)
        self.queue = AnswerQueue(store, self.engine, self.toolbox, self)
        self.desk = CallDesk(store, self.toolbox, self.queue, self)
        self.desk.failed.connect(self.failed)
        self.chat_deleted.connect(self.queue.drop)
        self.chat_deleted.connect(self.desk.drop)
        self.calibration = Calibration(self.engine, self)
        self.race = RaceRun(self.engine, self)
        self.server = LocalServer(self.engine, preferences, self)
        self.kept_plans: list[tuple[Load, SmallerPlan]] = []
        self.windows: list[Window] = []
        self._asked: RecentPair | None = None  # what the user asked to load and is not loaded yet
        self.engine.loaded.connect(self._remember_pair)
        self.preferences_changed.connect(self._follow)
        self._follow_idle(now)

    @property
    def loaded_pair(self) -> RecentPair:
        """The pair that is loaded or being loaded."""
        return pair_of(self.engine.wanted)

    @property
    def place(self) -> str:
        """Host and port of the engine to which text is sent, or would be; "": this machine."""
        pair, engine = self.engine.pair, self.engine.wanted.engine
        return pair.place if pair else model_choice.place_of(engine) or engine

    @property
    def has_engines(self) -> bool:
        """Whether engines elsewhere were added."""
        try:
            return bool(engines.added())
        except SpecExecError:
            return True

    def load(self, pair: RecentPair, context: int | None) -> None:
        """Load the models that the user asks for. They answer in every chat from now on, and at the next
        start."""
        self._asked = pair
        self.reload(pair, context)

    def reload(self, pair: RecentPair, context: int | None) -> None:
        """Load models with the present preferences."""
        self.engine.load(load_request(pair, context, self.preferences.now.loading))

    def use(self, window: "Window") -> None:
        """The user opens a window, or turns to it."""
        self.leave(window)
        self.windows.append(window)

    def leave(self, window: "Window") -> None:
        """A window is closed."""
        if window in self.windows:
            self.windows.remove(window)

    def _follow(self, preferences: Preferences) -> None:
        self.new_chats = preferences.new_chats
        self._follow_idle(preferences)

    def _follow_idle(self, preferences: Preferences) -> None:
        after = preferences.unload_after
        self.idle.wait(None if after == "never" else int(after))

    def _remember_pair(self) -> None:
        """Remember the pair that is loaded if the user asked for it."""
        if self._asked == self.loaded_pair:
            asked, self._asked = self._asked, None
            try:
                self.preferences.remember_pair(asked)
            except PreferencesError as error:
                self.failed.emit(error)
            self.pairs_changed.emit(self.preferences.now.recent_pairs)


def _first_pair(arguments: Arguments, now: Preferences) -> RecentPair:
    """Return the pair to load at the start: what the command line names of it, else the last one loaded, else
    the one for new chats."""
    pair = now.usual_pair
    if now.recent_pairs and model_choice.is_known(now.recent_pairs[0]):
        pair = now.recent_pairs[0]
    if arguments.target or arguments.draft != "auto":
        usual = arguments.target or now.last_local.target
        pair = RecentPair(usual, arguments.draft, arguments.engine)
    return pair
