"""Reads and checks the bytes of weights, a few tensors ahead of their use; what names of weights tell."""

import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from functools import partial

import numpy as np
from numpy.typing import NDArray

from engine.checkpoints import Span, read_span
from engine.formats import check_valid
from engine.model.interface import Progress
from engine.streaming.readers import Readers, watch_of

# Number of tensors that are read ahead of the one in use.
_READERS = min(4, os.cpu_count() or 1)

# Names of matrices in the order in which a layer uses them.
# fmt: off
_IN_A_LAYER = (
    "laurel.linear_left", "laurel.linear_right", "q_proj", "k_proj", "v_proj", "qkv_proj", "in_proj_qkv",
    "in_proj_z", "in_proj_b", "in_proj_a", "in_proj", "o_proj", "out_proj", "gate_proj", "up_proj",
    "gate_up_proj", "down_proj", "per_layer_input_gate", "per_layer_projection", "altup_unembed", "lm_head",
)
# fmt: on
# Matrices that a pass uses before the first layer, and small ones that a layer uses more than once.
_BEFORE = re.compile(r"\.(per_layer_model_projection|altup_projections)\.")
READ_TWICE = re.compile(r"\.altup\.")


def read_ahead(
    wanted: Mapping[str, tuple[str, tuple[Span, ...]]], progress: Progress
) -> Iterator[tuple[str, list[NDArray[np.uint8]]]]:
    """Yield the name and the bytes of each wanted tensor, in the order of the files.

    wanted: name -> (format, spans of the file). progress: called with the bytes done and the bytes in total.
    Raises BadCheckpoint if a file is truncated or weights are invalid (`Format.valid`); the errors of
    `DiskWatch.wait`.
    """
    total = sum(span.nbytes for _, spans in wanted.values() for span in spans)
    done = 0
    order = sorted(
        wanted, key=lambda name: (wanted[name][1][0].file, wanted[name][1][0].offset), reverse=True
    )
    if not order:
        progress(total, total)
        return
    first, *_ = wanted[order[-1]][1]
    with closing(Readers(watch_of(first.file), _READERS, "weights")) as readers:
        running: list[tuple[str, Callable[[], list[NDArray[np.uint8]]]]] = []
        while order or running:
            while order and len(running) <= _READERS:
                name = order.pop()
                running.append((name, readers.begin(partial(_read, name, *wanted[name]))))
            name, wait = running.pop(0)
            progress(done, total)
            parts = wait()
            yield name, parts
            done += sum(part.nbytes for part in parts)
        progress(total, total)


def read_layers(
    wanted: Mapping[str, tuple[str, tuple[Span, ...]]], progress: Progress, layer_progress: Progress
) -> Iterator[tuple[str, list[NDArray[np.uint8]]]]:
    """Yield the name and the bytes of each wanted weight, as `read_ahead` does.

    layer_progress: called with the number of complete layers and of layers to read; a weight is complete when
    the next one is asked for.
    """
    left = Counter(filter(None, map(layer_of, wanted)))
    layers = len(left)
    for name, parts in read_ahead(wanted, progress):
        yield name, parts
        left[layer_of(name)] -= 1
        layer_progress(layers - sum(number > 0 for number in left.values()), layers)


def layer_of(name: str) -> str:
    """Return the number of the layer to which the weight `name` belongs, or "" if it is outside the
    layers."""
    return name.split(".")[2] if name.startswith("model.layers.") else ""


def order_of_use(name: str) -> tuple[int, int, int]:
    """Return a key that sorts names of matrices into the order in which a pass uses them."""
    layer, expert = re.search(r"layers\.(\d+)\.", name), expert_of(name)
    kind = next((place for place, word in enumerate(_IN_A_LAYER) if word in name), len(_IN_A_LAYER))
    outside = -1 if _BEFORE.search(name) else sys.maxsize
    return int(layer[1]) if layer else outside, expert[1] if expert else -1, kind


def expert_of(name: str) -> tuple[int, int] | None:
    """Return the numbers of the layer and of the expert to which the weight `name` belongs; None if it
    belongs to none."""
    found = re.search(r"layers\.(\d+)\.\w+\.experts\.(\d+)\.", name)
    return (int(found[1]), int(found[2])) if found else None


def _read(name: str, stored_as: str, spans: tuple[Span, ...]) -> list[NDArray[np.uint8]]:
    parts = [read_span(span) for span in spans]
    check_valid(stored_as, parts, f"The tensor {name} of {spans[0].file.name}")
    return parts
