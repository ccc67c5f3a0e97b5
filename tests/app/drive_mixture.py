"""Drives the real window with the real engine and a mixture of experts that does not fit into the RAM.

Run as a program, because it needs a display of its own:
    python -m tests.app.drive_mixture FOLDER --target MIXTURE --ram-limit GIB [--dark] [--language LOCALE]
Asks a question, saves a screenshot of the page of the memory in FOLDER, and prints what it says as one JSON
object. Not a test itself; see test_real_mixture.py.
"""

import json

from msgspec import structs

from app.panel.panel import Panel
from app.preferences import NEW_CHATS, LoadPreferences
from app.startup import languages
from app.startup.application import make_application
from app.store import SavedOptions
from app.widgets import theme
from tests.app.drive_window import Person, arguments, sitting
from tests.app.seen import labels

QUESTION = "HELLO HELLO"
TOKENS = 24
SIZE = 1280, 800


def main() -> None:
    parser = arguments()
    parser.add_argument("--ram-limit", type=float, required=True)
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--language", default="en")
    given = parser.parse_args()
    app = make_application()
    dress = "dark" if given.dark else "light"
    languages.install(app, given.language)
    theme.choose(app, dress)
    chats = structs.replace(NEW_CHATS, options=SavedOptions(max_new_tokens=TOKENS, stop_loops=False))
    loading = LoadPreferences(ram_limit=given.ram_limit, device="cpu")
    with sitting(given, new_chats=chats, loading=loading, theme=dress, language=given.language) as person:
        report = look(person)
    print(json.dumps(report))


def look(person: Person) -> dict[str, object]:
    """Ask, and look at the page of the memory. Return what it shows, and the figures behind it."""
    window = person.window
    window.resize(*SIZE)
    window.header.panel_switch.setChecked(True)
    answer = person.ask(QUESTION)
    panel: Panel = window.panel
    panel.pages.setCurrentIndex(2)
    person.photograph("memory")
    page = panel.pages.currentWidget()
    assert answer.experts is not None
    return {
        "experts": structs.asdict(answer.experts),
        "tokens": answer.tokens,
        "parts": [structs.asdict(part) for part in answer.memory.parts],
        "said": labels(page),
        "bars": panel.memory.accessibleDescription(),
    }


if __name__ == "__main__":
    main()
