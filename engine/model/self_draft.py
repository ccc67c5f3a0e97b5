"""A streamed model as its own draft (SubSpec, arXiv 2509.18344): it shares all that stays in memory with
the target, rows of the KV cache included, and has substitutes of fewer bits for the streamed matrices."""

from collections.abc import Iterable

from engine.checkpoints import Checkpoint, Weight
from engine.compiled.matrix import Matrix, StreamedMatrix, tiled
from engine.compiled.packer import tile_packer
from engine.compiled.product import prepare_products
from engine.errors import BadOption
from engine.formats import format_named
from engine.formats.format import RowFormat
from engine.model.compiled import CompiledModel
from engine.model.compiled_weights import CompiledWeights
from engine.model.description import Description, describe
from engine.model.interface import Model, Progress
from engine.model.loader import can_stream_compiled
from engine.model.rotary import RotaryFactors
from engine.model.substitutes import SubstituteFiles, substitute_format
from engine.model.weight_names import EMBEDDING, HEAD, checked_weights, expected_weights, is_matrix
from engine.planner.substitutes import SMALLEST

HINT = "Choose another draft, or none (--draft none)."


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

    Raises BadOption if the target is not streamed through compiled passes, is stored in few bits already, or
    has layers with states; BadCheckpoint if its weights cannot be read.
    """
    if not isinstance(target, CompiledModel):
        raise no_self_draft()
    description = describe(checkpoint)
    _refuse_states(description)
    if not target.streamer or not target.streamer.pass_nbytes:
        raise BadOption("The whole target is in memory, so that its own copy would be no faster.", HINT)
    _refuse_mixtures(description)
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
    if len(formats) < len(streamed):
        raise _without_substitutes(streamed.values())
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
    """Raise BadOption unless compiled passes cover the model while it is streamed, all its layers attend, and
    its matrices have substitutes. Reads no weights.

    Raises UnsupportedModel or BadCheckpoint if the checkpoint cannot be used."""
    _refuse_states(describe(checkpoint))
    if not can_stream_compiled(checkpoint):
        raise no_self_draft()
    _refuse_mixtures(describe(checkpoint))
    matrices = [weight for name, weight in checkpoint.weights.items() if is_matrix(name, weight)]
    if not all(substitute_format(weight, SMALLEST) for weight in matrices):
        raise _without_substitutes(matrices)


def _refuse_states(description: Description) -> None:
    """Raise BadOption if layers have states: a draft reads the target's rows, but states are not shared."""
    if description.states:
        raise BadOption("A model whose layers have states cannot draft for itself.", HINT)


def _refuse_mixtures(description: Description) -> None:
    """Raise BadOption for a mixture: a pass reads few of its experts, and a draft would hold all of them."""
    if description.mixture:
        raise BadOption("A mixture of experts cannot draft for itself.", HINT)


def _without_substitutes(matrices: Iterable[Weight]) -> BadOption:
    if not all(isinstance(format_named(matrix.format), RowFormat) for matrix in matrices):
        return BadOption("No copy is made of matrices whose scales are stored apart, as in FP8.", HINT)
    return BadOption("The target is stored in few bits already: a copy would hardly be smaller.", HINT)


def no_self_draft() -> BadOption:
    return BadOption(
        "A model can draft for itself only if it runs compiled passes on the processor; this one does not.",
        HINT,
    )
