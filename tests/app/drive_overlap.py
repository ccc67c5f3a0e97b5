"""Drives the real window with the real engine while a draft model goes on beside a streamed target.

Run as a program, because it needs a display of its own:
    python -m tests.app.drive_overlap FOLDER [--target MODEL] [--draft MODEL] [--dark]
The target gets LIMIT GiB, the rest of it comes from a disk that is slow on purpose. Saves screenshots of the
tree and of the times in FOLDER and prints one JSON object. Not a test itself; see test_real_overlap.py.
"""

import json
from functools import partial

from msgspec import structs
from PySide6.QtWidgets import QWidget

from app.panel.node_words import is_ahead
from app.panel.panel import Panel
from app.panel.tree_legend import TreeLegend
from app.preferences import NEW_CHATS, LoadPreferences
from app.startup.application import make_application
from app.store import SavedOptions
from app.widgets import theme
from engine.launch import interpreter
from engine.protocol.messages import IterationDone
from tests.app.drive_window import Person, arguments, sitting
from tests.app.flows import Report
from tests.engine.serving import slow_engine

LIMIT = 0.06
SIZE = 1280, 800
QUESTION = "Write two sentences about rivers."
OPTIONS = SavedOptions(
    drafter="specexec", overlap="on", budget=8, depth=4, temperature=0.8, seed=1, max_new_tokens=64
)


def main() -> None:
    parser = arguments()
    parser.add_argument("--dark", action="store_true")
    given = parser.parse_args()
    app = make_application()
    dress = "dark" if given.dark else "light"
    theme.choose(app, dress)
    new_chats = structs.replace(NEW_CHATS, options=OPTIONS)
    loading = LoadPreferences(ram_limit=LIMIT)
    slow_the_disk()
    with sitting(given, new_chats=new_chats, loading=loading, theme=dress) as person:
        report = overlap(person)
    print(json.dumps(report))


def overlap(person: Person) -> Report:
    """Answer with a draft that goes on beside the target's passes, and look at what the panel says of it."""
    panel = person.window.panel
    person.window.resize(*SIZE)
    person.window.header.panel_switch.setChecked(True)
    answer = person.ask(QUESTION)
    bars = panel.time_page.bars
    show_page(panel, panel.time_page)
    person.photograph("overlap_time")
    fullest = max(panel.history.iterations, key=ahead_in)
    panel.show_iteration(fullest.iteration)
    person.photograph("overlap_tree")
    legend = panel.tree_page.findChild(TreeLegend)
    return {
        "text": answer.text,
        "times": bars.accessibleDescription(),
        "beside": [list(bars.beside(index).getRect()) for index in range(len(bars.shown))],
        "survived": [list(bars.survived(index).getRect()) for index in range(len(bars.shown))],
        "ahead": ahead_in(fullest),
        "tree": panel.tree_page.tree.event_shown.iteration == fullest.iteration,
        "legend": legend.accessibleDescription(),
    }


def slow_the_disk() -> None:
    """Let the engine that the window starts read slowly."""
    interpreter.command = partial(slow_engine.started, interpreter.command)


def show_page(panel: Panel, page: QWidget) -> None:
    """Turn to the page of the panel that contains `page`."""
    places = range(panel.pages.count())
    panel.pages.setCurrentIndex(next(at for at in places if panel.pages.widget(at).isAncestorOf(page)))


def ahead_in(done: IterationDone) -> int:
    """Return how many nodes of a tree were drafted during the pass before."""
    return sum(map(is_ahead, done.tree.sources))


if __name__ == "__main__":
    main()
