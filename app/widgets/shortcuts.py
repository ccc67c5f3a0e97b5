"""The table of all keyboard shortcuts. The window creates them from it, and the keyboard page lists it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, auto

from PySide6.QtCore import QCoreApplication, QObject, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget


class Scope(Enum):
    """Where a shortcut works."""

    WINDOW = auto()
    CHAT = auto()
    QUESTION = auto()  # the input field, whose widget handles the key
    LIST = auto()  # the list of chats, whose widgets handle the key


@dataclass(frozen=True, slots=True)
class Shortcut:
    """An action and its keys, in QKeySequence's syntax. Tool tips show the first of the keys."""

    id: str
    keys: tuple[str, ...]
    text: str
    scope: Scope


def _tr(text: str) -> str:
    return QCoreApplication.translate("shortcuts", text)


def shortcuts(send_key: str = "enter") -> list[Shortcut]:
    """Return all shortcuts in the order of the keyboard page. send_key: as in `Preferences`."""
    sends_with_ctrl = send_key == "ctrl_enter"
    send, new_line = (("Ctrl+Return",), ("Return",)) if sends_with_ctrl else (("Return",), ("Shift+Return",))
    window, chat, question, chats = Scope.WINDOW, Scope.CHAT, Scope.QUESTION, Scope.LIST
    return [
        Shortcut("new_chat", ("Ctrl+N",), _tr("Start a new chat"), window),
        Shortcut("new_window", ("Ctrl+Shift+N",), _tr("Open another window"), window),
        Shortcut("close_window", ("Ctrl+W",), _tr("Close the window"), window),
        Shortcut("search", ("Ctrl+K",), _tr("Search all chats"), window),
        Shortcut("sidebar", ("Ctrl+B",), _tr("Show or hide the list of chats"), window),
        Shortcut("panel", ("Ctrl+T",), _tr("Show or hide the token tree"), window),
        Shortcut("model", ("Ctrl+M",), _tr("Choose a model"), window),
        Shortcut("settings", ("Ctrl+,",), _tr("Settings"), window),
        Shortcut("keyboard", ("F1", "Ctrl+/"), _tr("Show all keyboard shortcuts"), window),
        Shortcut("chats", ("Ctrl+Shift+L",), _tr("Go to the list of chats"), window),
        Shortcut("previous_chat", ("Ctrl+PgUp",), _tr("Previous chat in the list"), window),
        Shortcut("next_chat", ("Ctrl+PgDown",), _tr("Next chat in the list"), window),
        Shortcut("larger", ("Ctrl++", "Ctrl+="), _tr("Larger text"), window),
        Shortcut("smaller", ("Ctrl+-",), _tr("Smaller text"), window),
        Shortcut("usual_size", ("Ctrl+0",), _tr("Text in its usual size"), window),
        Shortcut("undo", ("Ctrl+Z",), _tr("Undo the last action"), window),
        Shortcut("quit", ("Ctrl+Q",), _tr("Quit"), window),
        Shortcut("stop", ("Esc",), _tr("Stop the answer and keep its text, or cancel loading"), chat),
        Shortcut("find", ("Ctrl+F",), _tr("Find in this chat"), chat),
        Shortcut("find_next", ("F3", "Ctrl+G"), _tr("Next match"), chat),
        Shortcut("find_previous", ("Shift+F3", "Ctrl+Shift+G"), _tr("Previous match"), chat),
        Shortcut("regenerate", ("Ctrl+Return",), _tr("Answer the last question again"), chat),
        Shortcut("copy_answer", ("Ctrl+Shift+C",), _tr("Copy the last answer"), chat),
        Shortcut("edit_last", ("Ctrl+Up",), _tr("Edit the last question"), chat),
        Shortcut("previous_version", ("Alt+Left",), _tr("Previous version"), chat),
        Shortcut("next_version", ("Alt+Right",), _tr("Next version"), chat),
        Shortcut("race", ("Ctrl+R",), _tr("Race: plain decoding against SpecExec, or two models"), chat),
        Shortcut("write", ("Ctrl+L",), _tr("Go to the input field"), chat),
        Shortcut("send", send, _tr("Send the question"), question),
        Shortcut("new_line", new_line, _tr("Start a new line"), question),
        Shortcut("page", ("PgUp", "PgDown"), _tr("Scroll the chat"), question),
        Shortcut("open_window", ("Ctrl+Shift+Return",), _tr("Open the chat in a new window"), chats),
        Shortcut("rename", ("F2",), _tr("Rename the chat or folder"), chats),
        Shortcut("pin", ("Ctrl+Shift+P",), _tr("Pin or unpin the chat"), chats),
        Shortcut("duplicate", ("Ctrl+D",), _tr("Duplicate the chat"), chats),
        Shortcut("export", ("Ctrl+E",), _tr("Export the chat or folder"), chats),
        Shortcut("print", ("Ctrl+P",), _tr("Print the chat"), chats),
        Shortcut("delete", ("Del",), _tr("Delete the chat or folder"), chats),
    ]


def scope_name(scope: Scope) -> str:
    match scope:
        case Scope.WINDOW:
            return _tr("Window")
        case Scope.CHAT:
            return _tr("Chat")
        case Scope.QUESTION:
            return _tr("Input field")
        case Scope.LIST:
            return _tr("List of chats")


def keys(id: str) -> list[QKeySequence]:
    """Return the key sequences of a shortcut, for widgets that handle keys themselves."""
    return next([QKeySequence(key) for key in known.keys] for known in shortcuts() if known.id == id)


def shown(keys: str) -> str:
    """Return a key sequence in the notation of this system."""
    return QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText)


def listen(window: QWidget, actions: Mapping[str, Callable[[], object]]) -> list[QObject]:
    """Create the window's shortcuts and return them.

    Args:
        actions: what each shortcut does, by the shortcut's id. Shortcuts missing here are not created,
            because a widget handles their keys itself.
    """
    known = {shortcut.id: shortcut for shortcut in shortcuts()}
    return [
        QShortcut(QKeySequence(keys), window, action)
        for id, action in actions.items()
        for keys in known[id].keys
    ]


def is_typed(event: QKeyEvent) -> bool:
    """Return whether a key writes a character, other than a space."""
    held = event.modifiers() & ~(Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier)
    alt_gr = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
    is_plain = held in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.GroupSwitchModifier, alt_gr)
    return is_plain and event.text().isprintable() and bool(event.text().strip())
