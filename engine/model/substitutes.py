"""Substitutes: a model's own matrices in fewer bits, kept on the disk once they are made."""

import hashlib
import logging
import shutil
from contextlib import suppress
from pathlib import Path

import numpy as np
import platformdirs
from numpy.typing import NDArray

from engine.checkpoints import Weight, read_span
from engine.checkpoints.storage import stored_nbytes
from engine.files import identity, write_whole
from engine.formats import format_named
from engine.formats.encode import encoded
from engine.formats.format import RowFormat
from engine.planner.substitutes import FORMATS, nearest_format

log = logging.getLogger(__name__)

ENCODING = 2  # version of `engine.formats.encode`: substitutes of another one are made anew
_PIECE_NBYTES = 32 << 20
_CHECKSUM = 32


def substitute_format(weight: Weight, wanted: str) -> str | None:
    """Return the format of the weight's substitute: of those that suit the weight, the one that has about as
    many bits as `wanted`. None if none would be much smaller."""
    if not isinstance(format_named(weight.format), RowFormat):
        return None
    found = nearest_format(wanted, weight.shape[1], 8 * weight.nbytes / weight.numel)
    return found.name if found else None


class SubstituteFiles:
    """The substitutes of one model on the disk, a file each: a checksum, and the blocks. Those of other
    models are deleted, and those of the same matrix in other formats, so that only one model's take room, and
    only once. What the disk refuses is made anew the next time.
    """

    def __init__(self, weights: dict[str, Weight], folder: Path | None = None) -> None:
        """weights: those of the model, by name. folder: of all models' substitutes; None: in the user's
        cache."""
        folder = folder or _usual_folder()
        files = identity(span.file for weight in weights.values() for span in weight.spans)
        facts = [ENCODING, *files]
        self._folder = folder / hashlib.blake2b(repr(facts).encode(), digest_size=16).hexdigest()
        with suppress(OSError):
            for other in folder.iterdir() if folder.is_dir() else ():
                if other != self._folder:
                    shutil.rmtree(other, ignore_errors=True)

    def of(self, name: str, weight: Weight, form: str) -> NDArray[np.uint8]:
        """Return the weight's substitute in the format `form`, uint8 [bytes]. Raises BadCheckpoint if the
        weight cannot be read."""
        path = self._folder / f"{name}.{form}"
        found = self._read(path, stored_nbytes(form, weight.shape))
        if found is not None:
            return found
        made = substitute(weight, form)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            for other in FORMATS:
                (self._folder / f"{name}.{other.name}").unlink(missing_ok=True)
            write_whole(path, _digest(made) + made.tobytes(), single_writer=True)
        except OSError as error:
            log.warning("%s is not kept on the disk: %s", path.name, error)
        return made

    @staticmethod
    def _read(path: Path, nbytes: int) -> NDArray[np.uint8] | None:
        try:
            data = np.fromfile(path, np.uint8)
        except OSError:
            return None
        found = data[_CHECKSUM:]
        if len(found) != nbytes or data[:_CHECKSUM].tobytes() != _digest(found):
            return None
        return found


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
    stored = format_named(weight.format)
    assert isinstance(stored, RowFormat)
    made = []
    for piece in weight.cut(_PIECE_NBYTES):
        numbers = np.empty(piece.numel, np.float32)
        stored.unpack(read_span(piece.spans[0]), numbers)
        made.append(encoded(form, numbers))
    return np.concatenate(made)


def _digest(data: NDArray[np.uint8]) -> bytes:
    return hashlib.blake2b(data.data, digest_size=_CHECKSUM).digest()
