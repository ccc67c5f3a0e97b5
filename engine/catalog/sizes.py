"""Compute a model's number of parameters, and their size in each format, from its configuration.

This allows planning before a download. Only tensors are counted; a GGUF file or a folder is some MB larger,
because it also contains the vocabulary. The choice of storage formats in GGUF files follows
llama_tensor_get_type in llama-quant.cpp of ggml-org/llama.cpp.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from engine.catalog.models import ATTENDS, FEEDS, RECURS, CatalogModel, Variant
from engine.catalog.states import LayerStates, Matrix
from engine.checkpoints.storage import BLOCKS, stored_nbytes


@dataclass(frozen=True, slots=True)
class LayerBytes:
    """The stored bytes of one decoder layer.

    Attributes: `attention`, the bytes of the matrices Q, K, V and O, or of what is in their place; `mlp`,
    those of the MLP, with all experts of a mixture; `expert`, those of one expert that is chosen, or of the
    whole MLP if there are none; `experts`, those of all that are chosen; `other`, those of norms, biases,
    sinks, the router, and what brings a layer's own inputs into it.
    """

    attention: int
    mlp: int
    expert: int
    experts: int
    other: int

    @property
    def total(self) -> int:
        return self.attention + self.mlp + self.other


# -- parameters ----------------------------------------------------------------------------------------------


def parameters(model: CatalogModel) -> int:
    """Return the number of parameters; a tied head counts once."""
    return _parameters(model, model.experts)


def active_parameters(model: CatalogModel) -> int:
    """Return the number of parameters used for one token. In a mixture, only the routed experts count."""
    return _parameters(model, model.experts_per_token)


def _parameters(model: CatalogModel, experts: int) -> int:
    """Return the number of parameters with so many of a layer's experts."""
    tables = (1 if model.tied else 2) * model.vocabulary * model.hidden + input_parameters(model)
    layers = 0
    for layer in range(model.layers):
        width = inner_width(model, layer, model.intermediate)
        always = (*_attention(model, layer), *_inputs(model), *_shared(model, layer))
        layers += sum(rows * columns for _, rows, columns in always) + _others(model, layer)
        one = sum(rows * columns for _, rows, columns in _mlp(model, width)) + _expert_vectors(model)
        layers += _copies(model, layer, experts) * one
    return layers + tables + _projection(model) + model.hidden


def _copies(model: CatalogModel, layer: int, experts: int) -> int:
    """Return how many MLPs a layer has: none, one, or `experts`, if it has any."""
    return (experts if model.experts_at(layer) else 1) if model.feeds(layer) else 0


def input_parameters(model: CatalogModel) -> int:
    """Return the number of parameters in the table of the inputs that layers have of their own."""
    return model.vocabulary * model.layers * model.inputs.width if model.inputs else 0


def _projection(model: CatalogModel) -> int:
    """Return the number of parameters of what makes another part of these inputs from the embedding."""
    return model.inputs.width * (model.layers * model.hidden + 1) if model.inputs else 0


def _attention(model: CatalogModel, layer: int = 0) -> Iterator[Matrix]:
    """Yield the matrices of a layer's attention, or of what it has in its place."""
    if states := states_at(model, layer):
        yield from states.matrices(model.hidden)
    if model.kind(layer) != ATTENDS:
        return
    rows = model.heads * model.row(layer)[1]
    gated = 2 if model.architecture in _GATED else 1  # gates of a head's output follow its queries
    yield "q", gated * rows, model.hidden
    if model.attends(layer):
        yield from _keys(model, layer)
    yield "o", model.hidden, rows


def states_at(model: CatalogModel, layer: int) -> LayerStates | None:
    """Return what a layer has that has a state, or None."""
    return model.states if model.kind(layer) == RECURS else None


def _keys(model: CatalogModel, layer: int) -> Iterator[Matrix]:
    """Yield the matrices of a layer's keys and values."""
    kv_heads, width = model.row(layer)
    yield "k", kv_heads * width, model.hidden
    wide = model.wide_at(layer)
    if wide is None or wide.values:
        yield "v", kv_heads * width, model.hidden


def _inputs(model: CatalogModel) -> Iterator[Matrix]:
    """Yield the matrices that bring a layer's own inputs into it."""
    if model.inputs:
        yield "gate of inputs", model.inputs.width, model.hidden
        yield "inputs", model.hidden, model.inputs.width


def inner_width(model: CatalogModel, layer: int, intermediate: int) -> int:
    """Return the width of a layer's MLP, or of one of its experts. intermediate: that of most layers."""
    if model.dense and layer < model.dense.layers:
        return model.dense.intermediate
    twice = model.inputs is not None and model.inputs.twice and not model.attends(layer)
    return 2 * intermediate if twice else intermediate


def _shared(model: CatalogModel, layer: int) -> Iterator[Matrix]:
    """Yield the matrices of the expert that every token uses."""
    has = model.shared_expert and model.experts_at(layer)
    return _mlp(model, model.shared_expert) if has else iter(())


def has_gates(model: CatalogModel) -> bool:
    """Return whether MLPs and experts have a gate; without one, they square what they project."""
    return model.architecture not in _UNGATED


def _mlp(model: CatalogModel, intermediate: int) -> Iterator[Matrix]:
    """Yield the matrices of one expert, or of the MLP if there is no mixture."""
    if has_gates(model):
        yield "gate", intermediate, model.hidden
    yield "up", intermediate, model.hidden
    yield "down", model.hidden, intermediate


def _others(model: CatalogModel, layer: int) -> int:
    """Return the number of parameters in the norms, biases, convolution and router of one layer."""
    gate = model.hidden if model.shared_expert and model.architecture in _GATED else 0
    return _vectors(model, layer) + (_router(model) + gate if model.experts_at(layer) else 0)


def _vectors(model: CatalogModel, layer: int) -> int:
    """Return the number of parameters in the norms, biases and convolution of one layer."""
    four = model.architecture.startswith("gemma") or model.architecture == "glm4"
    norms = (4 if four else 1 if FEEDS in model.pattern else 2) * model.hidden
    if states := states_at(model, layer):
        return norms + states.vectors(model.hidden)
    if model.kind(layer) == FEEDS:
        return norms
    if model.architecture in _NORMALIZED:
        norms += (2 if model.attends(layer) else 1) * model.row(layer)[1]
    if model.architecture in ("olmo2", "olmo3"):  # they normalize those of all heads together
        norms += (model.heads + model.kv_heads) * model.head_dim
    if model.architecture == "gemma4_text":
        norms += 1  # a factor of what the layer returns
    if model.inputs:
        norms += model.hidden
    biased = model.architecture in ("qwen2", "seed_oss", "glm4", "glm4_moe")
    biases = (model.heads + 2 * model.kv_heads) * model.head_dim if biased else 0
    if model.architecture == "gpt_oss":  # biases of Q, K, V and O, and a sink for each head
        biases = (model.heads + 2 * model.kv_heads) * model.head_dim + model.hidden + model.heads
    return norms + biases


def _router(model: CatalogModel) -> int:
    """Return the number of parameters in the router of one layer, with a bias of its choice."""
    return model.experts * (model.hidden + (1 if model.architecture in _BIASED_CHOICE else 0))


def _expert_vectors(model: CatalogModel) -> int:
    """Return the number of parameters in the biases of one expert."""
    return 2 * model.intermediate + model.hidden if model.architecture == "gpt_oss" else 0


# Architectures that normalize queries and keys, each head by itself.
# fmt: off
_NORMALIZED = (
    "qwen3", "qwen3_moe", "gemma3_text", "gemma4_text", "qwen3_5_text", "qwen3_5_moe_text", "qwen3_next",
    "lfm2", "lfm2_moe",
)
# fmt: on
_GATED = ("qwen3_5_text", "qwen3_5_moe_text", "qwen3_next")  # gates behind attention and the shared expert
_UNGATED = ("nemotron_h",)  # MLPs that square instead of having a gate
_BIASED_CHOICE = ("gpt_oss", "glm4_moe", "nemotron_h", "lfm2_moe")


# -- bytes ---------------------------------------------------------------------------------------------------


def layer_nbytes(model: CatalogModel, variant: Variant, layer: int) -> LayerBytes:
    """Return the bytes of one layer. layer: 0, 1, ...; in a GGUF file, some layers are larger than others."""
    intermediate = inner_width(model, layer, variant.intermediate or model.intermediate)

    def nbytes(matrices: Iterator[Matrix]) -> int:
        return sum(_matrix_nbytes(model, variant, matrix, layer) for matrix in matrices)

    one = nbytes(_mlp(model, intermediate))
    experts = model.experts_at(layer) * one
    alone = _copies(model, layer, 0) * one
    vectors = _others(model, layer) + model.experts_at(layer) * _expert_vectors(model)
    return LayerBytes(
        attention=nbytes(_attention(model, layer)),
        mlp=alone + experts + nbytes(_shared(model, layer)),
        expert=one if alone or experts else 0,
        experts=experts,
        other=vectors * _vector_itemsize(variant) + nbytes(_inputs(model)),
    )


def layer_matrices(model: CatalogModel, variant: Variant) -> list[Matrix]:
    """Return the matrices of a layer of a model that is no mixture, in the order of use."""
    return [*_attention(model), *_mlp(model, variant.intermediate or model.intermediate)]


def multiplied(model: CatalogModel, variant: Variant) -> Iterator[tuple[int, int, int, bool]]:
    """Yield the matrices of all layers, each as (rows, columns, bytes as stored, whether all experts of its
    layer have one of this kind)."""
    for layer in range(model.layers):
        yield from multiplied_in(model, variant, layer)


def multiplied_in(model: CatalogModel, variant: Variant, layer: int) -> Iterator[tuple[int, int, int, bool]]:
    """Yield the same of one layer."""
    has_experts = model.experts_at(layer) > 0
    width = inner_width(model, layer, variant.intermediate or model.intermediate)
    mlp = list(_mlp(model, width)) if model.feeds(layer) else []
    always = [*_attention(model, layer), *_inputs(model), *_shared(model, layer)]
    if has_experts:
        yield model.experts, model.hidden, _router(model) * _vector_itemsize(variant), False
    for of_expert, matrices in ((False, always), (has_experts, mlp)):
        for name, rows, columns in matrices:
            nbytes = _matrix_nbytes(model, variant, (name, rows, columns), layer)
            yield rows, columns, nbytes, of_expert


def embedding_nbytes(model: CatalogModel, variant: Variant) -> int:
    return _table_nbytes(model, variant, "embedding")


def inputs_nbytes(model: CatalogModel, variant: Variant) -> int:
    """Return the bytes of the table of the inputs that layers have of their own."""
    if model.inputs is None:
        return 0
    return _table_nbytes(model, variant, "head", model.layers * model.inputs.width)  # stored as a head is


def head_nbytes(model: CatalogModel, variant: Variant) -> int:
    """Return the bytes of the head that is loaded; 0 if the embedding is used as the head."""
    shared = model.tied and not (variant.own_head and variant.format == "gguf")
    return 0 if shared else _table_nbytes(model, variant, "head")


def weights_nbytes(model: CatalogModel, variant: Variant) -> int:
    """Return the stored bytes of all weights that a loaded model needs."""
    layers = sum(layer_nbytes(model, variant, layer).total for layer in range(model.layers))
    last_norm = model.hidden * _vector_itemsize(variant)
    tables = embedding_nbytes(model, variant) + head_nbytes(model, variant) + inputs_nbytes(model, variant)
    return tables + layers + last_norm + projection_nbytes(model, variant)


def projection_nbytes(model: CatalogModel, variant: Variant) -> int:
    """Return the bytes of what makes inputs of layers from the embedding; 0 if there are none."""
    norm = model.inputs.width if model.inputs else 0
    return 2 * (_projection(model) - norm) + norm * _vector_itemsize(variant)


def files_nbytes(model: CatalogModel, variant: Variant) -> int:
    """Return the bytes of all weights in the files, including those that are not loaded: a head, an MTP
    layer, and the keys and values of layers that use those of earlier ones."""
    unused = variant.own_head and head_nbytes(model, variant) == 0
    head = _table_nbytes(model, variant, "head") if unused else 0
    mtp = mtp_nbytes(model, variant) if variant.mtp else 0
    return weights_nbytes(model, variant) + head + mtp + _unused_keys_nbytes(model, variant)


def _unused_keys_nbytes(model: CatalogModel, variant: Variant) -> int:
    if model.inputs is None:
        return 0
    layers = range(model.layers - model.inputs.shared, model.layers)
    matrices = ((matrix, layer) for layer in layers for matrix in _keys(model, layer))
    norms = sum(model.row(layer)[1] for layer in layers) * _vector_itemsize(variant)
    return norms + sum(_matrix_nbytes(model, variant, matrix, layer) for matrix, layer in matrices)


def kv_row_nbytes(model: CatalogModel, itemsize: int = 2) -> int:
    """Return the bytes that one token's keys and values take in all layers. itemsize: bytes per number."""
    shapes = [model.row(layer) for layer in range(model.layers) if model.attends(layer)]
    return sum(2 * heads * width * itemsize for heads, width in shapes)


def window_row_nbytes(model: CatalogModel, itemsize: int = 2) -> int:
    """Return the same for layers with a window alone."""
    layers = (layer for layer in range(model.layers) if model.attends(layer) and model.slides(layer))
    return sum(2 * heads * width * itemsize for heads, width in map(model.row, layers))


def states_nbytes(model: CatalogModel) -> int:
    """Return the bytes of one copy of a text's states, in float32; 0 if all layers attend. As
    `engine.checkpoints.recurrent`, which counts those of a local model."""
    states = model.states
    if states is None:
        return 0
    return 4 * _recurrent(model) * states.numbers(model.hidden)


def state_row_nbytes(model: CatalogModel) -> int:
    """Return the bytes that layers with states keep of one row until the target has chosen."""
    return 4 * _recurrent(model) * model.states.row_numbers(model.hidden) if model.states else 0


def _recurrent(model: CatalogModel) -> int:
    return sum(model.kind(layer) == RECURS for layer in range(model.layers))


def mtp_nbytes(model: CatalogModel, variant: Variant) -> int:
    """Return the bytes of an MTP layer: a layer that attends, and what joins a token and a state."""
    joining = _matrix_nbytes(model, variant, _join(model), _last_attending(model))
    norms = 3 * model.hidden * _vector_itemsize(variant)
    return layer_nbytes(model, variant, _last_attending(model)).total + joining + norms


def mtp_matrices(model: CatalogModel, variant: Variant) -> Iterator[tuple[int, int, int]]:
    """Yield the matrices of an MTP layer, each as (rows, columns, how many there are)."""
    for rows, columns, _, of_expert in multiplied_in(model, variant, _last_attending(model)):
        yield rows, columns, model.experts if of_expert else 1
    yield *_join(model)[1:], 1


def _last_attending(model: CatalogModel) -> int:
    return max(layer for layer in range(model.layers) if model.attends(layer))


def _join(model: CatalogModel) -> Matrix:
    """Return the matrix that joins a token and a state in an MTP layer."""
    return "join", model.hidden, 2 * model.hidden


def _table_nbytes(model: CatalogModel, variant: Variant, name: str, columns: int = 0) -> int:
    """Return the bytes of a table for each token. columns: of it, or 0 for the width of a state."""
    columns = columns or model.hidden
    if variant.format == "gguf":
        kind = storage(model, variant, name, 0, columns)
        return stored_nbytes(kind, (model.vocabulary, columns))
    return 2 * model.vocabulary * columns  # GPTQ and AWQ do not quantize the embedding and the head


def _matrix_nbytes(model: CatalogModel, variant: Variant, matrix: Matrix, layer: int) -> int:
    name, rows, columns = matrix
    if variant.format == "gguf":
        return stored_nbytes(storage(model, variant, name, layer, columns), (rows, columns))
    if variant.format == "16-bit":
        return 2 * rows * columns
    return sum(grouped_nbytes(variant, rows, columns))


def grouped_nbytes(variant: Variant, rows: int, columns: int) -> list[int]:
    """Return the bytes of the parts of a matrix in GPTQ or AWQ: the numbers, the zero points, the scales (16
    bits each), and in GPTQ the group of each column."""
    groups = 1 if variant.group_size == -1 else -(-columns // variant.group_size)
    index = [4 * columns] if variant.format == "gptq" else []
    zero_points = groups * rows * variant.bits // 8
    return [rows * columns * variant.bits // 8, zero_points, groups * rows * 2, *index]


def _vector_itemsize(variant: Variant) -> int:
    return 4 if variant.format == "gguf" else 2  # llama.cpp stores vectors and the router in float32


# -- storage formats in GGUF files ---------------------------------------------------------------------------

MIXES: dict[str, tuple[str, str]] = {  # name: (default format, format for the most important matrices)
    "Q4_0": ("Q4_0", "Q4_0"),
    "Q4_1": ("Q4_1", "Q4_1"),
    "Q4_K_M": ("Q4_K", "Q6_K"),
    "Q4_K_M-2023": (
        "Q4_K",
        "Q4_K",
    ),  # Q4_K_M of mixtures in 2023: llama.cpp did not yet find the layer of an expert in its name
    "Q4_K_M-2026": ("Q4_K", "Q6_K"),  # Q4_K_M of gated DeltaNet in 2026, as `_OF_DELTA` differs
    "Q5_K_M": ("Q5_K", "Q6_K"),
    "Q6_K": ("Q6_K", "Q6_K"),
    "Q8_0": ("Q8_0", "Q8_0"),
    "MXFP4": ("Q8_0", "Q8_0"),  # gpt-oss: as Q8_0, but for the experts
}
# The storage of matrices of gated DeltaNet in Q4_K_M-2026; in earlier files it is that of others. The tensors
# of unsloth's Qwen3.6-27B then have the bytes that public code states of its Q4_K_M (16,806,250,496), and
# those of its Qwen3.8-27B, too, with the MTP layer.
_OF_DELTA = {"strength": "F32", "decay": "F32", "out": "Q5_K", "join": "Q8_0"}
# Substitutes for matrices whose row length is not a multiple of 256.
_FOR_NARROW = {"Q4_K": "Q5_0", "Q5_K": "Q5_1", "Q6_K": "Q8_0"}


def storage(model: CatalogModel, variant: Variant, matrix: str, layer: int, columns: int) -> str:
    """Return the storage format of a matrix in a GGUF file.

    matrix: "embedding" or "head"; or a name of a layer's matrices, such as "q" or "down", in layer `layer`.
    columns: the matrix's row length.
    """
    if variant.mix == "MXFP4" and matrix in ("gate", "up", "down"):
        return "MXFP4"
    default, better = MIXES[variant.mix]
    new_delta = variant.mix == "Q4_K_M-2026"
    kind = _OF_DELTA.get(matrix, default) if new_delta else default
    if matrix == "head" or (matrix == "embedding" and model.tied and not variant.own_head):
        kind = "Q8_0" if default == "Q8_0" or columns % BLOCKS[default][0] else "Q6_K"
    elif matrix in ("v", "down", *(("qkv",) if new_delta else ())) and _is_important(layer, model.layers):
        kind = better
    fused = model.architecture == "phi3" and matrix in ("q", "k", "v")
    if (matrix == "qkv" or fused) and variant.mix in ("Q4_K_M", "Q5_K_M"):
        kind = {"Q4_K_M": "Q5_K", "Q5_K_M": "Q6_K"}[variant.mix]
    if matrix == "v" and model.layers == 80 and kind == "Q4_K":  # 70B: eight query heads share one value head
        kind = "Q5_K"
    if model.experts == 8:
        if matrix in ("k", "v"):
            kind = "Q8_0"
        elif matrix == "o" and variant.mix == "Q4_K_M":
            kind = "Q5_K"
    return _FOR_NARROW.get(kind, kind) if columns % BLOCKS[kind][0] else kind


def _is_important(layer: int, layers: int) -> bool:
    """Whether a layer's important matrices get the better format (`use_more_bits` in llama.cpp).

    The first and the last eighth of the layers do, and every third layer between. llama.cpp counts layers in
    file order, so in a file that sorts them by name (0, 1, 10, 11, ...), other layers get the better format,
    but the same number of them.
    """
    eighth = layers // 8
    return layer < eighth or layer >= 7 * layers // 8 or (layer - eighth) % 3 == 2
