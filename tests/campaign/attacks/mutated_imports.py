"""Damaged and distorted exports of chats: what can be read is stored, the rest is named.

Formats: the program's own, ChatGPT's, each also within a zip file.
"""

import json
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from app.store import Store
from app.store.exchange import export_file, import_file
from tests.app.store.dozen import make_dozen, shown
from tests.app.store.exchange.chatgpt_export import conversation
from tests.campaign.attack import SURVIVED, Outcome, Try, Verdict
from tests.campaign.mutation import damaged, distorted

FIXED = 40


@contextmanager
def prepared(folder: Path) -> Iterator[Try]:
    path = folder / "sound.sqlite"
    make_dozen(path)
    store = Store(path)
    export_file(folder / "own.json", [store.chats.read(line.id) for line in store.chats.recent()])
    store.close()
    own = json.loads((folder / "own.json").read_bytes())
    others = [conversation("One"), conversation("Two"), conversation(None)]

    def once(random: Random) -> Outcome:
        document: Any = random.choice((own, others))
        for _ in range(random.choice((0, 1, 1, 3))):
            document = distorted(document, random)
        content = _written(document)
        if random.random() < 0.3:
            content = damaged(content, random)
        with TemporaryDirectory(dir=folder) as place:
            file = Path(place) / "export"
            if random.random() < 0.3:
                _zip(file, content)
                if random.random() < 0.5:
                    file.write_bytes(damaged(file.read_bytes(), random))
            else:
                file.write_bytes(content)
            return _imported(file, Path(place) / "conversations.sqlite")

    yield once


def _imported(file: Path, path: Path) -> Outcome:
    chats = import_file(file).chats
    store = Store(path)
    try:
        added = store.chats.add(chats)
        texts = list(shown(store))
        for id in added:
            store.chats.read(id)
    finally:
        store.close()
    if len(added) != len(chats):
        return Outcome(Verdict.LOST, f"{len(chats)} chats were read, {len(added)} were stored")
    if not texts and any(chat.messages for chat in chats):
        return Outcome(Verdict.LOST, "nothing of the chats that were stored is shown")
    return SURVIVED


def _written(document: Any) -> bytes:
    try:
        return json.dumps(document).encode()
    except RecursionError:  # deeper than Python writes
        return b"[" * 100_000


def _zip(file: Path, content: bytes) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", content)
