"""Opens every page of the program and says what does not fit, or cannot be reached.

    python -m tests.app.pages [--screen 800x600] [--fonts 100] [--language en] [--theme NAME] [--pictures DIR]

Prints a JSON object: the number of pages, and the findings of each page that has any. `QT_SCALE_FACTOR`
scales everything. Without a display, `--screen` is the size of the screen; with one (QT_QPA_PLATFORM=xcb) it
is that of the display. With `--pictures`, saves a picture of every page. `--long` makes every text a third
longer, as in German.
"""

import argparse
import json
import os
import sys
import tempfile
import traceback
from pathlib import Path

SCREEN = """{{"screens": [{{"name": "screen", "x": 0, "y": 0, "width": {}, "height": {},
                             "logicalDpi": 96, "logicalBaseDpi": 96, "dpr": 1}}]}}"""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.app.pages", description=__doc__)
    parser.add_argument("--screen", default="800x600", help="in pixels of the screen (default: 800x600)")
    parser.add_argument("--fonts", type=int, default=100, help="size of the text in per cent (default: 100)")
    parser.add_argument("--language", action="append", help="may be given more than once (default: en)")
    parser.add_argument("--theme", choices=("light", "dark", "contrast"), default="light")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--pictures", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if os.environ.get("QT_QPA_PLATFORM", "offscreen") == "offscreen":
            file = Path(folder, "screen.json")
            file.write_text(SCREEN.format(*given.screen.split("x")))
            os.environ["QT_QPA_PLATFORM"] = f"offscreen:configfile={file}"
        from tests.app.pages.walk import walk

        found = walk(Path(folder), given)
    print(json.dumps(found, ensure_ascii=False, indent=1))
    return 0


if __name__ == "__main__":
    try:
        status = main()
    except BaseException:
        traceback.print_exc()
        status = 3
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # a page that is still open must not keep the program from ending
