"""Every kernel with what it is compiled for, to find out without a card what compiles for it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from engine.checkpoints import USUAL_GROUPS, Groups
from engine.formats import (
    FORMATS,
    BlockFormat,
    FactoredFormat,
    Format,
    GroupedFormat,
    NibbleFormat,
    PlainFormat,
    ScaledFormat,
)
from engine.quantization.triton import ROWS, apart, ggml, grouped, split, tiles

SCALES = {"F16": "*fp16", "BF16": "*bf16", "F32": "*fp32"}
_POINTERS = {**SCALES, "U8": "*u8", "I32": "*i32"}
# The type of rows and products, by that of unpacked weights, where it is not the same
# (`engine.quantization.halves`).
_STATES = {"fp16": "fp32"}


@dataclass(frozen=True, slots=True)
class KernelSource:
    """A kernel and the arguments that it is compiled for.

    Attributes: `kernel`: as `triton.jit` makes it; `pointers`: the types of its pointers, and `constants`:
    the values of its constants, by argument. All other arguments are whole numbers.
    """

    kernel: Any
    pointers: Mapping[str, str]
    constants: Mapping[str, Any]

    def compiled(self, target: GPUTarget) -> Any:
        """Compile the kernel for a card, as it is launched on aligned memory: pointers, and numbers that
        Triton compiles for, are multiples of 16. Returns Triton's `CompiledKernel`; raises TritonError."""
        from triton import compile

        parameters = self.kernel.params
        signature = {
            each.name: "constexpr" if each.name in self.constants else self.pointers.get(each.name, "i32")
            for each in parameters
        }
        values = {
            (each.num,): self.constants[each.name] for each in parameters if each.name in self.constants
        }
        attributes = {
            (each.num,): [["tt.divisibility", 16]]
            for each in parameters
            if each.name not in self.constants and not each.do_not_specialize
        }
        source = ASTSource(self.kernel, signature, values, attributes)
        return compile(source, target, {"enable_fp_fusion": False})


def names() -> list[str]:
    """Return the names of the formats that have kernels, without those that differ from another one only in
    the type of their scales."""
    others = PlainFormat | FactoredFormat
    return [
        name
        for name, form in FORMATS.items()
        if not isinstance(form, others) and name.rpartition("_")[2] not in SCALES
    ]


def sources_of(
    name: str, dtype: str, rows: Sequence[int] = ROWS, cores: bool = True
) -> Iterator[tuple[str, KernelSource]]:
    """Yield the kernels of a format, each with its name, such as "unpack Q4_K". dtype: of unpacked weights,
    as Triton calls it, such as "bf16". rows: maximum numbers of rows of products, of ROWS. cores: whether the
    card has cores for matrices."""
    form, of_products = FORMATS[name], tiles.TILES if cores else tiles.SMALLER_TILES
    if isinstance(form, GroupedFormat):
        widths = (USUAL_GROUPS.bits,) if form.awq else (2, 3, 4, 8)
        for bits in widths:
            groups = Groups(bits, USUAL_GROUPS.size, USUAL_GROUPS.zero_offset)
            yield from _of_groups(name, form, groups, dtype, rows)
    elif isinstance(form, BlockFormat):
        pointers = {"data": "*u8", "book": "*u8"}
        constants = dict(
            zip(("SCALES", "QUANT", "NBYTES", "SUBS", "SIZE"), ggml.constants(name), strict=True)
        )
        if ggml.FORMULAS[name].book is None:
            constants["book"] = None
        unpacking = {"TILE": ggml.UNPACKED // constants["SIZE"]}
        yield from _both(name, ggml, of_products, pointers, constants, unpacking, dtype, rows)
    elif isinstance(form, ScaledFormat | NibbleFormat):
        yield from _of_parts(name, form, of_products, dtype, rows)


def sum_of_parts(dtype: str) -> KernelSource:
    """Return the kernel that adds the parts of a product. dtype: as for `sources_of`."""
    states = _STATES.get(dtype, dtype)
    return KernelSource(split.sum_kernel, {"parts": "*fp32", "out": f"*{states}"}, {"TILE": split.SUMS})


def _of_groups(
    name: str, form: GroupedFormat, groups: Groups, dtype: str, rows: Sequence[int]
) -> Iterator[tuple[str, KernelSource]]:
    pointers = _pointers(form, "quants", "zeros", "scales")
    of = grouped.constants(form.awq, groups, 2 * groups.size)
    constants: dict[str, Any] = dict(zip(("AWQ", "BITS", "SIZE", "PLUS"), of, strict=True))
    unpacking = dict(zip(("ROWS", "STEP"), grouped.UNPACKED, strict=True))
    subject = f"{name} {groups.bits} bits"
    kinds = pointers, constants | {"index": None}
    yield from _both(subject, grouped, grouped.TILES, *kinds, unpacking, dtype, rows)
    if not form.awq:
        kinds = pointers | {"index": "*i32"}, constants
        yield from _both(f"{subject}, index", grouped, grouped.TILES, *kinds, unpacking, dtype, rows)


def _pointers(form: Format, *arguments: str) -> dict[str, str]:
    """Return the types of the arguments that point to the parts of a matrix."""
    return {name: _POINTERS[stored] for name, stored in zip(arguments, form.part_types, strict=False)}


def _of_parts(
    name: str,
    form: ScaledFormat | NibbleFormat,
    of_products: Mapping[int, tuple[int, int]],
    dtype: str,
    rows: Sequence[int],
) -> Iterator[tuple[str, KernelSource]]:
    pointers = _pointers(form, "data", "scales", "third")
    of = apart.formulas(name, form.group or USUAL_GROUPS.size if isinstance(form, NibbleFormat) else 0)
    constants = dict(zip(("SCALE", "QUANT", "ZEROS", "TALL", "WIDE"), of, strict=True)) | {"SIZE": of.size}
    if len(form.part_types) < 3:
        constants["third"] = None
    unpacking = dict(zip(("ROWS", "STEP"), apart.UNPACKED, strict=True))
    yield from _both(name, apart, of_products, pointers, constants, unpacking, dtype, rows)


def _both(
    subject: str,
    module: Any,
    of_products: Mapping[int, tuple[int, int]],
    pointers: Mapping[str, str],
    constants: Mapping[str, Any],
    unpacking: Mapping[str, int],
    dtype: str,
    rows: Sequence[int],
) -> Iterator[tuple[str, KernelSource]]:
    """Yield the kernel of a module that unpacks, and its products. of_products: their tiles, by the number of
    rows. unpacking: the constants that only unpacking has."""
    numbers, states = f"*{dtype}", f"*{_STATES.get(dtype, dtype)}"
    yield (
        f"unpack {subject}",
        KernelSource(module.unpack_kernel, {**pointers, "out": numbers}, {**constants, **unpacking}),
    )
    for most in rows:
        tile = {**dict(zip(("ROWS", "STEP"), of_products[most], strict=True)), "N": most}
        types = {**pointers, "x": states, "out": states}
        yield (
            f"product {subject}, {most} rows",
            KernelSource(module.product_kernel, types, {**constants, **tile}),
        )
