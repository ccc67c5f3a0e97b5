"""Some tries take more memory than a try may."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from tests.campaign.attack import SURVIVED, Outcome, Try
from tests.campaign.worker import MEMORY_LIMIT

FIXED = 6


@contextmanager
def prepared(folder: Path) -> Iterator[Try]:
    def once(random: Random) -> Outcome:
        if random.random() < 0.3:
            bytearray(b"\1") * (MEMORY_LIMIT + (200 << 20))
        return SURVIVED

    yield once
