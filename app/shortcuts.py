"""Every key the window listens to, in one table: the window makes its actions from it, and the keyboard page
lists it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, auto

from PySide6.QtCore import QCoreApplication, QObject
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget


class Scope(Enum):
    """Where a key counts."""

    WINDOW = auto()
    CHAT = auto()
    QUESTION = auto()  # where the question is written: its widget listens
    LIST = auto()  # of chats: its widgets listen


@dataclass(frozen=True, slots=True)
class Shortcut:
    """keys: as QKeySequence reads them, the first one is told in tool tips."""

    id: str
    keys: tuple[str, ...]
    text: str
    scope: Scope


def _tr(text: str) -> str:
    return QCoreApplication.translate("shortcuts", text)


def shortcuts() -> list[Shortcut]:
    """In the order of the keyboard page."""
    window, chat, question, chats = Scope.WINDOW, Scope.CHAT, Scope.QUESTION, Scope.LIST
    return [
        Shortcut("new_chat", ("Ctrl+N",), _tr("Begin a new chat"), window),
        Shortcut("search", ("Ctrl+K",), _tr("Search all chats"), window),
        Shortcut("sidebar", ("Ctrl+B",), _tr("Show or hide the list of chats"), window),
        Shortcut("panel", ("Ctrl+T",), _tr("Show or hide the token tree"), window),
        Shortcut("model", ("Ctrl+M",), _tr("Choose a model"), window),
        Shortcut("settings", ("Ctrl+,",), _tr("Settings"), window),
        Shortcut("keyboard", ("F1", "Ctrl+/"), _tr("This list of keys"), window),
        Shortcut("chats", ("Ctrl+Shift+L",), _tr("Go to the list of chats"), window),
        Shortcut("previous_chat", ("Ctrl+PgUp",), _tr("The chat above in the list"), window),
        Shortcut("next_chat", ("Ctrl+PgDown",), _tr("The chat below in the list"), window),
        Shortcut("quit", ("Ctrl+Q",), _tr("Quit"), window),
        Shortcut("stop", ("Esc",), _tr("Stop the answer; what was written stays"), chat),
        Shortcut("regenerate", ("Ctrl+Return",), _tr("Answer the last question anew"), chat),
        Shortcut("copy_answer", ("Ctrl+Shift+C",), _tr("Copy the last answer"), chat),
        Shortcut("edit_last", ("Ctrl+Up",), _tr("Edit the last question"), chat),
        Shortcut("previous_version", ("Alt+Left",), _tr("The version before"), chat),
        Shortcut("next_version", ("Alt+Right",), _tr("The version after"), chat),
        Shortcut("write", ("Ctrl+L",), _tr("Go to where the question is written"), chat),
        Shortcut("send", ("Return",), _tr("Send the question"), question),
        Shortcut("new_line", ("Shift+Return",), _tr("Begin a new line"), question),
        Shortcut("rename", ("F2",), _tr("Rename the chat or the folder"), chats),
        Shortcut("pin", ("Ctrl+Shift+P",), _tr("Pin the chat, or unpin it"), chats),
        Shortcut("duplicate", ("Ctrl+D",), _tr("Duplicate the chat"), chats),
        Shortcut("export", ("Ctrl+E",), _tr("Export the chat or the folder"), chats),
        Shortcut("print", ("Ctrl+P",), _tr("Print the chat"), chats),
        Shortcut("delete", ("Del",), _tr("Delete the chat or the folder"), chats),
        Shortcut("undo", ("Ctrl+Z",), _tr("Undo what was done last"), chats),
    ]


def scope_name(scope: Scope) -> str:
    match scope:
        case Scope.WINDOW:
            return _tr("The window")
        case Scope.CHAT:
            return _tr("The chat")
        case Scope.QUESTION:
            return _tr("The question")
        case Scope.LIST:
            return _tr("The list of chats")


def keys(id: str) -> list[QKeySequence]:
    """For the widgets that listen themselves."""
    return next([QKeySequence(each) for each in known.keys] for known in shortcuts() if known.id == id)


def shown(keys: str) -> str:
    """As this system writes them."""
    return QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText)


def listen(window: QWidget, actions: Mapping[str, Callable[[], object]]) -> list[QObject]:
    """Make the window do what its keys say. actions: by id, of all that are not the question's own; those
    left out do nothing."""
    known = {shortcut.id: shortcut for shortcut in shortcuts()}
    return [
        QShortcut(QKeySequence(keys), window, action)
        for id, action in actions.items()
        for keys in known[id].keys
    ]
