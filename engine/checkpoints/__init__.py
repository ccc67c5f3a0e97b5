"""Read checkpoints: every tensor as a span of bytes in a file, the model and its tokenizer as plain data.

Supporting a new file format takes one module with `claims(path)` and `read(path)`, and one line in `FORMATS`.
Free of torch and transformers, because the window reads headers too.
"""

from collections.abc import Callable
from pathlib import Path

from engine import reads
from engine.checkpoints import gguf, safetensors
from engine.checkpoints.checkpoint import (
    USUAL_GROUPS,
    Checkpoint,
    Generation,
    GgufVocabulary,
    Groups,
    Span,
    TokenizerFolder,
    Weight,
    packing_name,
    read_span,
)
from engine.errors import BadCheckpoint, ModelNotFound, UnsupportedModel

__all__ = [
    "USUAL_GROUPS",
    "Checkpoint",
    "Generation",
    "GgufVocabulary",
    "Groups",
    "Span",
    "TokenizerFolder",
    "Weight",
    "open_checkpoint",
    "packing_name",
    "read_span",
]

FORMATS: tuple[tuple[Callable[[Path], bool], Callable[[Path], Checkpoint]], ...] = (
    (gguf.claims, gguf.read),
    (safetensors.claims, safetensors.read),
)


def open_checkpoint(path: Path) -> Checkpoint:
    """Read and check the headers of the model at `path`, a file or a folder. Weights are not read.

    Raises `ModelNotFound` if `path` does not exist; `BadCheckpoint` if the model cannot be read or is
    damaged, contradictory or unsafe; `UnsupportedModel` if its format or architecture is not supported.
    """
    path = Path(path).absolute()
    try:
        with reads.noted():
            if not path.exists():
                raise ModelNotFound(f"{path} does not exist.", "Check the path.")
            claimed = next((read for claims, read in FORMATS if claims(path)), None)
        if claimed is not None:
            return claimed(path)
    except OSError as error:
        raise BadCheckpoint(
            f"{path.name[:200]} cannot be read: {error.strerror}.",
            "Check the path, its permissions and the disk.",
        ) from error
    raise UnsupportedModel(
        f"{path.name} is not a model in a supported format.",
        "Choose a .gguf file, or a folder with config.json and .safetensors files.",
    )
