"""Every third process dies without a word."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from tests.campaign.attack import SURVIVED, Outcome, Try

FIXED = 6


@contextmanager
def prepared(folder: Path) -> Iterator[Try]:
    def once(random: Random) -> Outcome:
        if random.random() < 0.3:
            os.kill(os.getpid(), signal.SIGSEGV)
        return SURVIVED

    yield once
