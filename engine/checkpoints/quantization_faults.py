"""The errors of folders with quantized weights, in the words that their readers share."""

from engine.checkpoints.checkpoint import Span
from engine.errors import BadCheckpoint, UnsupportedModel

DAMAGED = "The settings do not match the files, or a file is damaged. Download the model again."
OTHERS = "Choose the original weights, or a GGUF file of this model."


def bad(span: Span, name: str, reason: str) -> BadCheckpoint:
    """Return the error of a tensor that does not fit the others. name: its own, or that of its module."""
    return BadCheckpoint(f"{span.file.name} is invalid: {name[:200]}: {reason}.", DAMAGED)


def unsupported(how: str, others: str = OTHERS) -> UnsupportedModel:
    """Return the error of weights that are stored in an unknown way. others: what to choose instead."""
    return UnsupportedModel(f"Weights stored {how} are not supported.", others)
