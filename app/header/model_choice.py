"""A pair that the user may choose: on this machine, or one model of an engine elsewhere. Imports no Qt."""

from collections.abc import Container
from pathlib import Path

from app.header import local_models
from app.preferences import RecentPair
from engine.errors import SpecExecError
from engine.remote import engines


def is_known(pair: RecentPair, known: Container[str] | None = None) -> bool:
    """Return whether a pair can be asked for: its target is on this machine, or its engine is an added one.
    known: the names of the models here, if they have been read already."""
    if pair.engine:
        return place_of(pair.engine) != ""
    return local_models.is_here(pair.target, known)


def place_of(engine: str) -> str:
    """Return host and port of an added engine; "" for this machine, and for an engine that is not added."""
    try:
        return engines.find(engine).place if engine else ""
    except SpecExecError:
        return ""


def text_of(pair: RecentPair) -> str:
    """Return the name of a pair's target that is shown to the user."""
    if pair.engine:
        return short_name(pair.target or "")
    return local_models.text_of(pair.target)


def short_name(model: str) -> str:
    """Return the name of a model elsewhere, whose id may be a path on its machine."""
    return Path(model).name if model.startswith(("/", "\\")) or ":\\" in model else model
