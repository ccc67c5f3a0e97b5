"""Drives the real window with the real engine through `tests.app.brought`: files, prompts and tools.

Run as a program, because it needs a display of its own:
    python -m tests.app.drive_brought FOLDER [--target MODEL] [--flows NAME ...] [--dark] [--language LOCALE]
Saves screenshots in FOLDER and prints one JSON object with the result of each flow; QT_SCALE_FACTOR scales
everything. Not a test itself; see test_real_brought.py.
"""

import argparse
import json
from pathlib import Path

from msgspec import structs

from app.preferences import NEW_CHATS, PreferencesFile
from app.startup import languages
from app.startup.application import make_application
from app.store import SavedOptions, Store
from app.widgets import theme
from app.window.arguments import Arguments
from app.window.core import Core
from app.window.window import Window
from tests.app import brought
from tests.app.drive_window import Person

PATIENCE_MS = 240_000  # a prompt with six passages of a file is read on two cores
MAX_NEW_TOKENS = 48
CONTEXT = 4_096


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--target")
    parser.add_argument("--flows", nargs="+", choices=list(brought.FLOWS), default=list(brought.FLOWS))
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--language", default="en")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    app = make_application()
    for name in ("conversations.sqlite", "settings.toml"):
        (given.folder / name).unlink(missing_ok=True)
    store = Store(given.folder / "conversations.sqlite")
    preferences = PreferencesFile(given.folder / "settings.toml")
    greedy = structs.replace(NEW_CHATS, options=SavedOptions(max_new_tokens=MAX_NEW_TOKENS), context=CONTEXT)
    dress = "dark" if given.dark else "light"
    preferences.change(new_chats=greedy, theme=dress, language=given.language)
    languages.install(app, given.language)
    theme.choose(app, dress)
    window = Window(Core(Arguments(target=given.target), store, preferences))
    window.start()
    person = Person(window, store, preferences, given.folder)
    person.patience_ms = PATIENCE_MS
    report = {name: brought.FLOWS[name](person) for name in given.flows}
    person.leave()
    store.close()
    print(json.dumps(report))


if __name__ == "__main__":
    main()
