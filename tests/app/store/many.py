"""A store of many chats, and how long it takes to open, list and search.

The full measurement: python -m tests.app.store.many 10000 50
"""

import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from app.store import Store, StoredMessage, WholeChat, by_date
from tests.app.store.made import report

# Word frequencies as in natural language: common words are frequent, rare ones occur once in thousands of
# messages.
SYLLABLES = ["ka", "to", "mi", "re", "so", "lun", "ber", "din", "fos", "gra", "ples", "ti"]
LATIN = [a + b + c for a in SYLLABLES for b in SYLLABLES for c in SYLLABLES]
HANGUL = [chr(0xAC00 + 28 * i) + chr(0xAC01 + 37 * i) for i in range(0, 280)]
HAN = [chr(0x4E00 + 7 * i) + chr(0x5000 + 11 * i) for i in range(0, 400)]
WEIGHTS = [1 / (i + 1) for i in range(len(LATIN))]
QUERIES = ["k", "ka", "kat", "katoka", "katoka kakaka", "tititi", "plesplesti", "nothing like this"]
QUERIES += [HANGUL[0], HANGUL[250], HANGUL[3][0], "없는말씀", HAN[0], HAN[390], HAN[0] + HAN[1]]
QUERIES += [
    f"kakaka {HANGUL[0]}",
    HAN[0] + HAN[1] + HAN[0] + HAN[1] + HAN[0],
]  # common words that never occur together


def chats(count: int, messages: int) -> Iterator[WholeChat]:
    chance = random.Random(0)
    for chat in range(count):
        vocabulary, between = [(LATIN, " "), (HANGUL, " "), (HAN, "")][chat % 3]
        weights = WEIGHTS[: len(vocabulary)]
        said = [between.join(chance.choices(vocabulary, weights, k=60)) for _ in range(messages)]
        began = 1.7e9 + chat * 3600
        yield WholeChat(
            title=said[0][:30],
            named=False,
            created_at=began,
            updated_at=began + messages,
            messages=[
                StoredMessage(
                    id=i,
                    parent=i - 1 if i else None,
                    role="assistant" if i % 2 else "user",
                    text=text,
                    created_at=began + i,
                    reports=[report()] if i % 2 else [],
                )
                for i, text in enumerate(said)
            ],
        )


def build(path: Path, count: int, messages: int) -> None:
    store = Store(path)
    store.chats.add(chats(count, messages))
    store.close()


def seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def open_and_list(path: Path) -> None:
    """Do what a window does before it shows its sidebar."""
    store = Store(path)
    by_date(store.chats.recent(), time.time())
    store.chats.pinned()
    store.close()


def main() -> None:
    count, messages = map(int, sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "conversations.sqlite"
        print(f"built in {seconds(lambda: build(path, count, messages)):.1f} s")
        print(f"{path.stat().st_size / 2**20:.0f} MiB")
        print(f"opened and listed in {seconds(lambda: open_and_list(path)) * 1000:.1f} ms")
        store = Store(path)
        for query in QUERIES:
            elapsed, hits = seconds(lambda q=query: store.search(q)), store.search(query)
            print(f"{query!r}: {len(hits)} hits in {elapsed * 1000:.1f} ms")
        print(f"titles: {seconds(lambda: store.chats.titled('katoka')) * 1000:.1f} ms")
        store.close()


if __name__ == "__main__":
    main()
