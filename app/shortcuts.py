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
    window, chat, question = Scope.WINDOW, Scope.CHAT, Scope.QUESTION
    return [
        Shortcut("new_chat", ("Ctrl+N",), _tr("Begin a new chat"), window),
        Shortcut("search", ("Ctrl+K",), _tr("Search all chats"), window),
        Shortcut("sidebar", ("Ctrl+B",), _tr("Show or hide the list of chats"), window),
        Shortcut("panel", ("Ctrl+T",), _tr("Show or hide the token tree"), window),
        Shortcut("model", ("Ctrl+M",), _tr("Choose a model"), window),
        Shortcut("settings", ("Ctrl+,",), _tr("Settings"), window),
        Shortcut("keyboard", ("F1", "Ctrl+/"), _tr("This list of keys"), window),
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
    ]


def scope_name(scope: Scope) -> str:
    match scope:
        case Scope.WINDOW:
            return _tr("The window")
        case Scope.CHAT:
            return _tr("The chat")
        case Scope.QUESTION:
            return _tr("The question")


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
