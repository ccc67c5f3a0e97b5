"""How many numbers a model has and how many bytes they take in each form, by its configuration alone.

So a plan can be made before anything is downloaded. Counts tensors; a GGUF file is some MB larger (it holds
the vocabulary), a folder too.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from engine.catalog.gguf_mixes import storage
from engine.catalog.models import Model, Variant
from engine.checkpoints.storage import stored_nbytes

Matrix = tuple[str, int, int]  # name as in gguf_mixes, rows, columns


@dataclass(frozen=True, slots=True)
class LayerBytes:
    """Bytes of one decoder layer as stored.

    Attributes: `attention` (Q, K, V, O), `mlp` (of a mixture all its experts), `expert` (one of them; the
    whole MLP where there is one), `other` (norms, biases, the router).
    """

    attention: int
    mlp: int
    expert: int
    other: int

    @property
    def total(self) -> int:
        return self.attention + self.mlp + self.other


# -- numbers -------------------------------------------------------------------------------------------------


def parameters(model: Model) -> int:
    """All numbers of the model; a tied head counts once."""
    return _numbers(model, max(model.experts, 1))


def active_parameters(model: Model) -> int:
    """Numbers one token is multiplied with: of a mixture the experts it is routed to."""
    return _numbers(model, max(model.experts_per_token, 1))


def _numbers(model: Model, experts: int) -> int:
    attention = sum(rows * columns for _, rows, columns in _attention(model))
    expert = sum(rows * columns for _, rows, columns in _mlp(model, model.intermediate))
    layer = attention + experts * expert + _vectors(model) + model.experts * model.hidden
    tables = (1 if model.tied else 2) * model.vocabulary * model.hidden
    return model.layers * layer + tables + model.hidden


def _attention(model: Model) -> Iterator[Matrix]:
    wide, narrow = model.heads * model.head_dim, model.kv_heads * model.head_dim
    yield "q", wide, model.hidden
    yield "k", narrow, model.hidden
    yield "v", narrow, model.hidden
    yield "o", model.hidden, wide


def _mlp(model: Model, intermediate: int) -> Iterator[Matrix]:
    """Of one expert."""
    yield "gate", intermediate, model.hidden
    yield "up", intermediate, model.hidden
    yield "down", model.hidden, intermediate


def _vectors(model: Model) -> int:
    """Numbers in the norms and biases of one layer."""
    gemma = model.architecture.startswith("gemma")
    norms = (4 if gemma else 2) * model.hidden
    if model.architecture in ("qwen3", "gemma3_text"):
        norms += 2 * model.head_dim
    biases = (model.heads + 2 * model.kv_heads) * model.head_dim if model.architecture == "qwen2" else 0
    return norms + biases


# -- bytes ---------------------------------------------------------------------------------------------------


def layer_nbytes(model: Model, variant: Variant, layer: int) -> LayerBytes:
    """Of layer 0, 1, ...: in a GGUF file some layers take more than others."""
    intermediate = variant.intermediate or model.intermediate

    def nbytes(matrices: Iterator[Matrix]) -> int:
        return sum(_matrix_nbytes(model, variant, matrix, layer) for matrix in matrices)

    expert = nbytes(_mlp(model, intermediate))
    others = _vectors(model) + model.experts * model.hidden
    return LayerBytes(
        attention=nbytes(_attention(model)),
        mlp=expert * max(model.experts, 1),
        expert=expert,
        other=others * _vector_itemsize(variant),
    )


def embedding_nbytes(model: Model, variant: Variant) -> int:
    return _table_nbytes(model, variant, "embedding")


def head_nbytes(model: Model, variant: Variant) -> int:
    """0 where the head is the embedding."""
    shared = model.tied and not (variant.own_head and variant.format == "gguf")
    return 0 if shared else _table_nbytes(model, variant, "head")


def weights_nbytes(model: Model, variant: Variant) -> int:
    """Of all weights that are loaded, as stored."""
    layers = sum(layer_nbytes(model, variant, layer).total for layer in range(model.layers))
    last_norm = model.hidden * _vector_itemsize(variant)
    return embedding_nbytes(model, variant) + layers + last_norm + head_nbytes(model, variant)


def files_nbytes(model: Model, variant: Variant) -> int:
    """Of all weights in the files, with the head of a tied model that is not loaded."""
    unused = variant.own_head and head_nbytes(model, variant) == 0
    return weights_nbytes(model, variant) + (_table_nbytes(model, variant, "head") if unused else 0)


def kv_row_nbytes(model: Model, itemsize: int = 2) -> int:
    """Keys and values of one token in all layers; `itemsize`: bytes of a number."""
    return 2 * model.layers * model.kv_heads * model.head_dim * itemsize


def _table_nbytes(model: Model, variant: Variant, name: str) -> int:
    if variant.format == "gguf":
        kind = storage(model, variant, name, 0, model.hidden)
        return stored_nbytes(kind, (model.vocabulary, model.hidden))
    return 2 * model.vocabulary * model.hidden  # GPTQ and AWQ leave the embedding and the head alone


def _matrix_nbytes(model: Model, variant: Variant, matrix: Matrix, layer: int) -> int:
    name, rows, columns = matrix
    if variant.format == "gguf":
        return stored_nbytes(storage(model, variant, name, layer, columns), (rows, columns))
    if variant.format == "16-bit":
        return 2 * rows * columns
    # qweight; scales (16-bit) and zeros of each group; GPTQ's g_idx.
    groups = 1 if variant.group_size == -1 else -(-columns // variant.group_size)
    index = 4 * columns if variant.format == "gptq" else 0
    return rows * columns * variant.bits // 8 + groups * rows * (16 + variant.bits) // 8 + index


def _vector_itemsize(variant: Variant) -> int:
    return 4 if variant.format == "gguf" else 2  # llama.cpp keeps vectors and the router in float32
