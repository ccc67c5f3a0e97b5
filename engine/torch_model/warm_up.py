"""What a card compiles and records once and for all for a model, in steps. Taken while the model is loaded,
they keep no answer waiting.

A kernel is compiled when it first runs. So each kind of matrix is multiplied by zeros, by as many rows as
there are kernels for. A streamed matrix has no bytes yet: a random one of its format is multiplied instead.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import torch

from engine import ways
from engine.checkpoints import USUAL_GROUPS, packing_name
from engine.checkpoints.cuts import unpacked_rows
from engine.formats import PlainFormat
from engine.model.sequence import Sequence as TextSequence
from engine.quantization import DiskRows, Packed, PackedEmbedding, Workspace, packed_in
from engine.quantization.random_matrix import random_packed
from engine.quantization.triton import ROWS
from engine.torch_model import graphs
from engine.torch_model.forward import TorchModel
from engine.torch_model.tensor_cache import TensorCache


@dataclass(frozen=True, slots=True)
class WarmUpStep:
    """Work that a card does once and for all.

    kernels: those that it runs, by their names in `engine.ways`. run: does the work, and returns once it is
    done; raises whatever a compiler or a driver raises.
    """

    kernels: tuple[str, ...]
    run: Callable[[], None]


def steps_of(sequence: TextSequence, hidden_layers: Sequence[int] = ()) -> list[WarmUpStep]:
    """Return the steps for the passes of a `TorchModel`. hidden_layers: those that a drafter reads."""
    model, cache = sequence.model, sequence.cache
    assert isinstance(model, TorchModel)
    assert isinstance(cache, TensorCache)
    return [*_of_matrices(model), *_of_passes(model, cache, hidden_layers)]


def _of_matrices(model: TorchModel) -> Iterator[WarmUpStep]:
    """Yield a step for each format and shape of a packed matrix, and for each packed embedding."""
    kinds = {(each.format.name, each.groups, each.shape): each for each in packed_in(model.module)}
    for matrix in kinds.values():
        if not isinstance(matrix.format, PlainFormat):
            yield WarmUpStep(_kernels(matrix, "product", "unpack"), partial(_multiply, matrix))
    for part in model.module.modules():
        if isinstance(part, PackedEmbedding) and isinstance(part.weight, Packed | DiskRows):
            matrix = part.weight if isinstance(part.weight, Packed) else part.weight.matrix
            if not isinstance(matrix.format, PlainFormat):
                yield WarmUpStep(_kernels(matrix, "unpack"), partial(_look_up, part, matrix.workspace))


def _of_passes(model: TorchModel, cache: TensorCache, hidden_layers: Sequence[int]) -> Iterator[WarmUpStep]:
    """Yield a step for each size of the passes that are recorded beforehand."""
    if model.graphs is None or not model.graphs.works:
        return
    for rows, keys in graphs.usual_sizes([part.capacity for part in cache.parts]):
        yield WarmUpStep(("graphs",), partial(_record, model, rows, keys, cache, hidden_layers))


def _kernels(matrix: Packed, *kinds: str) -> tuple[str, ...]:
    subject = packing_name(matrix.format.kernels, matrix.groups), matrix.workspace.dtype
    return tuple(ways.name_of(kind, *subject) for kind in kinds)


@torch.inference_mode()
def _multiply(matrix: Packed) -> None:
    """Multiply by a matrix with as many rows as there are kernels for, and with more, so that it is
    unpacked."""
    if matrix.mover is not None:
        matrix = _stand_in(matrix)
    place = matrix.workspace
    for rows in (*ROWS, ROWS[-1] + 1):
        matrix.product(torch.zeros(rows, matrix.shape[1], dtype=place.dtype, device=place.device))
    _finish(place.device)


def _stand_in(matrix: Packed) -> Packed:
    """Return a random matrix for which the same kernels are compiled as for `matrix`. It has two pieces and
    the rest: kernels depend on what divides the rows of a piece and the address where it begins."""
    (rows, columns), workspace = matrix.shape, matrix.workspace
    step = unpacked_rows(columns)
    rows = min(rows, 2 * step + rows % step)
    groups = matrix.groups or USUAL_GROUPS
    where = workspace.device, workspace.dtype
    made = random_packed(matrix.format.name, (rows, columns), *where, groups=groups)
    return replace(made, groups=matrix.groups, workspace=workspace)


@torch.inference_mode()
def _look_up(embedding: PackedEmbedding, workspace: Workspace) -> None:
    """Look up as many tokens as recorded passes have, and one more."""
    for rows in (*graphs.ROWS, graphs.ROWS[-1] + 1):
        embedding(torch.zeros(rows, dtype=torch.int64, device=workspace.device))
    _finish(workspace.device)


def _record(
    model: TorchModel, rows: int, keys: tuple[int, ...], cache: TensorCache, hidden_layers: Sequence[int]
) -> None:
    model.record(rows, keys, cache, hidden_layers)
    _finish(cache.device)


def _finish(device: torch.device) -> None:
    torch.get_device_module(device).synchronize(device)
