"""A process that reads chats from a file into the store: parsing a large file would hold up every thread of
the window. Chats are stored a few at a time, so that the window can write between.

    python -m app.sidebar.import_process FILE STORE

Says lines of JSON: {"total": chats}, {"added": [ids]} as they come, at the end {"skipped": [sentences]}; or
{"error": {"kind", "message", "hint"}}. It ends early where its input is closed, and where the window is gone.
"""

import json
import os
import sys
import threading
import time
from pathlib import Path

from app.store import Store
from app.store.exchange import import_file
from engine.errors import SpecExecError

_AT_ONCE = 8  # chats; about 0.1 s with 50 messages each
_PAUSE_S = 0.01  # those who wait for SQLite's lock ask for it every few milliseconds


def main() -> int:
    source, path = map(Path, sys.argv[1:])
    is_cut = threading.Event()
    threading.Thread(target=_wait_for_end, args=(is_cut,), daemon=True).start()
    try:
        imported = import_file(source)
        _say(total=len(imported.chats))
        store = Store(path)
        for start in range(0, len(imported.chats), _AT_ONCE):
            if is_cut.is_set():
                break
            _say(added=store.chats.add(imported.chats[start : start + _AT_ONCE]))
            time.sleep(_PAUSE_S)
        store.close()
        _say(skipped=imported.skipped)
    except SpecExecError as error:
        _say(error=error.as_dict())
        return 1
    return 0


def _wait_for_end(is_cut: threading.Event) -> None:
    os.read(0, 1)
    is_cut.set()


def _say(**what: object) -> None:
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    sys.exit(main())
