"""Memory of the card for tests: its addresses lie in pages that nothing may touch, and what is stored there
lies elsewhere, where only the card's kernels look."""

import ctypes
import mmap
import threading
from collections.abc import Callable, Sequence

import numpy as np
import torch
from numba import cfunc, types
from torch import Tensor

RESERVED = 64 << 30  # addresses; they take no memory
ALIGNMENT = 512
POISON = 0xFF  # NaN in every float format, and no valid index
TENSORS = 1 << 16  # the most that can exist

# DLPack's numbers (dlpack.h, DLManagedTensor): of a device outside the tree, which torch calls PrivateUse1,
# and of dtypes. A tensor's description takes eight words; behind it, there are whether the tensor is gone,
# and up to eight sizes and eight strides.
_EXTENSION_DEVICE = 12
_CODES = {
    torch.bool: 6, torch.uint8: 1, torch.uint16: 1, torch.uint32: 1, torch.int8: 0, torch.int16: 0,
    torch.int32: 0, torch.int64: 0, torch.float16: 2, torch.float32: 2, torch.float64: 2, torch.bfloat16: 4,
}  # fmt: skip
_GONE, _SIZES, _STRIDES, _WORDS = 8, 9, 17, 25


# Called when the last tensor that shows a block is gone. It runs no Python, because an error may be set then.
@cfunc(types.void(types.CPointer(types.int64)))
def _delete(words):
    words[_GONE] = 1


_capsule = ctypes.pythonapi.PyCapsule_New
_capsule.restype = ctypes.py_object
_capsule.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)


class Block:
    """One allocation. Attributes: `content`, the bytes stored there, as a storage of the processor; `freed`,
    what is called once no tensor shows the block."""

    def __init__(self, nbytes: int, freed: Callable[["Block"], None]) -> None:
        self.nbytes = nbytes
        self.freed = freed
        with torch.inference_mode(False):
            self.content = torch.full((nbytes,), POISON, dtype=torch.uint8).untyped_storage()

    def poison(self) -> None:
        torch.empty(0, dtype=torch.uint8).set_(self.content).fill_(POISON)


class Memory:
    """The card's memory. Attributes: `nbytes`, its size; `peak`, the most bytes that were in use."""

    def __init__(self) -> None:
        self.nbytes = 1 << 30
        self._used = 0
        self.peak = 0
        self._pages = mmap.mmap(-1, RESERVED, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=0)
        self._next = np.frombuffer(self._pages, np.uint8).ctypes.data
        self._stop = self._next + RESERVED
        self._lock = threading.RLock()
        self._table = np.zeros((TENSORS, _WORDS), np.int64)
        self._free = list(range(TENSORS - 1, -1, -1))
        self._rows = 0  # of the table that were ever used
        self._blocks: dict[int, Block] = {}  # by address

    @property
    def used(self) -> int:
        """The bytes of all blocks that tensors show."""
        self.collect()
        return self._used

    def tensor(
        self,
        shape: Sequence[int],
        strides: Sequence[int],
        dtype: torch.dtype,
        freed: Callable[[Block], None],
    ) -> Tensor:
        """Return a new tensor on the card, full of poison. freed: as that of `Block`. Raises OutOfMemoryError
        if the card has no room for it."""
        last = sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
        nbytes = 0 if 0 in shape else (last + 1) * dtype.itemsize
        with self._lock:
            if self.used + nbytes > self.nbytes:
                raise torch.OutOfMemoryError(f"Tried to allocate {nbytes} bytes. {self._used} are in use.")
            address = self._next
            self._next += -(-max(nbytes, 1) // ALIGNMENT) * ALIGNMENT
            assert self._next <= self._stop, "the card's addresses are used up"
            self._used += nbytes
            self.peak = max(self.peak, self._used)
            self._blocks[address] = Block(nbytes, freed)
            row = self._free.pop()
            self._rows = max(self._rows, row + 1)
            words = self._table[row]
            words[_SIZES : _SIZES + len(shape)] = shape
            words[_STRIDES : _STRIDES + len(shape)] = strides
            at = words.ctypes.data
            kind = len(shape) | _CODES[dtype] << 32 | 8 * dtype.itemsize << 40 | 1 << 48
            places = at + 8 * _SIZES, at + 8 * _STRIDES
            words[: _GONE + 1] = (address, _EXTENSION_DEVICE, kind, *places, 0, 0, _delete.address, 0)
        tensor: Tensor = torch._C._from_dlpack(_capsule(at, b"dltensor", None))
        return tensor

    def content(self, tensor: Tensor) -> Tensor:
        """Return what the card stores for one of its tensors, as a tensor of the processor on that memory."""
        block = self._blocks[tensor.untyped_storage().data_ptr()]
        place = torch.empty(0, dtype=tensor.dtype)
        return place.set_(block.content, tensor.storage_offset(), tensor.size(), tensor.stride())

    def collect(self) -> None:
        """Free the blocks that no tensor shows any more."""
        with self._lock:
            for row in np.flatnonzero(self._table[: self._rows, _GONE]).tolist():
                block = self._blocks.pop(int(self._table[row, 0]))
                self._table[row, _GONE] = 0
                self._free.append(row)
                self._used -= block.nbytes
                block.freed(block)
