"""Drives the real window with the real engine through `tests.app.brought`: files, prompts and tools.

Run as a program, because it needs a display of its own:
    python -m tests.app.drive_brought FOLDER [--target MODEL] [--flows NAME ...] [--dark] [--language LOCALE]
Saves screenshots in FOLDER and prints one JSON object with the result of each flow; QT_SCALE_FACTOR scales
everything. Not a test itself; see test_real_brought.py.
"""

import json

from msgspec import structs

from app.preferences import NEW_CHATS
from app.startup import languages
from app.startup.application import make_application
from app.store import SavedOptions
from app.widgets import theme
from tests.app import brought
from tests.app.drive_window import arguments, sitting

PATIENCE_MS = 240_000  # a prompt with six passages of a file is read on two cores
MAX_NEW_TOKENS = 48
CONTEXT = 4_096


def main() -> None:
    parser = arguments()
    parser.add_argument("--flows", nargs="+", choices=list(brought.FLOWS), default=list(brought.FLOWS))
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--language", default="en")
    given = parser.parse_args()
    app = make_application()
    dress = "dark" if given.dark else "light"
    languages.install(app, given.language)
    theme.choose(app, dress)
    greedy = structs.replace(NEW_CHATS, options=SavedOptions(max_new_tokens=MAX_NEW_TOKENS), context=CONTEXT)
    with sitting(given, new_chats=greedy, theme=dress, language=given.language) as person:
        person.patience_ms = PATIENCE_MS
        report = {name: brought.FLOWS[name](person) for name in given.flows}
    print(json.dumps(report))


if __name__ == "__main__":
    main()
