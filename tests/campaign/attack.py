"""What an attack is, and how its tries end.

A module `tests/campaign/attacks/NAME.py` is one attack. Its docstring's first line says what is attacked.
It has:

    FIXED = 20          # tries in the tests, together a few seconds
    LIMIT_S = 10.0      # seconds after which a try counts as hanging; optional, default 30

    @contextmanager
    def prepared(folder: Path) -> Iterator[Try]:
        # Sets up what all tries share, in a folder of its own.
        def once(random: Random) -> Outcome: ...
        yield once

A try that raises is judged here: a SpecExecError with a sentence and a next step is "named", any other
exception is "raw". A module that cannot run on this machine raises Unavailable in `prepared`.
"""

import importlib
import pkgutil
import traceback
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from random import Random

from engine.errors import SpecExecError
from tests.campaign import attacks

DEFAULT_LIMIT_S = 30.0


class Verdict(StrEnum):
    """How a try ended. SURVIVED: the program went on and its result is right. NAMED: an error with a kind,
    a sentence and a next step. RAW: a traceback, a crash, a hang, a freeze, or more memory than the limit.
    LOST: something acknowledged is gone or wrong."""

    SURVIVED = "survived"
    NAMED = "named"
    RAW = "raw"
    LOST = "lost"

    @property
    def harmful(self) -> bool:
        return self in (Verdict.RAW, Verdict.LOST)


@dataclass(frozen=True)
class Outcome:
    """`what`: one line for a person; it may be empty where nothing went wrong."""

    verdict: Verdict
    what: str = ""


SURVIVED = Outcome(Verdict.SURVIVED)
Try = Callable[[Random], Outcome]


class Unavailable(Exception):
    """An attack that this machine cannot run; the message says why."""


@dataclass(frozen=True)
class Attack:
    """A module of `attacks`, read. `fixed`: tries in the tests."""

    name: str
    title: str
    fixed: int
    limit_s: float
    prepared: Callable[[Path], AbstractContextManager[Try]]


def names() -> list[str]:
    return sorted(module.name for module in pkgutil.iter_modules(attacks.__path__))


def load(name: str) -> Attack:
    """Read an attack: a module of `attacks`, or any by its full name."""
    module = importlib.import_module(name if "." in name else f"{attacks.__name__}.{name}")
    title = (module.__doc__ or "").splitlines()[0].rstrip(".")
    return Attack(name, title, module.FIXED, getattr(module, "LIMIT_S", DEFAULT_LIMIT_S), module.prepared)


def judged(once: Try, random: Random) -> Outcome:
    """Return the outcome of one try, whatever it raises."""
    try:
        return once(random)
    except SpecExecError as error:
        return judged_error(error)
    except Exception as error:
        return Outcome(Verdict.RAW, _shown(error))


def judged_error(error: SpecExecError) -> Outcome:
    """Return NAMED if a person can do something with this error; else RAW."""
    text = f"{error.kind}: {error.message} {error.hint}".replace("\n", " ")
    if error.kind == SpecExecError.kind or not error.message or not error.hint:
        return Outcome(Verdict.RAW, f"without a kind, a sentence or a next step: {text}")
    return Outcome(Verdict.NAMED, text)


def _shown(error: Exception) -> str:
    """The innermost frame of this project's code, and the exception."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "site-packages" not in frame.filename] or list(frames)
    place = f"{Path(own[-1].filename).name}:{own[-1].lineno}" if own else "?"
    return f"{place}: {type(error).__name__}: {error}".replace("\n", " ")[:300]
