"""Launches kernels in less of the processor's time than Triton takes for it."""

import logging
from typing import Any

from torch import Tensor

from engine import firsts
from engine.errors import KernelsNotStored, is_disk_full

_log = logging.getLogger(__name__)

ALIGNMENT = 16  # bytes: Triton compiles other kernels for addresses that are no multiple of it


class KernelRefused(Exception):
    """A kernel does not compile for the card, or needs more of its registers or shared memory than there
    are."""


class Launch:
    """A kernel with its constants. Triton finds out in each launch which of its compilations is meant, which
    takes most of the time of launching; here, this is kept by what it depends on. So is that one was refused:
    this says nothing about others, not even of the same kernel for other types, addresses or sizes."""

    def __init__(self, kernel: Any, *constants: object) -> None:
        """constants: the kernel's last arguments."""
        self._kernel = kernel
        # The places of integers that Triton compiles nothing for; its interpreter does not tell.
        self._general = {each.num for each in getattr(kernel, "params", ()) if each.do_not_specialize}
        self._constants = constants
        self._compiled: dict[tuple[object, ...], Any] = {}
        self._refused: dict[tuple[object, ...], str] = {}  # why

    def __call__(self, grid: tuple[int, int, int], *args: Tensor | int | None) -> None:
        """Launch the kernel on the device of `args`, its first arguments, which is the current one. Raises
        KernelRefused, at once if that is known; KernelsNotStored."""
        kind = self.kind_of(args)
        if (compiled := self._compiled.get(kind)) is not None:
            compiled[grid](*args, *self._constants)
            return
        if (reason := self._refused.get(kind)) is not None:
            raise KernelRefused(reason)
        self._compiled[kind] = self._first(kind, grid, args)
        firsts.note()

    def _first(
        self, kind: tuple[object, ...], grid: tuple[int, int, int], args: tuple[Tensor | int | None, ...]
    ) -> Any:
        """Launch the kernel as Triton does, which compiles it; return what was compiled."""
        from triton.errors import TritonError

        try:
            # Products and sums are rounded separately, so that unpacked numbers equal the reference's to the
            # last bit. The interpreter compiles nothing, so nothing is kept.
            return self._kernel[grid](*args, *self._constants, enable_fp_fusion=False)
        except Exception as error:  # whatever a compiler or a file system raises
            if is_disk_full(error):
                raise KernelsNotStored from error
            if not isinstance(error, TritonError):
                raise
            name = getattr(self._kernel, "__name__", "a kernel")
            # Only the words: the error would hold what was computed with in memory.
            self._refused[kind] = reason = f"{type(error).__name__} in {name}: {error}"
            _log.warning("The card does without a kernel. %s", reason)
            raise KernelRefused(reason) from error

    def kind_of(self, args: tuple[Tensor | int | None, ...]) -> tuple[object, ...]:
        """Return what Triton compiles for: types, alignment, which memory is large (for AMD's cards), which
        integers are large, and, unless it is told not to, which are 1 or divisible by 16."""
        return tuple(
            [
                (
                    arg.dtype,
                    arg.device,
                    arg.data_ptr() % ALIGNMENT == 0,
                    arg.untyped_storage().nbytes() < 1 << 31,
                )
                if isinstance(arg, Tensor)
                else arg and (place not in self._general and (arg == 1, arg % 16 == 0), arg < 1 << 31)
                for place, arg in enumerate(args)
            ]
        )
