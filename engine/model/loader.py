"""Loads a checkpoint to compute on the processor at its packed size. Independent of file formats."""

from engine.checkpoints import Checkpoint, Weight
from engine.checkpoints.grouped import without_plain_indices
from engine.compiled.layout import layout_of
from engine.compiled.parts_packer import packer_of
from engine.compiled.product import prepare_products
from engine.formats import GroupedFormat, format_named, grouped_blocks, joined
from engine.model.architectures import family_of
from engine.model.compiled import CompiledModel
from engine.model.compiled_weights import read_weights
from engine.model.coverage import covers, declared
from engine.model.description import Description, describe
from engine.model.interface import Progress, no_progress
from engine.model.rotary import RotaryFactors
from engine.model.weight_names import (
    are_apart,
    check_layers,
    checked_weights,
    expected_weights,
    usual_names,
)
from engine.streaming import WeightLimits


def load_compiled(
    checkpoint: Checkpoint,
    progress: Progress,
    context: int,
    vocabulary: int | None = None,
    limits: WeightLimits | None = None,
    layer_progress: Progress = no_progress,
    cache: str = "F16",
) -> CompiledModel | None:
    """Load a model to compute on the CPU at its packed size. Return None if compiled steps do not cover the
    model.

    context: maximum number of tokens in a text; the rotary frequencies may depend on it. vocabulary: number
    of tokens, if the output head is padded to more rows; the padding gets no logits. limits: bytes that
    resident matrices may take; the other matrices are streamed from the files. progress: called with the
    bytes read and the bytes in total; may end the loading by raising. layer_progress: called with the number
    of complete layers and of layers to load. cache: format of keys and values in the KV cache, F16 or Q8_0.

    Raises UnsupportedModel or BadCheckpoint if the checkpoint cannot be used; BadOption if a limit is too
    small; StreamBroken if streaming fails."""
    description = describe(checkpoint)
    found = _covered(checkpoint, description, limits is not None)
    if found is None:
        return None
    weights, tied = found
    rotary = RotaryFactors(description.rotary, context)
    read = read_weights(weights, tied, limits, progress, layer_progress)
    return None if read is None else CompiledModel(description, rotary, read, vocabulary, cache)


def can_stream_compiled(checkpoint: Checkpoint) -> bool:
    """Return whether compiled steps cover the model while some of its weights are streamed. Reads no weights.

    Raises UnsupportedModel or BadCheckpoint if the checkpoint cannot be used."""
    return _covered(checkpoint, describe(checkpoint), streamed=True) is not None


def _covered(
    checkpoint: Checkpoint, description: Description, streamed: bool
) -> tuple[dict[str, Weight], bool] | None:
    """Return the weights by the names that llama's have, and whether the embedding is the head; None if
    compiled steps do not cover the model. streamed: whether some weights are streamed."""
    # First, for a configuration may name any number of layers.
    check_layers(checkpoint, description.layers)
    in_turn = any(weight.in_turn for weight in checkpoint.weights.values())
    others = in_turn and not family_of(checkpoint.architecture).biased_experts
    if others or not declared(description):  # names are transformers' affair
        return None
    expected = expected_weights(description, in_turn, are_apart(checkpoint.weights))
    weights, tied = checked_weights(checkpoint, expected, description.tied)
    weights = usual_names(checkpoint.architecture, weights)
    if not streamed:
        weights = without_plain_indices(weights)
    return (weights, tied) if covers(description, weights, streamed) else None


def prepare_compiled(checkpoint: Checkpoint) -> None:
    """Compile the kernels for the checkpoint's formats that have tiles, or that are written in such formats;
    or read them from the cache."""
    weights = checkpoint.weights.values()
    grouped = {
        weight.groups.bits
        for weight in weights
        if weight.groups and isinstance(format_named(weight.format), GroupedFormat)
    }
    if grouped:
        grouped_blocks.prepare_kernel()
    names = {weight.format for weight in weights}
    names |= {name for bits in grouped for name in grouped_blocks.targets(bits)}
    if joined.APART in names:
        joined.prepare_kernel()
        names.remove(joined.APART)
        names.add(joined.JOINED)
    layouts = {name: layout for name in sorted(names) if (layout := layout_of(name))}
    for layout in sorted({*layouts.values()}):
        prepare_products(layout)
    for name in layouts:
        packer_of(name)
