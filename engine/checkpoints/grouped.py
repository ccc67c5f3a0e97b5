"""Find the packed matrices of a GPTQ or AWQ checkpoint, and how their numbers are packed.

Instead of `weight`, a linear layer has `qweight`, `qzeros`, `scales` and, optionally for GPTQ, `g_idx` (the
group of each column). The settings are in config.json's quantization_config; older folders have them in a
separate file. Sources: GPTQModel's quantization/config.py and nn_modules/qlinear; AutoAWQ's
awq/utils/packing_utils.py. Reads no weights, except the biases in `without_zero_biases`
and the groups of columns in `without_plain_indices`.
"""

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from engine.checkpoints.checkpoint import Groups, Span, Weight, read_span
from engine.checkpoints.quantization_faults import DAMAGED, bad
from engine.errors import BadCheckpoint, UnsupportedModel

# Settings files, each with the method to assume if the file does not name one.
FILES = {"quantize_config.json": "gptq", "quant_config.json": "awq"}
PARTS = ("qweight", "qzeros", "scales", "g_idx")
_LAYOUTS = {"gptq": {"gptq": 1, "gptq_v2": 0}, "awq": {"gemm": 0}}  # method: {layout: Groups.zero_offset}
_CHOICES = 16  # maximum number of pairs (bits, group size) in a checkpoint; each is tried on every matrix
_BITS = {"gptq": (2, 3, 4, 8), "awq": (4,)}
_FORMATS = {"F16": "", "BF16": "_BF16", "F32": "_F32"}  # type of the scales: suffix of Weight.format
_OTHERS = "Choose the original weights, a 4-bit GPTQ or AWQ (GEMM) checkpoint, or a GGUF file of this model."


@dataclass(frozen=True, slots=True)
class Packing:
    """How a checkpoint's matrices are packed.

    Attributes: `method`, "gptq" or "awq"; `choices`, pairs (bits, columns per group or -1 for all), of which
    the first applies to most matrices and the others to matrices with settings of their own; `zero_offset`,
    as in `Groups`; `act_order`, whether columns may be grouped in another order than they are stored in.
    """

    method: str
    choices: tuple[tuple[int, int], ...]
    zero_offset: int
    act_order: bool


# -- the settings --------------------------------------------------------------------------------------------


def packing(files: Mapping[str, dict[str, Any]]) -> Packing:
    """Return the packing that the settings describe. files: the settings in each file, by file name.

    Raises BadCheckpoint if the settings are invalid or contradict each other; UnsupportedModel if the method,
    the layout or the number of bits is not supported.
    """
    usual = next((FILES[file] for file in files if file in FILES), "an unknown method")
    method = str(_agreed(files, "method", ("quant_method", "method")) or usual)
    if method not in _LAYOUTS:
        raise UnsupportedModel(f"Weights quantized with {method[:40]} are not supported.", _OTHERS)
    layouts = _LAYOUTS[method]
    layout = str(_agreed(files, "layout", ("checkpoint_format", "format", "version")) or next(iter(layouts)))
    for settings in files.values():
        if settings.get("is_marlin_format"):
            layout = "marlin"
        if settings.get("backend") == "llm-awq":
            layout = "llm-awq"
    if layout not in layouts:
        raise UnsupportedModel(
            f"{method.upper()} weights in the layout {layout[:40]} are not supported.", _OTHERS
        )
    words = str(_agreed(files, "words", ("pack_dtype",)) or "int32")
    if words.removeprefix("torch.") != "int32":
        raise UnsupportedModel(f"{method.upper()} weights packed in {words[:40]} are not supported.", _OTHERS)
    bits = _agreed(files, "bits", ("bits", "w_bit", "wbits"))
    size = _agreed(files, "group size", ("group_size", "q_group_size"))
    choices = list(_choices(files, bits, size))
    for bits, size in choices:
        if type(bits) is not int or type(size) is not int or not (0 < size < 1 << 31 or size == -1):
            raise BadCheckpoint(
                f"The quantization settings are invalid: bits {str(bits)[:40]}, group size {str(size)[:40]}.",
                DAMAGED,
            )
        if bits not in _BITS[method]:
            raise UnsupportedModel(
                f"{method.upper()} weights with {str(bits)[:40]} bits are not supported.", _OTHERS
            )
    choices = list(dict.fromkeys(choices))
    if len(choices) > _CHOICES:
        raise BadCheckpoint(
            f"The quantization settings contain {len(choices):,} packings, more than any real model.",
            DAMAGED,
        )
    act_order = any(settings.get("desc_act") is True for settings in files.values())
    return Packing(method, tuple(choices), layouts[layout], act_order)


def _agreed(files: Mapping[str, dict[str, Any]], setting: str, keys: tuple[str, ...]) -> Any:
    """Return the one value that the files give under any of `keys`, or None. Strings become lower case.

    setting: the setting's name, for the message. Raises BadCheckpoint if the files give different values.
    """
    values = [settings[key] for settings in files.values() for key in keys if settings.get(key) is not None]
    values = [value.lower() if isinstance(value, str) else value for value in values]
    if any(value != values[0] for value in values):
        listed = ", ".join(str(value)[:40] for value in values)
        raise BadCheckpoint(f"The quantization settings contradict each other: {setting} {listed}.", DAMAGED)
    return values[0] if values else None


def _choices(files: Mapping[str, dict[str, Any]], bits: Any, size: Any) -> Iterator[tuple[Any, Any]]:
    """Yield (bits, group size), and then each such pair in GPTQModel's `dynamic`.

    `dynamic` is an object that gives settings for patterns of matrices' names. The patterns are not matched
    against names here, because a matrix's shapes tell which pair applies to it.
    """
    yield bits, size
    for settings in files.values():
        dynamic = settings.get("dynamic") or {}
        if not isinstance(dynamic, dict):
            raise BadCheckpoint("In the quantization settings, “dynamic” is not an object.", DAMAGED)
        for pattern, own in dynamic.items():
            if isinstance(own, dict) and not pattern.startswith("-"):
                yield own.get("bits", bits), own.get("group_size", size)


# -- the tensors ---------------------------------------------------------------------------------------------


def is_packed(tensors: Mapping[str, Span]) -> bool:
    return any(name.endswith(".qweight") for name in tensors)


def weights(tensors: Mapping[str, Span], packing: Packing) -> dict[str, Weight]:
    """Return all weights by name: packed matrices under the name of the `weight` they replace, and the rest.

    Raises BadCheckpoint if a packed matrix lacks a part or its parts do not fit together; UnsupportedModel if
    a part has an unsupported type, or the embedding is packed.
    """
    weights: dict[str, Weight] = {}
    for name, span in tensors.items():
        module, _, part = name.rpartition(".")
        if part not in PARTS:
            weights.setdefault(name, Weight.of(span))
        elif f"{module}.qweight" not in tensors:
            raise bad(span, module, "its qweight is missing")
        elif f"{module}.weight" in tensors:
            raise bad(span, module, "it exists both packed and unpacked")
        elif part == "qweight":
            parts = {part: tensors[f"{module}.{part}"] for part in PARTS if f"{module}.{part}" in tensors}
            weights[f"{module}.weight"] = _matrix(module, parts, packing)
    return weights


def _matrix(module: str, parts: dict[str, Span], packing: Packing) -> Weight:
    qweight, index = parts["qweight"], parts.get("g_idx")
    if missing := [part for part in ("qzeros", "scales") if part not in parts]:
        raise bad(qweight, module, f"its {missing[0]} are missing")
    qzeros, scales = parts["qzeros"], parts["scales"]
    if module.endswith("embed_tokens"):
        raise UnsupportedModel(f"The embedding {module} is quantized, which is not supported.", _OTHERS)
    for part, span in parts.items():
        if span.storage not in (_FORMATS if part == "scales" else ("I32",)):
            raise UnsupportedModel(
                f"The {part} of {module[:200]} are stored as {span.storage}, which is not supported.",
                _OTHERS,
            )
        if len(span.shape) != (1 if part == "g_idx" else 2) or not span.nbytes:
            raise bad(qweight, module, f"{part} has the shape {span.shape}")
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
        raise bad(qweight, module, f"{shapes} do not fit {_described(packing)}")
    if len(fitting) > 1 and index is None:
        raise bad(qweight, module, f"it is ambiguous: {_described(packing)}")
    bits, columns, size = next(iter(fitting))
    if packing.method == "awq":
        if index is not None:
            raise bad(qweight, module, "it has a g_idx, which AWQ does not use")
    elif packing.act_order and groups > 1 and index is None:
        raise bad(qweight, module, "its g_idx is missing, although desc_act is set")
    return Weight(
        shape=(rows, columns),
        format=packing.method.upper() + _FORMATS[scales.storage],
        spans=tuple(parts.values()),
        groups=Groups(bits, size, packing.zero_offset, indexed=index is not None),
    )


def _sizes(qweight: Span, packing: Packing) -> Iterator[tuple[int, int, int]]:
    """Yield (bits, columns, group size) for each of the packing's choices that suits this qweight's shape."""
    for bits, size in packing.choices:
        columns, rest = (
            divmod(qweight.shape[0] * 32, bits) if packing.method == "gptq" else (qweight.shape[0], 0)
        )
        if not rest:
            yield bits, columns, columns if size == -1 else size


def _described(packing: Packing) -> str:
    return " or ".join(f"{bits} bits in groups of {size}" for bits, size in packing.choices)


def without_zero_biases(weights: Mapping[str, Weight], parameters: Container[str]) -> dict[str, Weight]:
    """Return `weights` without superfluous biases of packed matrices.

    AutoGPTQ wrote a bias for every matrix, even in models without biases. A bias is superfluous if it is not
    among the model's `parameters` and all its numbers are zero. Reads these biases from the files.
    """

    def superfluous(name: str) -> bool:
        matrix = weights.get(name.removesuffix("bias") + "weight")
        if name in parameters or not name.endswith(".bias") or matrix is None or matrix.groups is None:
            return False
        return not any(read_span(span).any() for span in weights[name].spans)

    return {name: weight for name, weight in weights.items() if not superfluous(name)}


def without_plain_indices(weights: Mapping[str, Weight]) -> dict[str, Weight]:
    """Return `weights` without each g_idx that says what the group size says too.

    AutoGPTQ and its successors write a g_idx for every matrix, even where columns are in the order of their
    groups. Reads these from the files, 4 bytes for each column of a matrix.
    """

    def plain(weight: Weight) -> bool:
        if weight.groups is None or not weight.groups.indexed:
            return False
        index = read_span(weight.spans[-1]).view(np.int32)
        return np.array_equal(index, np.arange(len(index)) // weight.groups.size)

    def without(weight: Weight) -> Weight:
        assert weight.groups is not None
        return replace(weight, spans=weight.spans[:-1], groups=replace(weight.groups, indexed=False))

    return {name: without(weight) if plain(weight) else weight for name, weight in weights.items()}
