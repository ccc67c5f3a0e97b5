"""What the arithmetic needs to know of a model: bytes of its parts as stored, and how many numbers they are.

From the catalogue, for models that are nowhere yet, or from the header of a checkpoint, exactly.
"""

import re
from dataclasses import dataclass

from engine.catalog import Model, Variant, sizes
from engine.checkpoints import Checkpoint, Weight
from engine.planner.accepting import Acceptance


@dataclass(frozen=True, slots=True)
class Outline:
    """A model's parts.

    Attributes: `name` for whoever asked; `file`, the name of its file or folder, which is the same on every
    way to it; bytes as stored of `layers`, each, `head` and `embedding`; `tied`: these two are one.
    Numbers: `layer_weights` of all layers together, `table_weights` of the head, `kv_row` of a token's keys
    and values, `hidden` and `widest` of a row between and within layers; `active`, the share of the layers'
    weights that one token is multiplied with (a mixture's experts). `vocabulary` and `context` in tokens.
    `packed`: in a format that is unpacked for products; `uncut`, bytes of the largest matrix that is moved
    whole, 0 where all can be cut.
    """

    name: str
    file: str
    layers: tuple[int, ...]
    head: int
    embedding: int
    tied: bool
    layer_weights: int
    active: float
    table_weights: int
    kv_row: int
    hidden: int
    widest: int
    vocabulary: int
    context: int
    packed: bool
    uncut: int

    @property
    def nbytes(self) -> int:
        """Of all weights as stored."""
        return sum(self.layers) + self.head + (0 if self.tied else self.embedding)

    @property
    def weights(self) -> int:
        return self.layer_weights + self.table_weights * (1 if self.tied else 2)

    def touched(self, rows: int) -> float:
        """Expected share of the layers' weights that a pass over `rows` rows is multiplied with."""
        return float(1 - (1 - self.active) ** rows)


@dataclass(frozen=True, slots=True)
class Pair:
    """acceptance: of trees that the draft grows, or where there is none, of what needs no draft."""

    target: Outline
    draft: Outline | None
    acceptance: Acceptance


def of_variant(model: Model, variant: Variant) -> Outline:
    """A model of the catalogue in one of its forms."""
    table = model.vocabulary * model.hidden
    tables = table * (1 if model.tied else 2)
    layer_weights = sizes.parameters(model) - tables
    own_head = sizes.head_nbytes(model, variant)
    embedding = sizes.embedding_nbytes(model, variant)
    intermediate = variant.intermediate or model.intermediate
    return Outline(
        name=variant.id,
        file=variant.file or variant.repository.rpartition("/")[2],
        layers=tuple(sizes.layer_nbytes(model, variant, layer).total for layer in range(model.layers)),
        head=own_head or embedding,
        embedding=embedding,
        tied=not own_head,
        layer_weights=layer_weights,
        active=(sizes.active_parameters(model) - tables) / layer_weights,
        table_weights=table,
        kv_row=sizes.kv_row_nbytes(model, itemsize=1),
        hidden=model.hidden,
        widest=intermediate,
        vocabulary=model.vocabulary,
        context=model.context,
        packed=variant.format != "16-bit",
        # With its scales: sixteen bits for each group of columns.
        uncut=model.hidden * intermediate * (variant.bits + 1) // 8 if variant.bits else 0,
    )


def of_checkpoint(checkpoint: Checkpoint, name: str) -> Outline:
    """A model on this machine."""
    config, weights = checkpoint.config, checkpoint.weights
    layers: dict[int, int] = {}
    layer_weights = expert_weights = 0
    for key, weight in weights.items():
        if found := re.match(r"model\.layers\.(\d+)\.", key):
            layers[int(found[1])] = layers.get(int(found[1]), 0) + weight.nbytes
            layer_weights += weight.numel
            expert_weights += weight.numel if ".experts." in key else 0
    table = weights["model.embed_tokens.weight"]
    vocabulary, hidden = table.shape
    head = weights.get("lm_head.weight")
    experts = config.get("num_local_experts") or config.get("num_experts") or 1
    idle = expert_weights * (1 - (config.get("num_experts_per_tok") or experts) / experts)
    matrices = [weight for key, weight in weights.items() if len(weight.shape) == 2 and ".layers." in key]
    return Outline(
        name=name,
        file=checkpoint.path.name,
        layers=tuple(layers[number] for number in sorted(layers)),
        head=(head or table).nbytes,
        embedding=table.nbytes,
        tied=head is None,
        layer_weights=layer_weights,
        active=1 - idle / layer_weights,
        table_weights=table.numel,
        kv_row=2 * len(layers) * _kv_width(weights),
        hidden=hidden,
        widest=max(weight.shape[0] for weight in matrices),
        vocabulary=vocabulary,
        context=config.get("max_position_embeddings") or 2048,
        packed=any(weight.format not in ("F32", "F16", "BF16") for weight in matrices),
        uncut=max((weight.nbytes for weight in matrices if len(weight.spans) > 1), default=0),
    )


def _kv_width(weights: dict[str, Weight]) -> int:
    """Numbers of one layer's keys of a token."""
    attention = "model.layers.0.self_attn."
    if keys := weights.get(f"{attention}k_proj.weight"):
        return keys.shape[0]
    fused, output = weights[f"{attention}qkv_proj.weight"], weights[f"{attention}o_proj.weight"]
    return (fused.shape[0] - output.shape[1]) // 2
