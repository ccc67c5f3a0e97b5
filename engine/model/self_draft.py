"""A streamed model as its own draft (SubSpec, arXiv 2509.18344): it shares all that stays in memory with
the target, rows of the KV cache included, and has substitutes of fewer bits for the streamed matrices."""

from engine.checkpoints import Checkpoint
from engine.compiled.matrix import Matrix, StreamedMatrix, tiled
from engine.compiled.packer import tile_packer
from engine.compiled.product import prepare_products
from engine.errors import BadOption
from engine.model.compiled import CompiledModel
from engine.model.compiled_weights import CompiledWeights
from engine.model.description import describe
from engine.model.interface import Model, Progress
from engine.model.loader import can_stream_compiled
from engine.model.rotary import RotaryFactors
from engine.model.substitute_files import SubstituteFiles, substitute_format
from engine.model.weight_names import EMBEDDING, HEAD, checked_weights, expected_weights
from engine.planner import checkpoint_outline, no_self_draft, own_draft_refusal
from engine.planner.pairs import OTHER_DRAFT


def load_self_draft(
    target: Model,
    checkpoint: Checkpoint,
    context: int,
    substitutes: str,
    progress: Progress,
    cache: str = "F16",
) -> CompiledModel:
    """Return a draft made of a loaded model itself.

    target: as `load_compiled` has returned it for `checkpoint`, with streamed matrices. context, cache: as
    for `load_compiled`. substitutes: the format of the streamed matrices, as planned; a matrix that it does
    not suit has the next best. progress: called with the bytes done and in total; may end the loading by
    raising.

    Raises BadOption if the target is not streamed through compiled passes, or for what `check_self_draft`
    finds; BadCheckpoint if its weights cannot be read.
    """
    if not isinstance(target, CompiledModel):
        raise no_self_draft()
    check_self_draft(checkpoint)
    description = describe(checkpoint)
    if not target.streamer or not target.streamer.pass_nbytes:
        raise BadOption(
            "The whole target is in memory, so that its own copy would be no faster.", OTHER_DRAFT
        )
    weights, tied = checked_weights(checkpoint, expected_weights(description), description.tied)
    if tied:
        weights = {**weights, HEAD: weights[EMBEDDING]}
    lent = target.weights
    streamed = {
        name: weights[name]
        for name, group in lent.matrices.items()
        if any(isinstance(each, StreamedMatrix) for each in group)
    }
    formats = {
        name: form for name, weight in streamed.items() if (form := substitute_format(weight, substitutes))
    }
    assert len(formats) == len(streamed)
    for form in sorted({*formats.values()}):
        prepare_products(form)
        tile_packer(form)
    files = SubstituteFiles(checkpoint.weights)
    total, done = sum(weight.nbytes for weight in streamed.values()), 0
    matrices = dict(lent.matrices)
    for name, weight in streamed.items():
        progress(done, total)
        form = formats[name]
        made = files.of(name, weight, form)
        row_nbytes, row = len(made) // weight.shape[0], 0
        pieces: list[Matrix] = []
        for matrix in lent.matrices[name]:
            rows = matrix.shape[0]
            here = made[row * row_nbytes : (row + rows) * row_nbytes]
            pieces.append(tiled(form, matrix.shape, here) if isinstance(matrix, StreamedMatrix) else matrix)
            row += rows
        matrices[name] = pieces
        done += weight.nbytes
    progress(total, total)
    shared = lent.vectors, lent.table, lent.adjacent
    own = CompiledWeights(matrices, *shared, lender=lent, inputs=lent.inputs)
    rotary = RotaryFactors(description.rotary, context)
    return CompiledModel(description, rotary, own, target.vocabulary, cache)


def check_self_draft(checkpoint: Checkpoint) -> None:
    """Raise BadOption unless a model can draft for itself: plans refuse what its outline speaks against;
    here, compiled passes must cover it while it is streamed, too. Reads no weights.

    Raises UnsupportedModel or BadCheckpoint if the checkpoint cannot be used."""
    describe(checkpoint)
    refusal = own_draft_refusal(checkpoint_outline(checkpoint, checkpoint.path.stem))
    if refusal is None and not can_stream_compiled(checkpoint):
        refusal = no_self_draft()
    if refusal is not None:
        raise refusal
