"""Tries end in exceptions of all kinds."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from engine.errors import BadCheckpoint, SpecExecError
from tests.campaign.attack import Outcome, Try

FIXED = 4


@contextmanager
def prepared(folder: Path) -> Iterator[Try]:
    def once(random: Random) -> Outcome:
        errors = (
            KeyError("tokens"),
            BadCheckpoint("It is cut short.", "Load another."),
            SpecExecError("No.", "?"),
        )
        raise random.choice(errors)

    yield once
