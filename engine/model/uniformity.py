"""Weights that say nothing: matrices whose numbers repeat from block to block, and norms that are zero.

A file with such weights loads, and then answers nonsense. It is usually the copy of a model that was
interrupted after its full size had been reserved.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from engine.checkpoints import Checkpoint, Span, Weight, read_span
from engine.checkpoints.storage import BLOCKS
from engine.model.architectures import family_of
from engine.protocol import DamagedWeights

# A matrix is judged by pieces of this size at places spread over it. Nearly always the first piece tells, so
# that each matrix costs one small read.
_PIECE_NBYTES, _PIECES = 4096, 8


def damage_of(checkpoint: Checkpoint) -> DamagedWeights | None:
    """Return what there is to remark about weights that say nothing; None if there are none.

    Raises BadCheckpoint if a file cannot be read.
    """
    family = family_of(checkpoint.architecture)
    more = family.gemma or family.plus_one
    found = [name for name, weight in checkpoint.weights.items() if _says_nothing(name, weight, more)]
    if not found:
        return None
    return DamagedWeights(
        model=checkpoint.path.name, damaged=len(found), weights=len(checkpoint.weights), first=found[0]
    )


def _says_nothing(name: str, weight: Weight, plus_one: bool) -> bool:
    if len(weight.shape) == 2:  # of GPTQ and AWQ: the numbers and their scales
        return any(_is_uniform(span) for span in (weight.spans[0], *weight.spans[2:3]))
    factor_of_zero = weight.plus + plus_one
    return name.endswith("norm.weight") and not factor_of_zero and _is_zero(weight.spans[0])


def _is_uniform(span: Span) -> bool:
    block = BLOCKS[span.storage][1]
    first: NDArray[np.uint8] | None = None
    for piece in _pieces(span):
        blocks = piece.reshape(-1, block)
        first = blocks[0] if first is None else first
        if (blocks != first).any():
            return False
    return span.nbytes > block


def _is_zero(span: Span) -> bool:
    return not any(piece.any() for piece in _pieces(span))


def _pieces(span: Span) -> Iterator[NDArray[np.uint8]]:
    """Read pieces of whole blocks, from the first to the last."""
    block = BLOCKS[span.storage][1]
    blocks = span.nbytes // block
    size = min(blocks, _PIECE_NBYTES // block)
    for start in sorted({(blocks - size) * number // (_PIECES - 1) for number in range(_PIECES)}):
        yield read_span(replace(span, offset=span.offset + start * block, nbytes=size * block))
