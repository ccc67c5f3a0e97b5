"""Takes the screenshots of README and docs from the real window, with the real engine and the embedded model.

Run as a program, because it needs a display:
    xvfb-run -a -s "-screen 0 1600x1000x24" python -m tests.app.screenshots [FOLDER] [--mixture FILE]
FOLDER is resources/screenshots unless given. Chat, tree, wizard, settings, and times while a draft goes on
beside a streamed target, each light and dark; with --mixture, also the page of the memory with a mixture of
experts (of `tests.real.made_mixture`, say) of which 8 GiB are in RAM. The settings and chats of the user are
neither read nor written.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import structs
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolButton, QWidget

from app.downloads.downloads import Downloads
from app.preferences import NEW_CHATS, LoadPreferences, PreferencesFile
from app.runtime_setup.setup_job import EngineSetup
from app.startup.application import make_application
from app.store import SavedOptions, Store
from app.widgets import theme
from app.window.arguments import Arguments
from app.window.core import Core
from app.window.window import Window
from app.wizard.wizard import Wizard
from engine import catalog
from engine.assets import RESOURCES
from tests.app.drive_overlap import LIMIT, OPTIONS, QUESTION, show_page, slow_the_disk
from tests.app.drive_window import Person
from tests.app.flows import open_settings

SIZE = 1280, 800
BUDGET = 40  # more nodes than the rule takes on a processor, and the heads: so there is a tree to see
MIXTURE_LIMIT = 8.0  # GiB
MIXTURE_TOKENS = 64
SETTLE_MS = 300
SURVEY_S = 120
QUESTIONS = (
    "Name three colours, as a list.",
    "What is the capital of Japan?",
    "What is photosynthesis? Answer in one sentence.",
)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path, nargs="?", default=RESOURCES / "screenshots")
    parser.add_argument("--mixture", type=Path)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    app = make_application()
    if given.mixture:
        show_mixture(app, given.folder, given.mixture)
    show_program(app, given.folder)
    show_overlap(app, given.folder)


def show_program(app: QApplication, folder: Path) -> None:
    """Photograph a chat, the tree of its fullest iteration, the settings and the wizard."""
    with sitting(folder, Arguments(), SavedOptions(drafter="merged", budget=BUDGET)) as person:
        window = person.window
        for question in QUESTIONS:
            person.ask(question)
        show_fullest_tree(person)
        dialog = open_settings(person)
        wizard = Wizard(Downloads(), EngineSetup(person.preferences), person.preferences)
        wizard.begin()
        wait_until(lambda: not wizard.survey.is_running)
        for name in ("dark", "light"):
            theme.choose(app, name)
            QTest.qWait(SETTLE_MS)  # the documents are made anew, without colours
            colour_answer(person)
            photograph(window, folder / f"chat-{name}.png")
            photograph(window.panel.tree_page, folder / f"tree-{name}.png")
            photograph(dialog, folder / f"settings-{name}.png")
            photograph(wizard, folder / f"wizard-{name}.png")
        dialog.close()
        wizard.shut_down()


def show_overlap(app: QApplication, folder: Path) -> None:
    """Photograph the times of an answer during which a draft goes on beside a target that waits for its
    disk."""
    slow_the_disk()
    model = str(catalog.resolve(catalog.default_target()))
    with sitting(folder, Arguments(model, model), OPTIONS, LIMIT) as person:
        person.ask(QUESTION)
        panel = person.window.panel
        show_page(panel, panel.time_page)
        photograph_both(app, panel, folder, "overlap")


def show_mixture(app: QApplication, folder: Path, mixture: Path) -> None:
    """Photograph the page of the memory after two answers of a mixture that is not in RAM as a whole."""
    options = SavedOptions(max_new_tokens=MIXTURE_TOKENS, stop_loops=False)
    with sitting(folder, Arguments(str(mixture), "none"), options, MIXTURE_LIMIT) as person:
        person.ask(QUESTIONS[0])
        person.ask(QUESTIONS[1])
        panel = person.window.panel
        show_page(panel, panel.memory)
        photograph_both(app, panel, folder, "mixture")


def photograph_both(app: QApplication, widget: QWidget, folder: Path, name: str) -> None:
    """Photograph `widget` dark and light."""
    for dress in ("dark", "light"):
        theme.choose(app, dress)
        photograph(widget, folder / f"{name}-{dress}.png")


@contextmanager
def sitting(
    folder: Path, arguments: Arguments, options: SavedOptions, ram_limit: float | None = None
) -> Iterator[Person]:
    """Open a window without chats, with its panel, and close it in the end."""
    with tempfile.TemporaryDirectory() as scratch:
        store = Store(Path(scratch) / "conversations.sqlite")
        preferences = PreferencesFile(Path(scratch) / "settings.toml")
        new_chats = structs.replace(NEW_CHATS, options=options)
        loading = LoadPreferences(ram_limit=ram_limit)
        preferences.change(new_chats=new_chats, loading=loading, theme="light")
        window = Window(Core(arguments, store, preferences))
        window.resize(*SIZE)
        window.start()
        window.header.panel_switch.setChecked(True)
        person = Person(window, store, preferences, folder)
        yield person
        person.leave()
        store.close()


def wait_until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + SURVEY_S
    while not is_so():
        QTest.qWait(50)
        assert time.monotonic() < end, "the survey of this machine takes too long"


def show_fullest_tree(person: Person) -> None:
    """Show the iteration with most accepted tokens."""
    panel = person.window.panel
    fullest = max(panel.history.iterations, key=lambda done: len(done.accepted))
    panel.show_iteration(fullest.iteration)


def colour_answer(person: Person) -> None:
    """Colour the answer by what proposed each token; a change of theme ends it."""
    button = next(
        each for each in person.window.panel.findChildren(QToolButton) if each.text() == "Colour the answer"
    )
    button.setChecked(False)
    button.setChecked(True)


def photograph(widget: QWidget, path: Path) -> None:
    """Save what the screen shows of `widget`."""
    top = widget.window()
    top.raise_()
    top.activateWindow()
    QTest.qWait(SETTLE_MS)  # the X server paints in its own time
    QApplication.processEvents()
    corner = widget.mapTo(top, widget.rect().topLeft())
    place = top.geometry()
    shot = top.screen().grabWindow(0, place.x(), place.y(), place.width(), place.height())
    assert shot.copy(widget.rect().translated(corner)).save(str(path)), path


if __name__ == "__main__":
    main()
