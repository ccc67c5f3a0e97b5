"""Files written by torch.save: only plain tensors are read from them."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import ZIP_STORED, ZipFile

import torch
from numpy.typing import NDArray
from torch import Tensor

from engine import reads
from engine.arrays import on_host
from engine.checkpoints import Span, read_span
from engine.checkpoints.safetensors import DAMAGED
from engine.errors import BadCheckpoint

_DTYPES = (torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.bool)


@dataclass(frozen=True, slots=True)
class PickledTensor:
    """A tensor in a file written by torch.save. Attributes: `described`, without numbers; `span`, where those
    are from which it is made. They are read like all others: through a mapped file, a disk that fails or a
    file that is cut meanwhile would end the process (SIGBUS), and Windows would not let go of the file."""

    described: Tensor
    span: Span

    def read(self) -> NDArray[Any]:
        """Read the numbers; bfloat16 becomes float32. The errors are those of `read_span`."""
        like = self.described
        if not like.numel():
            return on_host(torch.empty(like.shape, dtype=like.dtype))
        stored = torch.from_numpy(read_span(self.span)).view(like.dtype)
        return on_host(stored.as_strided(like.shape, like.stride()).contiguous())


def unpickled(file: Path) -> dict[str, PickledTensor]:
    """Return the tensors in a file written by torch.save. `weights_only` refuses anything that would run
    code. Raises BadCheckpoint."""
    with reads.noted():
        try:
            # Opened here, for torch would open it by a name of 8-bit characters, which on Windows are few.
            with file.open("rb") as opened:
                state = os.fstat(opened.fileno())
                records = _records(opened)
                opened.seek(0)
                tensors = torch.load(opened, map_location="meta", weights_only=True)
        except Exception as error:  # a damaged pickle fails in many ways
            reason = str(error).partition("\n")[0][:200]
            raise BadCheckpoint(f"{file.name} is not a file of plain tensors: {reason}", DAMAGED) from error
    if not isinstance(tensors, dict) or not all(map(_is_plain, tensors.values())):
        raise BadCheckpoint(f"{file.name} contains more than plain tensors.", DAMAGED)
    found = {}
    for name, tensor in tensors.items():
        begin, span = _begin(tensor), _span(file, tensor, state.st_mtime_ns)
        if begin not in records:  # torch computes it, and does not look
            raise BadCheckpoint(
                f"{file.name} was not packed by torch: its numbers do not lie where torch puts them.",
                "Save it again with torch.save, or download another file.",
            )
        # Without numbers, torch enlarges a storage that is smaller than its tensor, and says nothing.
        is_beyond = span.offset + span.nbytes > begin + records[begin]
        if is_beyond or max(tensor.nbytes, span.nbytes) > state.st_size:
            raise BadCheckpoint(f"{file.name} contains more than plain tensors.", DAMAGED)
        found[str(name)] = PickledTensor(tensor, span)
    return found


def _records(file: BinaryIO) -> dict[int, int]:
    """Return the bytes of each record of the archive `file` that is not compressed, by where it begins.
    Raises ValueError if their numbers have another byte order than this machine's: torch would swap bytes
    that are not in memory."""
    archive: Any = torch._C.PyTorchFileReader(file)
    if archive.has_record("byteorder") and archive.get_record("byteorder") != sys.byteorder.encode():
        raise ValueError("its byte order is not this machine's")
    entries = ZipFile(file).infolist()
    plain = {each.filename.partition("/")[2] for each in entries if each.compress_type == ZIP_STORED}
    names = plain.intersection(archive.get_all_records())
    return {archive.get_record_offset(name): archive.get_record_size(name) for name in names}


def _is_plain(value: object) -> bool:
    """Return whether `value` is a dense tensor whose numbers are in the file."""
    return (
        isinstance(value, Tensor)
        and value.layout == torch.strided
        and not value.is_neg()  # or else the stored numbers have the other sign
        and value.dtype in _DTYPES
        and getattr(value.untyped_storage(), "_checkpoint_offset", None) is not None
    )


def _begin(tensor: Tensor) -> int:
    """Return where the record of a tensor begins that `_is_plain` has found to have one."""
    return tensor.untyped_storage()._checkpoint_offset or 0


def _span(file: Path, tensor: Tensor, modified: int) -> Span:
    """Return where the numbers of a tensor are that `torch.load` has described without them."""
    offset = _begin(tensor) + int(tensor.storage_offset()) * tensor.element_size()
    steps = zip(tensor.shape, tensor.stride(), strict=True)
    numbers = 1 + sum((size - 1) * step for size, step in steps) if tensor.numel() else 0
    return Span(
        file, offset, numbers * tensor.element_size(), tuple(tensor.shape), str(tensor.dtype), modified
    )
