"""The kernels that a model needs on a card, by their names in `engine.ways`."""

from collections.abc import Iterable
from dataclasses import replace

from engine import ways
from engine.checkpoints import USUAL_GROUPS, Checkpoint, Groups, packing_name
from engine.checkpoints.drafts import stays_stored
from engine.formats import FORMATS, Format, GroupedFormat, PlainFormat, format_named
from engine.heads import HeadsFile
from engine.model.description import describe
from engine.model.weight_names import SINKS

GENERAL = ("memory", "copies", "streams", "noise", "graphs")
USUAL_WIDTH = 128  # of heads, as most models have them
_USUAL_COLUMNS = 4096  # more than a group has


def needed(
    models: Iterable[tuple[Checkpoint, str]], heads: Iterable[tuple[HeadsFile, str]] = ()
) -> list[str]:
    """Return the kernels that models and heads need, in the order of checking. models, heads: files, each
    with the name of the dtype in which it multiplies."""
    names = set(GENERAL)
    for file, dtype in models:
        names |= _of_file(file, dtype)
    for of, dtype in heads:
        if of.layer is not None:
            names |= _of_file(of.layer, dtype) if stays_stored(of.layer) else _of_layers(of.layer, dtype)
        elif (width := of.attention_width) is not None:
            names |= _of_model({width}, dtype)
    return _ordered(names)


def every(dtype: str) -> list[str]:
    """Return the kernels of all formats, in the order of checking, for models that compute with `dtype`."""
    names = {*GENERAL, *_of_model({USUAL_WIDTH}, dtype), "states", ways.name_of("scores", USUAL_WIDTH, dtype)}
    for name, form in FORMATS.items():
        for groups in _usual_groups(form):
            names |= _of_format(name, groups, _USUAL_COLUMNS, dtype)
    return _ordered(names)


def _usual_groups(form: Format) -> list[Groups | None]:
    """Return how most files with matrices in a format group their columns."""
    if not form.has_groups:
        return [None]
    if isinstance(form, GroupedFormat) and not form.awq:
        return [USUAL_GROUPS, replace(USUAL_GROUPS, indexed=True)]
    return [replace(USUAL_GROUPS, zero_offset=0)]


def _of_file(file: Checkpoint, dtype: str) -> set[str]:
    names = _of_layers(file, dtype)
    for weight in file.weights.values():
        names |= _of_format(weight.format, weight.groups, weight.shape[-1], dtype)
    return names


def _of_layers(file: Checkpoint, dtype: str) -> set[str]:
    """Return what a model needs whose weights are plain numbers. Layers may attend in heads of several
    widths."""
    of = describe(file)
    widths = {width for _, width in of.kept} or {of.head_width}
    names = _of_model(widths, dtype)
    if of.score_cap is not None or any(name.endswith(SINKS) for name in file.weights):
        names |= {ways.name_of("scores", width, dtype) for width in widths}
    return names | {"states"} if any(of.stateful) else names


def _of_model(head_widths: set[int], dtype: str) -> set[str]:
    names = {"halves"} if dtype == "float16" else set()
    names |= {ways.name_of("attention", width, dtype) for width in head_widths}
    return names | {ways.name_of("dense", _states(dtype))}


def _states(dtype: str) -> str:
    """Return the dtype of numbers between products, as `engine.quantization.states_dtype` does."""
    return "float32" if dtype == "float16" else dtype


def _of_format(name: str, groups: Groups | None, columns: int, dtype: str) -> set[str]:
    form = format_named(name)
    if isinstance(form, PlainFormat):
        return set()
    packing = packing_name(form.kernels, groups, columns)
    return {ways.name_of(kind, packing, dtype) for kind in ("unpack", "product")}


def _ordered(names: Iterable[str]) -> list[str]:
    kinds = list(ways.LADDERS)
    return sorted(names, key=lambda name: (kinds.index(ways.kind_of(name)), name))
