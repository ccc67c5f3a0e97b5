"""The heads in folders that a chat would load by itself, counted from the shapes in their files alone.

`engine.heads.outline` counts exactly what loads; the window must not import what runs heads. So this reckons
that compiled passes run them beside every compiled target, and leaves the rest of their configuration unread.
"""

import math
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

from engine import catalog
from engine.checkpoints import gguf
from engine.checkpoints.mistral import JOIN, PARAMS, WEIGHTS, is_mistral_head
from engine.checkpoints.safetensors import read_header, read_json
from engine.errors import BadCheckpoint, UnsupportedModel
from engine.planner.heads import HeadsOutline, Shapes, shapes_outline
from engine.planner.outline import Outline
from engine.planner.pairs import PairOutline, with_heads

Config = dict[str, Any]

# In tiles: eight bits, and a scale of 16 bits for each 32 columns, as Q8_0 in engine.compiled.layout.
TILE_BITS = 8.5
ASSISTANT_ROWS = 32  # of one run, as ROWS in engine.compiled.assistant
CHOSEN = 32  # clusters that give logits, if an assistant does not say: as in engine.heads.assistant

# Only heads of EAGLE-3 and P-EAGLE, or of DFlash, have these.
_LATER = {"midlayer.self_attn.q_proj.weight", "mask_hidden", "hidden_norm.weight"}
_EMBEDDINGS = ("embed_tokens.weight", "model.embed_tokens.weight")
_HEAD, _CENTROIDS = "lm_head.weight", "masked_embedding.centroids.weight"
_INTO, _OUT_OF = "pre_projection.weight", "post_projection.weight"
# Tables of tokens, and factors of FP8; and what an assistant, which reads the target's rows, does not use.
_UNUSED = re.compile(r"d2t|t2d|.*\.token_ordering|.*\.qscale_(weight|act)")
_OWN_ROWS = re.compile(r".*\.self_attn\.[kv]_(proj|norm)\.weight")
_MISTRAL = re.compile(r"\.w([123qkvo])\.weight")


def with_stored_heads(pair: PairOutline, target: str) -> PairOutline:
    """Return a pair as a chat would load it that leaves the draft open (`pairs_named`, "auto"): with the
    companion of its target, or, without a draft model, with the heads that the program includes for it. They
    are optional. target: an id or a path."""
    included = None if pair.draft else catalog.heads_for(target)
    for folder, is_companion in ((catalog.companion_for(target), True), (included, False)):
        if folder is not None and (heads := stored_heads(folder, pair.target, is_companion)):
            return with_heads(pair.target, heads, optional=True)
    return pair


def stored_heads(folder: Path, target: Outline, is_companion: bool = False) -> HeadsOutline | None:
    """Return the outline of an assistant or of EAGLE heads in a folder, or of an assistant in a GGUF file;
    None if it holds nothing of this kind, or what reads states of another width, or does not know all tokens.
    is_companion: whether it must be of a kind that `engine.heads.is_companion_of` accepts."""
    with suppress(BadCheckpoint, UnsupportedModel):
        config, shapes = _read(folder)
        if _vocabulary(config) < target.vocabulary or (is_companion and _LATER & shapes.keys()):
            return None
        return _of_assistant(config, shapes, target) if _INTO in shapes else _of_eagle(shapes, target)
    return None


def _vocabulary(config: Config) -> int:
    """Return how many tokens heads know; 0 if their configuration does not tell."""
    text = config.get("text_config")  # of an assistant
    rows = (text if isinstance(text, dict) else config).get("vocab_size")
    return rows if isinstance(rows, int) else 0


def _read(folder: Path) -> tuple[Config, dict[str, tuple[int, ...]]]:
    """Return the configuration, and the shapes of the tensors by which heads multiply, with the names that
    EAGLE's files have. Empty ones are left out."""
    if gguf.is_assistant(folder):
        assistant = gguf.read_assistant(folder)
        return assistant.config, _used({name: each.shape for name, each in assistant.weights.items()})
    is_mistral = is_mistral_head(folder)
    config = read_json(folder / (PARAMS if is_mistral else "config.json"))
    spans = read_header(folder / (WEIGHTS if is_mistral else "model.safetensors"))
    shapes = _used({name: span.shape for name, span in spans.items()})
    if not is_mistral:
        return config, shapes
    usual = {name: _MISTRAL.sub(r".\1_proj.weight", name) for name in shapes} | {JOIN: "fc.weight"}
    return config, {usual[name]: shape for name, shape in shapes.items()}


def _of_eagle(shapes: Shapes, target: Outline) -> HeadsOutline | None:
    joined = shapes.get("fc.weight", ())
    if len(joined) != 2 or joined[0] != target.hidden:
        return None
    width, read = joined
    own = shapes.get(_HEAD, (0,))[0]
    used = _without(shapes, _EMBEDDINGS)  # a copy of the target's
    return shapes_outline(
        used,
        tiles=_tiles_nbytes(used) if target.compiled else None,
        read=read if any(name.startswith("midlayer.") for name in shapes) else width,
        width=width,
        logits=own or target.vocabulary,
        shares_head=not own,
    )


def _of_assistant(config: Config, shapes: Shapes, target: Outline) -> HeadsOutline | None:
    """Its rows are the target's."""
    if shapes.get(_OUT_OF, (0,))[0] != target.hidden:
        return None
    used = {name: shape for name, shape in shapes.items() if not _OWN_ROWS.fullmatch(name)}
    used = _without(used, _EMBEDDINGS if _HEAD in shapes else ())
    logits = next((shapes[name][0] for name in (_HEAD, *_EMBEDDINGS) if name in shapes), 0)
    if _CENTROIDS in shapes:
        chosen = config.get("centroid_intermediate_top_k")
        logits = logits // shapes[_CENTROIDS][0] * (chosen if isinstance(chosen, int) else CHOSEN)
    return shapes_outline(
        used,
        tiles=_tiles_nbytes(used) if target.compiled else None,
        read=target.hidden,
        width=shapes[_INTO][0],
        logits=logits,
        rows=ASSISTANT_ROWS,
    )


def _used(shapes: Shapes) -> dict[str, tuple[int, ...]]:
    used = (name for name in shapes if not _UNUSED.fullmatch(name))
    return {name: shapes[name] for name in used if shapes[name] and all(shapes[name])}


def _without(shapes: Shapes, names: tuple[str, ...]) -> dict[str, tuple[int, ...]]:
    return {name: shape for name, shape in shapes.items() if name not in names}


def _tiles_nbytes(shapes: Shapes) -> int:
    matrices = sum(math.prod(shape) for shape in shapes.values() if len(shape) == 2)
    vectors = sum(math.prod(shape) for shape in shapes.values() if len(shape) != 2)
    return int(matrices * TILE_BITS) // 8 + 4 * vectors
