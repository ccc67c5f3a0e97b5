"""What a card compiles and records once and for all for a model, in steps. Taken while the model is loaded,
they keep no answer waiting.

A kernel is compiled when it first runs. So each kind of matrix is multiplied by zeros, by as many rows as
there are kernels for. A streamed matrix has no bytes yet: one of zeros is multiplied instead, whose parts are
as large as those of the real one and as well aligned, for kernels depend on both.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import nn

from engine import ways
from engine.checkpoints import packing_name
from engine.formats import FactoredFormat, PlainFormat
from engine.heads import Heads
from engine.model.sequence import Sequence as TextSequence
from engine.quantization import DiskRows, Packed, PackedEmbedding, Workspace, packed_in
from engine.quantization.triton import ROWS
from engine.quantization.triton.launch import ALIGNMENT
from engine.torch_model import graphs
from engine.torch_model.eagle import TorchEagleHead
from engine.torch_model.forward import TorchModel
from engine.torch_model.tensor_cache import TensorCache

# Of each part of a matrix: where it begins, as far as kernels depend on it, and its bytes.
_Places = Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class WarmUpStep:
    """Work that a card does once and for all.

    kernels: those that it runs, by their names in `engine.ways`. run: does the work, and returns once it is
    done; raises whatever a compiler or a driver raises.
    """

    kernels: tuple[str, ...]
    run: Callable[[], None]


def steps_of(sequences: Mapping[TextSequence, Sequence[int]], heads: Heads | None) -> list[WarmUpStep]:
    """Return the steps for the passes of `TorchModel`s and of heads. sequences: of each model, the layers
    that a drafter reads.

    The passes are recorded last: only where kernels do not leave the work to the processor, they can be.
    """
    matrices: list[WarmUpStep] = []
    passes: list[WarmUpStep] = []
    for sequence, hidden_layers in sequences.items():
        model, cache = sequence.model, sequence.cache
        assert isinstance(model, TorchModel)
        assert isinstance(cache, TensorCache)
        matrices += _of_matrices(model.module, model.streamer.part_places if model.streamer else {})
        passes += _of_passes(model, cache, hidden_layers)
    if isinstance(heads, TorchEagleHead):  # no other heads keep matrices as they are stored
        matrices += _of_matrices(heads.module, {})
    return matrices + passes


def record_ahead(sequences: Iterable[TextSequence], ends: Callable[[], bool]) -> None:
    """Record passes of `TorchModel`s over longer texts than those of the sequences, as long as `ends` returns
    false. Done between answers, this keeps none waiting."""
    for sequence in sequences:
        model, cache = sequence.model, sequence.cache
        assert isinstance(model, TorchModel)
        assert isinstance(cache, TensorCache)
        model.record_ahead(cache, ends)


def _of_matrices(module: nn.Module, streamed: Mapping[int, _Places]) -> Iterator[WarmUpStep]:
    """Yield the steps for each kind of a packed matrix, and for each packed embedding. streamed: places of
    the parts of streamed matrices, by the matrix's id."""
    kinds: dict[tuple[object, ...], tuple[Packed, _Places]] = {}
    for each in packed_in(module):
        places = streamed[id(each)] if each.mover else [(part.data_ptr(), part.nbytes) for part in each.parts]
        places = tuple((at % ALIGNMENT, nbytes) for at, nbytes in places)
        kinds[each.format.name, each.groups, each.shape, places] = each, places
    for matrix, places in kinds.values():
        if isinstance(matrix.format, PlainFormat):
            continue
        yield WarmUpStep(_kernels(matrix, "unpack"), partial(_multiply, matrix, places, (ROWS[-1] + 1,)))
        if not isinstance(matrix.format, FactoredFormat):  # these are always unpacked
            yield WarmUpStep(_kernels(matrix, "product"), partial(_multiply, matrix, places, ROWS))
    for part in module.modules():
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
    packing = packing_name(matrix.format.kernels, matrix.groups, matrix.shape[1])
    return tuple(ways.name_of(kind, packing, matrix.workspace.dtype) for kind in kinds)


@torch.inference_mode()
def _multiply(matrix: Packed, places: _Places, counts: Sequence[int]) -> None:
    """Multiply by a matrix with each of these numbers of rows. places: of its parts."""
    if matrix.mover is not None:
        matrix = _stand_in(matrix, places)
    place = matrix.workspace
    for rows in counts:
        matrix.product(torch.zeros(rows, matrix.shape[1], dtype=place.states, device=place.device))
    _finish(place.device)


def _stand_in(matrix: Packed, places: _Places) -> Packed:
    """Return a matrix of zeros for which the same kernels are compiled as for `matrix`, which is streamed:
    large ones are cut, so it takes no more memory than a slot. places: of the parts of `matrix`."""
    device = matrix.workspace.device
    parts = [
        torch.zeros(at + nbytes, dtype=torch.uint8, device=device)[at:]  # torch aligns what it allocates
        for at, nbytes in places
    ]
    return replace(matrix, parts=parts, mover=None, near=None)


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
