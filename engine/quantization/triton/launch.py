"""Launches kernels in less of the processor's time than Triton takes for it."""

from typing import Any

from torch import Tensor

from engine import firsts

ALIGNMENT = 16  # bytes: Triton compiles other kernels for addresses that are no multiple of it


class Launch:
    """A kernel with its constants. Triton finds out in each launch which of its compilations is meant, which
    takes most of the time of launching; here, this is kept by what it depends on."""

    def __init__(self, kernel: Any, *constants: object) -> None:
        """constants: the kernel's last arguments."""
        self._kernel = kernel
        # The places of integers that Triton compiles nothing for; its interpreter does not tell.
        self._general = {each.num for each in getattr(kernel, "params", ()) if each.do_not_specialize}
        self._constants = constants
        self._compiled: dict[tuple[object, ...], Any] = {}

    def __call__(self, grid: tuple[int, int, int], *args: Tensor | int | None) -> None:
        """Launch the kernel on the device of `args`, its first arguments, which is the current one."""
        kind = self.kind_of(args)
        if (compiled := self._compiled.get(kind)) is not None:
            compiled[grid](*args, *self._constants)
            return
        # Products and sums are rounded separately, so that unpacked numbers equal the reference's to the last
        # bit. The interpreter compiles nothing, so nothing is kept.
        self._compiled[kind] = self._kernel[grid](*args, *self._constants, enable_fp_fusion=False)
        firsts.note()

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
