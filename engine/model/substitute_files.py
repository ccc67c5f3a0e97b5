"""Substitutes: a model's own matrices in fewer bits, kept on the disk once they are made."""

import hashlib
import logging
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import numpy as np
import platformdirs
from numpy.typing import NDArray

from engine import reads
from engine.checkpoints import Checkpoint, Weight, read_span
from engine.checkpoints.storage import stored_nbytes
from engine.compiled.matrix import TiledMatrix
from engine.files import identity, write_whole
from engine.formats import format_named
from engine.formats.encode import encoded
from engine.formats.format import RowFormat
from engine.formats.jit import spread
from engine.model.compiled_weights import tiled_matrix
from engine.model.weight_names import EMBEDDING, HEAD, is_matrix
from engine.planner.substitute_formats import FORMATS, nearest_format

log = logging.getLogger(__name__)

ENCODING = 2  # version of `engine.formats.encode`: substitutes of another one are made anew
_PIECE_NBYTES = 32 << 20
_ROWS = 16  # that a thread unpacks at a time
_CHECKSUM = 32


def substitute_format(weight: Weight, wanted: str) -> str | None:
    """Return the format of the weight's substitute: of those that suit the weight, the one that has about as
    many bits as `wanted`. None if none would be much smaller."""
    found = nearest_format(wanted, weight.shape[1], 8 * weight.nbytes / weight.numel)
    return found.name if found else None


def kept_formats(checkpoint: Checkpoint) -> frozenset[str]:
    """Return the formats of `kept_shares`."""
    return frozenset(kept_shares(checkpoint))


def kept_shares(checkpoint: Checkpoint) -> dict[str, float]:
    """Return the formats with which fewest of the model's substitutes would have to be made, because the disk
    has the others, each with the share of weights that it has; none if it has none."""
    matrices = {name: weight for name, weight in checkpoint.weights.items() if is_matrix(name, weight)}
    if HEAD not in matrices:
        matrices[HEAD] = matrices[EMBEDDING]
    files = SubstituteFiles(checkpoint.weights)
    there = {form.name: files.kept(matrices, form.name) for form in FORMATS}
    most = max(there.values())
    total = sum(weight.numel for weight in matrices.values())
    return {name: count / total for name, count in there.items() if count == most > 0}


class SubstituteFiles:
    """The substitutes of one model on the disk, a file each: a checksum, and the blocks. Those of other
    models are deleted when a new one is made, and those of the same matrix in other formats, so that only one
    model's take room, and only once. What the disk refuses is made anew the next time.
    """

    def __init__(self, weights: dict[str, Weight], folder: Path | None = None) -> None:
        """weights: those of the model, by name. folder: of all models' substitutes; None: in the user's
        cache."""
        folder = folder or _usual_folder()
        files = identity(span.file for weight in weights.values() for span in weight.spans)
        facts = [ENCODING, *files]
        self._folder = folder / hashlib.blake2b(repr(facts).encode(), digest_size=16).hexdigest()

    def kept(self, matrices: Mapping[str, Weight], wanted: str) -> int:
        """Return how many weights have a substitute here if `wanted` is the planned format."""
        formats = {name: substitute_format(weight, wanted) for name, weight in matrices.items()}
        return sum(
            weight.numel
            for name, weight in matrices.items()
            if (form := formats[name]) and (self._folder / f"{name}.{form}").is_file()
        )

    def of(self, name: str, weight: Weight, form: str) -> NDArray[np.uint8]:
        """Return the weight's substitute in the format `form`, uint8 [bytes]. Raises BadCheckpoint if the
        weight cannot be read."""
        path = self._folder / f"{name}.{form}"
        found = self._read(path, stored_nbytes(form, weight.shape))
        if found is not None:
            return found
        made = substitute(weight, form)
        try:
            self._make_room()
            for other in FORMATS:
                (self._folder / f"{name}.{other.name}").unlink(missing_ok=True)
            write_whole(path, _digest(made) + made.tobytes(), single_writer=True)
        except OSError as error:
            log.warning("%s is not kept on the disk: %s", path.name, error)
        return made

    def _make_room(self) -> None:
        with suppress(OSError):
            for other in self._folder.parent.iterdir():
                if other != self._folder:
                    shutil.rmtree(other, ignore_errors=True)
        self._folder.mkdir(parents=True, exist_ok=True)

    @staticmethod
    def _read(path: Path, nbytes: int) -> NDArray[np.uint8] | None:
        try:
            data = reads.aside(lambda: _content(path))
        except OSError:
            return None
        found = data[_CHECKSUM:]
        if len(found) != nbytes or data[:_CHECKSUM].tobytes() != _digest(found):
            return None
        return found


def _content(path: Path) -> NDArray[np.uint8]:
    """Return the bytes of a file, uint8 [bytes]. Raises OSError."""
    with reads.opened(path) as file:
        data = np.empty(os.fstat(file.fileno()).st_size, np.uint8)
        return data[: reads.fill(data.data, file)]


def free_for_substitutes() -> int:
    """Return how many bytes the disk has room for; 0 if it does not tell."""
    folder = _usual_folder()
    try:
        return shutil.disk_usage(next(each for each in (folder, *folder.parents) if each.exists())).free
    except OSError:
        return 0


def _usual_folder() -> Path:
    return platformdirs.user_cache_path("specexec-desktop", appauthor=False) / "substitutes"


def substitute(weight: Weight, form: str) -> NDArray[np.uint8]:
    """Return the numbers of a matrix rounded to the format `form`, uint8 [bytes]."""
    return np.concatenate([encoded(form, numbers) for numbers in _numbers(weight)])


def _numbers(weight: Weight) -> Iterator[NDArray[np.float32]]:
    """Yield the numbers of a matrix, float32 [numbers], some rows at a time."""
    stored = format_named(weight.format)
    if isinstance(stored, RowFormat):
        for piece in weight.cut(_PIECE_NBYTES):
            numbers = np.empty(piece.numel, np.float32)
            stored.unpack(read_span(piece.spans[0]), numbers)
            yield numbers
        return
    matrix = tiled_matrix(weight, [read_span(span) for span in weight.spans])
    assert matrix is not None  # what is streamed has tiles
    rows, columns = matrix.shape
    step = max(1, _PIECE_NBYTES // (4 * columns))
    for start in range(0, rows, step):
        yield _read(matrix, np.arange(start, min(start + step, rows))).reshape(-1)


def _read(matrix: TiledMatrix, which: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return the rows `which` of a matrix, float32 [rows, columns], unpacked on all cores."""
    out = np.empty((len(which), matrix.shape[1]), np.float32)
    spread(len(which), lambda start, stop: matrix.rows(which[start:stop], out[start:stop]), _ROWS)
    return out


def _digest(data: NDArray[np.uint8]) -> bytes:
    return hashlib.blake2b(data.data, digest_size=_CHECKSUM).digest()
