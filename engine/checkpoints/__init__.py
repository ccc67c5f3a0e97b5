"""Reading checkpoints: every tensor as a span, the model and its tokenizer as plain data.

A new file format is one new file with `claims(path)` and `read(path)`, and one line in `FORMATS`.
Free of torch and transformers: the window reads headers too.
"""

from collections.abc import Callable
from pathlib import Path

from engine.checkpoints import gguf, safetensors
from engine.checkpoints.checkpoint import (
    Checkpoint,
    Generation,
    GgufVocabulary,
    Groups,
    Span,
    TokenizerFolder,
    Weight,
    read_span,
)
from engine.errors import BadCheckpoint, ModelNotFound, UnsupportedModel

__all__ = [
    "Checkpoint",
    "Generation",
    "GgufVocabulary",
    "Groups",
    "Span",
    "TokenizerFolder",
    "Weight",
    "open_checkpoint",
    "read_span",
]

FORMATS: tuple[tuple[Callable[[Path], bool], Callable[[Path], Checkpoint]], ...] = (
    (gguf.claims, gguf.read),
    (safetensors.claims, safetensors.read),
)


def open_checkpoint(path: Path) -> Checkpoint:
    """Read and check the header of the model at `path` (a file or a folder).

    Raises `ModelNotFound`, `BadCheckpoint` (damaged, contradictory, unsafe) or `UnsupportedModel`.
    """
    path = Path(path).absolute()
    try:
        if not path.exists():
            raise ModelNotFound(f"There is no file or folder {path}.", "Check the path.")
        for claims, read in FORMATS:
            if claims(path):
                return read(path)
    except OSError as error:
        raise BadCheckpoint(
            f"{path.name[:200]} cannot be read: {error.strerror}.", "Check the path, its rights and the disk."
        ) from error
    raise UnsupportedModel(
        f"{path.name} is no model in a format this program reads.",
        "Choose a .gguf file, or a folder with config.json and .safetensors files.",
    )
