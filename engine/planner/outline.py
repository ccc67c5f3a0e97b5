"""Outlines of models: how many weights their parts have, and how many bytes these take as stored.

An outline is read from the header of a checkpoint, or taken from the catalogue if the model does not exist
locally.
"""

import re
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from engine import catalog
from engine.catalog import CatalogModel, Variant, sizes
from engine.catalog.models import THROUGH_TORCH
from engine.checkpoints import Checkpoint, Weight, cuts, open_checkpoint
from engine.checkpoints.drafts import draft_layer, stays_stored
from engine.checkpoints.names import EMBEDDINGS
from engine.checkpoints.recurrent import state_row_nbytes, states_nbytes
from engine.checkpoints.windows import ROOM, kept_slots, saved_rows, windowed_layers
from engine.errors import ModelNotFound
from engine.machine.disk_reads import SECTOR
from engine.planner.choices import choice_nbytes, row_choices
from engine.planner.heads import HeadsOutline
from engine.planner.kv_rows import kv_width
from engine.planner.launches import Matrices, catalogued_matrices, stored_matrices
from engine.planner.substitute_formats import Sized, Substitutes, substitutes_of
from engine.planner.tiles import (
    GROUPED_TILE_BITS,
    average_packing,
    have_tiles,
    kept_nbytes,
    near_experts,
    tile_bits,
    tiling_nbytes,
)
from engine.planner.uneven import catalogued_uneven, stored_uneven
from engine.routing import RoutingCounts, RoutingFile

# Gemma 3n and 4: the table of inputs that layers have of their own, which is read by rows as an embedding is;
# and what a pass multiplies before the first layer, and counts as part of it.
_INPUT_TABLE = "model.embed_tokens_per_layer.weight"
_OF_LAYERS = re.compile(r"model\.(?:layers\.(\d+)|per_layer_model_projection|altup_projections)\.")

# Shares of all experts that are in the cache, and the hit rates that these give: those of made-up routing
# with the skew and the overlap of consecutive tokens that are published of models with 128 experts
# (`specexec bench experts --before 200`).
USUAL_HITS = ((0.0, 0.1, 0.25, 0.4, 0.6, 1.0), (0.0, 0.759, 0.859, 0.903, 0.942, 1.0))
# If a token uses a larger share of the experts, tokens use them nearly evenly, and a cache hits its share
# (Jiang et al., "Mixtral of Experts", 2024, section 5).
FEW = 0.2


@dataclass(frozen=True, slots=True)
class Outline:
    """The sizes of a model's parts.

    Attributes: `name`: the id or path by which the model was looked up; `file`: the name of the model's
    file or folder, which does not depend on how the model was looked up.
    In stored bytes: `layers`: each layer, the first with what is multiplied before it; `head`; `embedding`,
    with the table of inputs of layers; `uncut`: the largest matrix that can only be moved whole, 0 if there
    is none. `tiling`: bytes that all weights take beyond the stored ones in the tiles of compiled passes,
    where these are much larger. `packing`: how many times as long as usual it takes to bring a streamed byte
    into such tiles, on average. `lendable`: the share of the layers' bytes by which a processor can multiply
    beside a card: in no expert, and stored in one piece, in a format of compiled passes; `near_experts`:
    whether it can do so with experts.
    In numbers: `layer_weights`: weights of all layers; `table_weights`: weights of the head; `kv_row`: keys
    and values of one token; `window_row`: those of them that are in layers with a window; `hidden`: one row
    between layers; `widest`: the widest row within a layer.
    In tokens: `vocabulary`; `context`; `window`, of layers that have one, or 0.
    In bytes of memory: `states`: one copy of those of layers that have a state instead of rows;
    `state_row`: what these layers keep of one row of a tree, its record.
    `uneven`: bytes of memory that a row of a compiled pass takes because layers differ.
    Of a mixture: `experts`: bytes of its experts, 0 if there are none; `expert`: those of one; `chosen`:
    share of the experts that a token uses; `choices`: bytes of memory that a row of a compiled pass takes for
    its experts; `answers`: numbers that a row's experts give in torch's passes; `routing`: counts of earlier
    answers, or None.
    `tied`: whether head and embedding are the same matrix; `active`: share of the layers' weights used for
    one token (less than 1 in a mixture of experts); `packed`: whether weights are unpacked for products;
    `matrices`: those by which a pass multiplies;
    `compiled`: whether the processor runs compiled passes, which multiply weights at their packed size;
    `own_layer`: the layer for drafts that comes with the model, or None; `substitutes`: those with which it
    could draft for itself, none if they would not be much smaller.
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
    compiled: bool = False
    tiling: int = 0
    packing: float = 1.0
    lendable: float = 0.0
    near_experts: bool = False
    states: int = 0
    state_row: int = 0
    uneven: int = 0
    experts: int = 0
    expert: int = 0
    chosen: float = 1.0
    choices: int = 0
    answers: int = 0
    routing: RoutingCounts | None = None
    matrices: Matrices = ()
    own_layer: HeadsOutline | None = None
    substitutes: tuple[Substitutes, ...] = ()
    window: int = 0
    window_row: int = 0

    def kept(self, context: int, apart: bool, whole: bool = False) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return what the KV cache of a text of `context` tokens has in layers without a window, and in those
        with one: rows, and numbers in each. apart: whether it lies in a card's memory, and savepoints in RAM.
        whole: whether layers with a window keep all rows, too."""
        slots = context if whole or not self.window else kept_slots(self.window, context, apart)
        return (context, self.kv_row - self.window_row), (slots, self.window_row)

    def saved(self, context: int, apart: bool) -> tuple[int, int]:
        """Return the same of the savepoints of rows in layers with a window, at most."""
        return saved_rows(self.window, context, apart) if self.window else 0, self.window_row

    def pass_rows(self, rows: int, context: int, apart: bool) -> int:
        """Return how many rows of a prompt a pass reads that has memory for so many. apart: as for `kept`."""
        return min(rows, context, ROOM if self.saved(context, apart)[0] else context)

    @property
    def nbytes(self) -> int:
        """Bytes of all weights as stored."""
        return self.multiplied + self.tables

    @property
    def multiplied(self) -> int:
        """Bytes of the layers and the head as stored."""
        return sum(self.layers) + self.head

    @property
    def tables(self) -> int:
        """Bytes that are read by rows only: the embedding, if it is not the head, and inputs of layers."""
        return max(0, self.embedding - self.head) if self.tied else self.embedding

    @property
    def expansion(self) -> float:
        """How many bytes each stored byte of the weights takes in the tiles of compiled passes."""
        return 1 + self.tiling / self.nbytes

    @property
    def weights(self) -> int:
        """Number of weights."""
        return self.layer_weights + self.table_weights * (1 if self.tied else 2)

    @property
    def piece(self) -> int:
        """Bytes of the largest piece of a matrix that is moved whole, at most: matrices are cut into no fewer
        rows than `cuts.ROWS`. Some are stored with up to twice as many bits per weight as the average."""
        bits = 2 * 8 * sum(self.layers) / self.layer_weights
        return max(self.uncut, int(cuts.ROWS * max(self.widest, self.hidden) * bits / 8)) + 2 * SECTOR

    def _apart(self, rows: int) -> float:
        """Return how many rows that choose experts on their own use as many as `rows` rows of a tree: fewer,
        if earlier answers taught how many they share."""
        return self.routing.rows_apart(rows) if self.routing else rows

    def touched(self, rows: int) -> float:
        """Return the expected share of the layers' weights that a pass over `rows` rows uses."""
        return float(1 - (1 - self.active) * (1 - self.chosen) ** (self._apart(rows) - 1))

    def hit_rate(self, share: float, cautious: bool = False) -> float:
        """Return the share of a token's experts that are in a cache of a `share` of all experts: by what
        earlier answers taught, else by what is usual, or, if that is `cautious`, as if all were used alike.
        """
        if self.routing:
            return self.routing.hit_rate(share)
        return share if self.chosen > FEW or cautious else float(np.interp(share, *USUAL_HITS))

    def missed(self, rows: int, share: float, cautious: bool = False) -> float:
        """Return the bytes of experts that a pass over `rows` rows reads beside a cache of a `share` of all
        experts. Rows that share experts miss less than each alone; a cache has its share of any experts.
        cautious: as for `hit_rate`."""
        apart = self._apart(rows)
        alone = apart * self.chosen * (1 - self.hit_rate(share, cautious))
        return float(self.experts * min(alone, (1 - (1 - self.chosen) ** apart) * (1 - share)))


def variant_outline(model: CatalogModel, variant: Variant) -> Outline:
    """Return the outline of a catalogue model in one of its variants."""
    outline = _outline_of(model, variant)
    installed = catalog.find(variant) if model.experts else None
    return replace(outline, routing=RoutingFile(installed).read()) if installed else outline


@cache  # a recommendation asks for all of them, which takes long to compute
def _outline_of(model: CatalogModel, variant: Variant) -> Outline:
    """Return the same, without what earlier answers taught."""
    table = model.vocabulary * model.hidden
    tables = table * (1 if model.tied else 2)
    inputs = sizes.input_parameters(model)
    layer_weights = sizes.parameters(model) - tables - inputs
    own_head = sizes.head_nbytes(model, variant)
    embedding = sizes.embedding_nbytes(model, variant)
    intermediate = variant.intermediate or model.intermediate
    active = (sizes.active_parameters(model) - tables - inputs) / layer_weights
    of_layers = [sizes.layer_nbytes(model, variant, layer) for layer in range(model.layers)]
    first, *others = (layer.total for layer in of_layers)
    layers = (first + sizes.projection_nbytes(model, variant), *others)
    experts = sum(layer.experts for layer in of_layers)
    file = variant.file_name or variant.repository.rpartition("/")[2]
    multiplied = list(sizes.multiplied(model, variant))
    return Outline(
        name=variant.id,
        file=file,
        layers=layers,
        head=own_head or embedding,
        embedding=embedding + sizes.inputs_nbytes(model, variant),
        tied=not own_head,
        layer_weights=layer_weights,
        active=active,
        table_weights=table,
        kv_row=sizes.kv_row_nbytes(model, itemsize=1),
        hidden=model.hidden,
        widest=max(rows for rows, *_ in multiplied),
        vocabulary=model.vocabulary,
        context=model.context,
        packed=variant.format != "16-bit",
        # One bit is added to each weight for the scales, which take sixteen bits for each group of columns.
        uncut=model.hidden * intermediate * (variant.bits + 1) // 8 if variant.bits else 0,
        compiled=variant.format in ("gguf", "16-bit") and model.compiled,
        tiling=tiling_nbytes(layer_weights, GROUPED_TILE_BITS[variant.bits], sum(layers))
        if variant.bits and model.compiled
        else 0,
        lendable=1 - experts / sum(layers) if variant.format in ("gguf", "16-bit") else 0.0,
        near_experts=bool(model.experts) and variant.format in ("gguf", "16-bit"),
        experts=experts,
        expert=max(layer.experts for layer in of_layers) // model.experts if model.experts else 0,
        chosen=model.experts_per_token / model.experts if model.experts else 1.0,
        choices=choice_nbytes(
            *(model.hidden, intermediate, model.experts, model.experts_per_token),
            *(variant.format == "16-bit", sizes.has_gates(model)),
        )
        if model.experts
        else 0,
        answers=model.experts_per_token * model.hidden if model.experts else 0,
        matrices=catalogued_matrices(model, variant),
        states=sizes.states_nbytes(model),
        state_row=sizes.state_row_nbytes(model),
        uneven=catalogued_uneven(model, variant),
        own_layer=_catalogued_layer(model, variant) if variant.mtp else None,
        substitutes=_catalogued_substitutes(model, variant, own_head or embedding),
        window=model.sliding_window,
        window_row=sizes.window_row_nbytes(model, itemsize=1),
    )


def _catalogued_layer(model: CatalogModel, variant: Variant) -> HeadsOutline:
    nbytes, matrices = sizes.mtp_nbytes(model, variant), list(sizes.mtp_matrices(model, variant))
    return HeadsOutline(
        stored=nbytes,
        unpacked=0,
        kv_row=2 * model.kv_heads * model.head_dim,
        tiles=nbytes if model.compiled else None,
        weights=sum(rows * columns * count for rows, columns, count in matrices),
        read=model.hidden,
        width=model.hidden,
        widest=max(rows for rows, _, _ in matrices),
        logits=model.vocabulary,
        shares_head=True,
        is_layer=True,
    )


def _catalogued_substitutes(model: CatalogModel, variant: Variant, head: int) -> tuple[Substitutes, ...]:
    """head: bytes of the output head."""
    if model.experts or variant.bits:
        return ()
    layers = (sizes.multiplied_in(model, variant, layer) for layer in range(model.layers))
    matrices = [[(rows, columns, nbytes) for rows, columns, nbytes, _ in layer] for layer in layers]
    return substitutes_of(matrices, (model.vocabulary, model.hidden, head))


def checkpoint_outline(checkpoint: Checkpoint, name: str) -> Outline:
    """Return the outline of a model that exists locally. name: the id or path it was looked up by."""
    config, weights = checkpoint.config, checkpoint.weights
    layers: dict[int, int] = {}
    multiplied_in: dict[int, list[Sized]] = {}
    layer_weights = expert_weights = expert_nbytes = 0
    mixtures: set[int] = set()  # the layers that have one
    for key, weight in weights.items():
        if found := _OF_LAYERS.match(key):
            number = int(found[1] or 0)
            layers[number] = layers.get(number, 0) + weight.nbytes
            layer_weights += weight.numel
            of_layer = multiplied_in.setdefault(number, [])
            if len(weight.shape) == 2:
                of_layer.append((weight.shape[0], weight.shape[1], weight.nbytes))
            if ".experts." in key:
                expert_weights += weight.numel
                expert_nbytes += weight.nbytes
                mixtures.add(number)
    table = _embedding(checkpoint)
    vocabulary, hidden = table.shape
    head = weights.get("lm_head.weight")
    per_layer = weights.get(_INPUT_TABLE)
    multiplied = [weight for key, weight in weights.items() if key != _INPUT_TABLE]
    names = ("num_local_experts", "num_experts", "n_routed_experts")
    experts = next((config[name] for name in names if config.get(name)), 1)
    compiled = checkpoint.architecture not in THROUGH_TORCH
    used = config.get("num_experts_per_tok") or experts
    chosen = used / experts
    idle = expert_weights * (1 - chosen)
    matrices = [weight for key, weight in weights.items() if len(weight.shape) == 2 and ".layers." in key]
    window, windowed = windowed_layers(checkpoint)
    return Outline(
        name=name,
        file=checkpoint.path.name,
        layers=tuple(layers[number] for number in sorted(layers)),
        head=(head or table).nbytes,
        embedding=table.nbytes + (per_layer.nbytes if per_layer else 0),
        tied=head is None,
        layer_weights=layer_weights,
        active=1 - idle / layer_weights,
        table_weights=table.numel,
        kv_row=2 * kv_width(weights),
        hidden=hidden,
        widest=max(weight.shape[0] for weight in matrices),
        vocabulary=vocabulary,
        context=config.get("max_position_embeddings") or 2048,
        packed=any(weight.format not in ("F32", "F16", "BF16") for weight in matrices),
        uncut=max((weight.nbytes for weight in matrices if len(weight.spans) > 1), default=0),
        compiled=compiled and have_tiles(weights),
        tiling=sum(tiling_nbytes(weight.numel, tile_bits(weight), weight.nbytes) for weight in multiplied)
        if compiled
        else 0,
        packing=average_packing(multiplied),
        lendable=1 - sum(map(kept_nbytes, weights, weights.values())) / sum(layers.values()),
        near_experts=near_experts(weights),
        matrices=stored_matrices(weights, head or table),
        states=states_nbytes(checkpoint),
        state_row=state_row_nbytes(checkpoint),
        uneven=stored_uneven(weights, hidden),
        experts=expert_nbytes,
        expert=expert_nbytes // (experts * len(mixtures)) if mixtures else 0,
        chosen=chosen,
        choices=row_choices(weights, experts, used),
        answers=used * hidden if expert_nbytes else 0,
        routing=RoutingFile(checkpoint.path).read() if expert_nbytes else None,
        own_layer=layer_outline(checkpoint),
        substitutes=()
        if mixtures
        else substitutes_of(
            [multiplied_in[number] for number in sorted(layers)], (vocabulary, hidden, (head or table).nbytes)
        ),
        window=window,
        window_row=2 * kv_width(weights, windowed),
    )


def _embedding(checkpoint: Checkpoint) -> Weight:
    return next(checkpoint.weights[name] for name in EMBEDDINGS if name in checkpoint.weights)


def layer_outline(checkpoint: Checkpoint) -> HeadsOutline | None:
    """Return the outline of the layer for drafts that comes with a model; None if there is none."""
    layer = draft_layer(checkpoint)
    if layer is None:
        return None
    vocabulary, hidden = _embedding(checkpoint).shape
    weights, is_stored = layer.weights.values(), stays_stored(layer)
    more = sum(tiling_nbytes(weight.numel, tile_bits(weight), weight.nbytes) for weight in weights)
    return HeadsOutline(
        stored=layer.nbytes if is_stored else 0,
        unpacked=0 if is_stored else sum(weight.numel for weight in weights),
        kv_row=2 * kv_width(layer.weights),
        tiles=layer.nbytes + more if have_tiles(layer.weights) else None,
        weights=sum(weight.numel for weight in weights),
        read=hidden,
        width=hidden,
        widest=max(weight.shape[0] for weight in weights),
        logits=vocabulary,
        shares_head=True,
        is_layer=True,
    )


def outline_named(name: str) -> Outline:
    """Return the outline of the model with this id or path.

    Raises ModelNotFound if there is no such model; the errors of `open_checkpoint` if it cannot be opened.
    """
    try:
        return checkpoint_outline(open_checkpoint(catalog.resolve(name)), name)
    except ModelNotFound:
        if name in catalog.entries():
            return catalogued(name)
        if name in catalog.catalog().models:
            return catalogued(catalog.catalog().models[name].variants[0].id)
        raise


def catalogued(id: str) -> Outline:
    """Return the outline of the variant with this id; it is taken from the catalogue only."""
    variant = catalog.entries()[id]
    return variant_outline(catalog.catalog().models[variant.model], variant)
