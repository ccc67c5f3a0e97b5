"""Damaged files of chats: what is sound is shown, and the damage is named.

Small damage may cost the chats that it hit, no others; after any damage the file opens again as it was left.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from tests.app.store.dozen import CHATS, TURNS, make_dozen, texts
from tests.campaign.attack import SURVIVED, Outcome, Try, Verdict
from tests.campaign.mutation import damaged

FIXED = 40
ALL = 2 * CHATS * TURNS


@contextmanager
def prepared(folder: Path) -> Iterator[Try]:
    sound = folder / "sound.sqlite"
    make_dozen(sound)
    content = sound.read_bytes()

    def once(random: Random) -> Outcome:
        with TemporaryDirectory(dir=folder) as home:
            return open_damaged(Path(home) / "conversations.sqlite", random)

    def open_damaged(path: Path, random: Random) -> Outcome:
        if small := random.random() < 0.5:
            data = bytearray(content)
            data[random.randrange(100, len(data))] ^= 1 << random.randrange(8)
            path.write_bytes(data)
        else:
            path.write_bytes(damaged(content, random))
        kept = texts(path)
        if small and len(kept) < ALL - 4 * TURNS:
            return Outcome(Verdict.LOST, f"one bit cost {ALL - len(kept)} of {ALL} messages")
        again = texts(path)
        if again != kept:
            return Outcome(Verdict.LOST, f"{len(kept)} messages at first, {len(again)} the second time")
        return SURVIVED

    yield once
