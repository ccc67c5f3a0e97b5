"""Blocks of another format, and a factor of the whole matrix: the second part, one float32.

Files that llama.cpp's converter (conversion/base.py) makes of ModelOpt's have such factors beside matrices in
NVFP4, in tensors called .scale.
"""

from dataclasses import dataclass

from engine.formats import nvfp4
from engine.formats.blocks import BlockFormat
from engine.formats.format import Format, Parts
from engine.formats.plain import F32


@dataclass(frozen=True, slots=True)
class FactoredFormat(Format):
    """A format whose numbers are those of `blocks`, times the factor."""

    name: str
    blocks: BlockFormat

    @property
    def kernels(self) -> str:
        return self.blocks.name

    @property
    def part_types(self) -> tuple[str, ...]:
        return (*self.blocks.part_types, "F32")

    def valid(self, parts: Parts) -> bool:
        whole = len(parts[1]) == 4 and 0 <= float(F32.numbers(parts[1])[0]) < 1e30
        return whole and self.blocks.valid(parts[:1])


FORMATS = (FactoredFormat("NVFP4_FACTORED", nvfp4.FORMAT),)
