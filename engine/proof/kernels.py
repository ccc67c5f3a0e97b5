"""The kernels that a model needs on a card, by their names in `engine.ways`."""

from collections.abc import Iterable

from engine import ways
from engine.checkpoints import USUAL_GROUPS, Checkpoint, Groups, packing_name
from engine.formats import FORMATS, BlockFormat, GroupedFormat, format_named
from engine.model.description import describe

GENERAL = ("memory", "copies", "streams", "noise", "graphs")
USUAL_WIDTH = 128  # of heads, as most models have them


def needed(models: Iterable[tuple[Checkpoint, str]]) -> list[str]:
    """Return the kernels that models need, in the order of checking. models: files, each with the name of the
    dtype that it computes with."""
    names = set(GENERAL)
    for file, dtype in models:
        names |= _of_model(describe(file).head_width, dtype)
        for weight in file.weights.values():
            names |= _of_format(weight.format, weight.groups, dtype)
    return _ordered(names)


def every(dtype: str) -> list[str]:
    """Return the kernels of all formats, in the order of checking, for models that compute with `dtype`."""
    names = {*GENERAL, *_of_model(USUAL_WIDTH, dtype)}
    for name, form in FORMATS.items():
        names |= _of_format(name, USUAL_GROUPS if isinstance(form, GroupedFormat) else None, dtype)
    return _ordered(names)


def _of_model(head_width: int, dtype: str) -> set[str]:
    return {ways.name_of("dense", dtype), ways.name_of("attention", head_width, dtype)}


def _of_format(name: str, groups: Groups | None, dtype: str) -> set[str]:
    if not isinstance(format_named(name), BlockFormat | GroupedFormat):
        return set()
    return {ways.name_of(kind, packing_name(name, groups), dtype) for kind in ("unpack", "product")}


def _ordered(names: Iterable[str]) -> list[str]:
    kinds = list(ways.LADDERS)
    return sorted(names, key=lambda name: (kinds.index(ways.kind_of(name)), name))
