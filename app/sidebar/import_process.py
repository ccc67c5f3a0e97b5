"""Process that imports chats from a file into the store.

    python -m app.sidebar.import_process FILE STORE

It is a process because parsing a large file would block every thread of the window. It stores a few chats at
a time, so that the window can write in between.

Of a backup, it imports only the chats that the store lacks.

It prints lines of JSON: {"total": number of chats to store, "known": number of chats that are there already};
{"added": [ids]} each time chats have been stored; at the end {"skipped": [sentences]} or, after an error,
{"error": {"kind", "message", "hint"}}. It ends early when its standard input is closed, which also happens
when the window's process ends.
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

_AT_ONCE = 8  # chats per transaction; takes about 0.1 s with 50 messages each
_PAUSE_S = 0.01  # after each transaction: a process waiting for SQLite's lock retries every few ms


def main() -> int:
    source, path = map(Path, sys.argv[1:])
    is_stopped = threading.Event()
    threading.Thread(target=_wait_for_end, args=(is_stopped,), daemon=True).start()
    try:
        imported = import_file(source)
        store = Store(path)
        chats = store.chats.lacking(imported.chats) if imported.is_backup else imported.chats
        _send(total=len(chats), known=len(imported.chats) - len(chats))
        for start in range(0, len(chats), _AT_ONCE):
            if is_stopped.is_set():
                break
            _send(added=store.chats.add(chats[start : start + _AT_ONCE]))
            time.sleep(_PAUSE_S)
        store.close()
        _send(skipped=imported.skipped)
    except SpecExecError as error:
        _send(error=error.as_dict())
        return 1
    return 0


def _wait_for_end(is_stopped: threading.Event) -> None:
    os.read(0, 1)
    is_stopped.set()


def _send(**message: object) -> None:
    print(json.dumps(message), flush=True)


if __name__ == "__main__":
    sys.exit(main())
