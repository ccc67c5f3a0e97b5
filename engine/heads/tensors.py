"""The tensors of heads' files, read when they are needed."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.checkpoints import Span, Weight, read_span
from engine.checkpoints.safetensors import read_header
from engine.errors import UnsupportedModel
from engine.formats import FactoredFormat, check_valid, format_named, unpacked
from engine.formats.plain import F32

_DTYPES = {"F32": np.float32, "F16": np.float16, "I64": np.int64, "I32": np.int32, "BOOL": np.bool_}


@dataclass(frozen=True, slots=True)
class Unread:
    """A tensor that has not been read from its file yet. read: reads and returns it; bfloat16 becomes
    float32."""

    file: Path
    shape: tuple[int, ...]
    read: Callable[[], NDArray[Any]]


def tensors_of(folder: Path, plain: str, pickled: str) -> Mapping[str, Unread]:
    """Return the tensors of the folder's weights file, or {} if there is none. plain, pickled: the names that
    it may have, as safetensors and as a file of torch, of which only tensors are read."""
    if (folder / plain).is_file():
        return {name: in_span(name, span) for name, span in read_header(folder / plain).items()}
    if (folder / pickled).is_file():
        from engine.heads.pickled import unpickled  # only torch reads these files

        file = folder / pickled
        return {
            name: Unread(file, tensor.span.shape, tensor.read) for name, tensor in unpickled(file).items()
        }
    return {}


def in_span(name: str, span: Span) -> Unread:
    """Return the tensor called `name` in plain numbers. Reading it raises UnsupportedModel if it is stored
    otherwise."""

    def read() -> NDArray[Any]:
        if span.storage == "BF16":
            return unpacked("BF16", read_span(span), math.prod(span.shape)).reshape(span.shape)
        if span.storage not in _DTYPES:
            raise UnsupportedModel(
                f"{span.file.name} stores {name[:200]} as {span.storage}, which is not supported.",
                "Choose heads with bfloat16 or float16 weights.",
            )
        return read_span(span).view(_DTYPES[span.storage]).reshape(span.shape)

    return Unread(span.file, span.shape, read)


def in_weight(name: str, weight: Weight) -> Unread:
    """Return the tensor called `name` of a GGUF file, whose rows and numbers are those of the model. Reading
    it unpacks it to float32, unless it has whole numbers; it raises BadCheckpoint if numbers are not finite,
    and UnsupportedModel if the format is unknown."""
    file = weight.spans[0].file

    def read() -> NDArray[Any]:
        parts = tuple(map(read_span, weight.spans))
        if weight.format == "I32":
            return parts[0].view(np.int32).reshape(weight.shape)
        form = format_named(weight.format)
        check_valid(form.name, parts, f"{name[:200]} of {file.name}")
        if isinstance(form, FactoredFormat):
            numbers = unpacked(form.blocks.name, parts[0], weight.numel) * F32.numbers(parts[1])
        else:
            numbers = unpacked(form.name, parts[0], weight.numel)
        return numbers.reshape(weight.shape)

    return Unread(file, weight.shape, read)
