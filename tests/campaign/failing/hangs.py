"""Some tries never end."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from tests.campaign.attack import SURVIVED, Outcome, Try

FIXED = 4
LIMIT_S = 0.5


@contextmanager
def prepared(folder: Path) -> Iterator[Try]:
    def once(random: Random) -> Outcome:
        if random.random() < 0.5:
            time.sleep(60)
        return SURVIVED

    yield once
