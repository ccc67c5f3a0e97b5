"""GPTQ and AWQ: which tensors of a folder make up one packed matrix, and how it is packed.

A linear layer is `qweight`, `qzeros`, `scales` and, for GPTQ, `g_idx` (the group of each column) instead of
`weight`. Settings stand in config.json's quantization_config, in older folders in a file of their own.
Sources: GPTQModel's quantization/config.py and nn_modules/qlinear, AutoAWQ's awq/utils/packing_utils.py.
Reads settings and headers only.
"""

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from engine.checkpoints.checkpoint import Groups, Span, Weight, read_span
from engine.errors import BadCheckpoint, UnsupportedModel

# File of settings: the method where it does not say.
FILES = {"quantize_config.json": "gptq", "quant_config.json": "awq"}
PARTS = ("qweight", "qzeros", "scales", "g_idx")
_LAYOUTS = {"gptq": {"gptq": 1, "gptq_v2": 0}, "awq": {"gemm": 0}}  # method: {layout: Groups.zero_offset}
_CHOICES = 16  # most kinds of packing in one checkpoint, all of which each matrix is held against
_BITS = {"gptq": (2, 3, 4, 8), "awq": (4,)}
_FORMATS = {"F16": "", "BF16": "_BF16", "F32": "_F32"}  # type of the scales: ending of Weight.format
_DAMAGED = "The settings do not belong to these files, or they are damaged; download the model again."
_OTHERS = "Choose the original weights, a 4-bit GPTQ or AWQ (GEMM) checkpoint, or a GGUF file of this model."


@dataclass(frozen=True, slots=True)
class Packing:
    """How a checkpoint's matrices are packed.

    Attributes: `method` ("gptq", "awq"); `choices`, (bits, columns of a group; -1: all) of most matrices,
    then of those with settings of their own; `zero_offset`, as in `Groups`; `act_order`, whether columns were
    put into groups in another order than they are stored in.
    """

    method: str
    choices: tuple[tuple[int, int], ...]
    zero_offset: int
    act_order: bool


# -- the settings --------------------------------------------------------------------------------------------


def packing(said: Mapping[str, dict[str, Any]]) -> Packing:
    """From the settings in each file (name of the file: settings).

    Raises BadCheckpoint where they contradict each other or themselves, UnsupportedModel for other methods,
    layouts and numbers of bits.
    """
    usual = next((FILES[file] for file in said if file in FILES), "an unknown method")
    method = str(_agreed(said, "method", ("quant_method", "method")) or usual)
    if method not in _LAYOUTS:
        raise UnsupportedModel(f"Weights quantized with {method[:40]} are not read.", _OTHERS)
    layouts = _LAYOUTS[method]
    layout = str(_agreed(said, "layout", ("checkpoint_format", "format", "version")) or next(iter(layouts)))
    for settings in said.values():
        if settings.get("is_marlin_format"):
            layout = "marlin"
        if settings.get("backend") == "llm-awq":
            layout = "llm-awq"
    if layout not in layouts:
        raise UnsupportedModel(f"{method.upper()} weights in the layout {layout[:40]} are not read.", _OTHERS)
    words = str(_agreed(said, "words", ("pack_dtype",)) or "int32")
    if words.removeprefix("torch.") != "int32":
        raise UnsupportedModel(f"{method.upper()} weights packed in {words[:40]} are not read.", _OTHERS)
    bits = _agreed(said, "bits", ("bits", "w_bit", "wbits"))
    size = _agreed(said, "group size", ("group_size", "q_group_size"))
    choices = list(_choices(said, bits, size))
    for bits, size in choices:
        if type(bits) is not int or type(size) is not int or not (0 < size < 1 << 31 or size == -1):
            raise BadCheckpoint(
                f"The quantization settings say: bits {str(bits)[:40]}, group size {str(size)[:40]}.",
                _DAMAGED,
            )
        if bits not in _BITS[method]:
            raise UnsupportedModel(
                f"{method.upper()} weights of {str(bits)[:40]} bits are not read.", _OTHERS
            )
    choices = list(dict.fromkeys(choices))
    if len(choices) > _CHOICES:
        raise BadCheckpoint(f"The quantization settings name {len(choices):,} kinds of packing.", _DAMAGED)
    act_order = any(settings.get("desc_act") is True for settings in said.values())
    return Packing(method, tuple(choices), layouts[layout], act_order)


def _agreed(said: Mapping[str, dict[str, Any]], what: str, keys: tuple[str, ...]) -> Any:
    """What all files say under any of these keys, words in lower case; None where none says it."""
    values = [settings[key] for settings in said.values() for key in keys if settings.get(key) is not None]
    values = [value.lower() if isinstance(value, str) else value for value in values]
    if any(value != values[0] for value in values):
        found = ", ".join(str(value)[:40] for value in values)
        raise BadCheckpoint(f"The quantization settings contradict each other: {what} {found}.", _DAMAGED)
    return values[0] if values else None


def _choices(said: Mapping[str, dict[str, Any]], bits: Any, size: Any) -> Iterator[tuple[Any, Any]]:
    """(bits, group size), then those of GPTQModel's `dynamic`: {pattern: {settings of its own}, or {} for
    none}.

    Which matrices a pattern means is not asked: their shapes tell.
    """
    yield bits, size
    for settings in said.values():
        dynamic = settings.get("dynamic") or {}
        if not isinstance(dynamic, dict):
            raise BadCheckpoint("The quantization settings' “dynamic” is no object.", _DAMAGED)
        for pattern, own in dynamic.items():
            if isinstance(own, dict) and not pattern.startswith("-"):
                yield own.get("bits", bits), own.get("group_size", size)


# -- the tensors ---------------------------------------------------------------------------------------------


def is_packed(tensors: Mapping[str, Span]) -> bool:
    return any(name.endswith(".qweight") for name in tensors)


def weights(tensors: Mapping[str, Span], packing: Packing) -> dict[str, Weight]:
    """Packed matrices under the name of the weight they stand for, all other tensors as they are.

    Raises BadCheckpoint for parts that are missing or do not fit each other, UnsupportedModel for types of
    them.
    """
    found: dict[str, Weight] = {}
    for name, span in tensors.items():
        module, _, part = name.rpartition(".")
        if part not in PARTS:
            found.setdefault(name, Weight.of(span))
        elif f"{module}.qweight" not in tensors:
            raise _bad(span, module, "its qweight is missing")
        elif f"{module}.weight" in tensors:
            raise _bad(span, module, "it is there packed and unpacked")
        elif part == "qweight":
            parts = {part: tensors[f"{module}.{part}"] for part in PARTS if f"{module}.{part}" in tensors}
            found[f"{module}.weight"] = _matrix(module, parts, packing)
    return found


def _matrix(module: str, parts: dict[str, Span], packing: Packing) -> Weight:
    qweight, index = parts["qweight"], parts.get("g_idx")
    if missing := [part for part in ("qzeros", "scales") if part not in parts]:
        raise _bad(qweight, module, f"its {missing[0]} are missing")
    qzeros, scales = parts["qzeros"], parts["scales"]
    if module.endswith("embed_tokens"):
        raise UnsupportedModel(f"The embedding {module} is quantized, which is not read.", _OTHERS)
    for part, span in parts.items():
        if span.storage not in (_FORMATS if part == "scales" else ("I32",)):
            raise UnsupportedModel(f"The {part} of {module[:200]} are stored as {span.storage}.", _OTHERS)
        if len(span.shape) != (1 if part == "g_idx" else 2) or not span.nbytes:
            raise _bad(qweight, module, f"{part} has the shape {span.shape}")
    groups, rows = scales.shape
    fitting = dict.fromkeys(
        (bits, columns, size)
        for bits, columns, size in _sizes(qweight, packing)
        if (groups - 1) * size < columns <= groups * size
        and qzeros.shape == (groups, rows * bits // 32)
        and rows * bits % 32 == 0
        and qweight.shape[1] == (rows if packing.method == "gptq" else rows * bits // 32)
        and (index is None or index.shape == (columns,))
    )
    if not fitting:
        shapes = ", ".join(f"{part} {span.shape}" for part, span in parts.items())
        raise _bad(qweight, module, f"{shapes} do not fit {_described(packing)}")
    if len(fitting) > 1 and index is None:
        raise _bad(qweight, module, f"more than one of {_described(packing)} fit it")
    bits, columns, size = next(iter(fitting))
    if packing.method == "awq":
        if index is not None:
            raise _bad(qweight, module, "AWQ has no g_idx")
    elif packing.act_order and groups > 1 and index is None:
        raise _bad(qweight, module, "its g_idx is missing, though the settings say desc_act")
    return Weight(
        shape=(rows, columns),
        format=packing.method.upper() + _FORMATS[scales.storage],
        spans=tuple(parts.values()),
        groups=Groups(bits, size, packing.zero_offset),
    )


def _sizes(qweight: Span, packing: Packing) -> Iterator[tuple[int, int, int]]:
    """(bits, columns, group size) that a qweight of this shape may have."""
    for bits, size in packing.choices:
        columns, rest = (
            divmod(qweight.shape[0] * 32, bits) if packing.method == "gptq" else (qweight.shape[0], 0)
        )
        if not rest:
            yield bits, columns, columns if size == -1 else size


def _described(packing: Packing) -> str:
    return " or ".join(f"{bits} bits in groups of {size}" for bits, size in packing.choices)


def _bad(span: Span, module: str, reason: str) -> BadCheckpoint:
    return BadCheckpoint(f"{span.file.name} is not valid: {module[:200]}: {reason}.", _DAMAGED)


def without_zero_biases(weights: Mapping[str, Weight], parameters: Container[str]) -> dict[str, Weight]:
    """`weights` less the biases of zeros beside packed matrices that are not among the model's `parameters`.

    AutoGPTQ wrote a bias for every matrix, also in models without. Reads those biases; one that holds any
    other number stays.
    """

    def superfluous(name: str) -> bool:
        matrix = weights.get(name.removesuffix("bias") + "weight")
        if name in parameters or not name.endswith(".bias") or matrix is None or matrix.groups is None:
            return False
        return not any(read_span(span).any() for span in weights[name].spans)

    return {name: weight for name, weight in weights.items() if not superfluous(name)}
