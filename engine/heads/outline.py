"""The outlines of heads in folders, as plans count them."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from engine.checkpoints import Checkpoint
from engine.compiled.assistant import ROWS as ASSISTANT_ROWS
from engine.compiled.instructions import LANES
from engine.compiled.layout import TILES
from engine.heads import (
    compiled_assistant,
    compiled_dflash,
    compiled_eagle,
    compiled_first_eagle,
    compiled_p_eagle,
)
from engine.heads.assistant import assistant_for, unused
from engine.heads.compiled_eagle import TABLES
from engine.heads.dflash import dflash_settings
from engine.heads.files import EMBEDDING, HeadsFile
from engine.heads.fit import TargetSizes
from engine.heads.p_eagle import p_eagle_settings
from engine.model.description import describe
from engine.model.interface import RowLayer
from engine.planner.heads import HeadsOutline, Shapes, shapes_outline

_COVERS: dict[str, Callable[[HeadsFile, TargetSizes], bool]] = {
    "eagle": compiled_first_eagle.covers,
    "eagle3": compiled_eagle.covers,
    "p-eagle": compiled_p_eagle.covers,
    "dflash": compiled_dflash.covers,
}


@dataclass(frozen=True, slots=True)
class DescribedTarget:
    """What heads ask of a target that is not loaded. vocabulary: 0, because its tokenizer was not read."""

    width: int
    layers: int
    last_rows: Mapping[str, RowLayer]
    vocabulary: int = 0


def heads_outline(file: HeadsFile, target: Checkpoint) -> HeadsOutline:
    """Return the outline of the heads in a folder. Reads none of their matrices.

    Raises BadCheckpoint or UnsupportedModel if their configuration is invalid, or for another target.
    """
    description = describe(target)
    of = DescribedTarget(description.width, description.layers, description.last_rows)
    if file.kind == "assistant":
        return _of_assistant(file, of)
    dropped = {*TABLES}
    joined = file.tensors.get("fc.weight")
    width, read = (joined.shape if joined else None) or (of.width, of.width)
    if file.kind in ("eagle", "eagle3") and width == of.width:
        dropped.add(EMBEDDING)  # a copy of the target's
    shapes = {name: each.shape for name, each in file.tensors.items() if name not in dropped}
    logits = sum(shape[0] for name, shape in shapes.items() if _gives_logits(name, shape))
    return shapes_outline(
        shapes,
        tiles=_tiles_nbytes(shapes) if file.kind in _COVERS and _COVERS[file.kind](file, of) else None,
        read=of.width if file.kind == "eagle" else read,
        width=width,
        logits=logits or description.rows,
        masks=_masks(file, of.layers),
        shares_head=not logits,
    )


def _of_assistant(file: HeadsFile, of: DescribedTarget) -> HeadsOutline:
    """Its rows are the target's, and so is nothing of its output head."""
    assistant = assistant_for(file, of)
    dropped, clusters = unused(assistant), assistant.clusters
    shapes = {name: each.shape for name, each in file.tensors.items() if name not in dropped}
    chosen = assistant.description.rows if clusters is None else assistant.chosen * clusters.shape[1]
    return shapes_outline(
        shapes,
        tiles=_tiles_nbytes(shapes) if compiled_assistant.covers(file, of) else None,
        read=of.width,
        width=assistant.description.width,
        logits=chosen,
        rows=ASSISTANT_ROWS,
    )


def _gives_logits(name: str, shape: tuple[int, ...]) -> bool:
    """Return whether a tensor is an output head: EAGLE-3's, or one behind the blocks of a Medusa head."""
    is_medusa = name[0].isdigit() and ".linear." not in name
    return len(shape) == 2 and (name == "lm_head.weight" or is_medusa)


def _masks(file: HeadsFile, layers: int) -> int:
    if file.kind == "dflash":
        return dflash_settings(file, layers).block
    return p_eagle_settings(file)[0] if file.kind == "p-eagle" else 0


def _tiles_nbytes(shapes: Shapes) -> int:
    """Return the bytes of tensors as `engine.heads.packed.PackedTensors` has them: matrices in tiles of eight
    bits, others in float32."""
    layout = TILES["Q8_0"]
    matrices = [shape for shape in shapes.values() if len(shape) == 2]
    vectors = (math.prod(shape) for shape in shapes.values() if len(shape) != 2)
    tiles = (-(-rows // LANES) * layout.tile_nbytes(columns) for rows, columns in matrices)
    return sum(tiles) + 4 * sum(vectors)
