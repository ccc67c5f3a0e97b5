"""Profiles of machines: bytes free in each tier, bandwidths, and the speed of each compute device.

Sizes are in bytes, bandwidths in bytes per second.
"""

import math
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from engine.assets import RESOURCES
from engine.machine import CardSpeed, Cpu, Gpu
from engine.machine import Machine as Probed

GIB = 2**30

# Memory that the system and desktop of a described machine take before anything is loaded.
DESKTOP_VRAM = GIB
DESKTOP_RAM = 3 * GIB
VRAM_MARGIN = 3 * GIB // 4  # memory left free for other programs

MANY_ROWS = 1 << 30  # more than any pass has

UNMEASURED_DISK = 1.0e9  # any SSD of the last ten years reads this fast
UNMEASURED_LINK = 12.0e9  # PCIe 3 with 16 lanes, or PCIe 4 with 8
# Share of PCIe's raw rate that copies from pinned memory reach: over PCIe 4 with 16 lanes, 24 to 26 of
# 31.5 GB/s.
LINK_SHARE = 0.79


@dataclass(frozen=True, slots=True)
class Compute:
    """The speed at which a compute device runs models.

    Attributes: `flops`: FLOP/s in products with many rows; `memory`: bytes of weights read per second;
    `unpack`: number of packed weights unpacked per second; `fused_rows`: maximum number of rows for which
    packed weights are multiplied without unpacking; `layer_s`: seconds that a layer takes besides its
    products; `moving`: seconds by which streaming one byte delays unpacking, if the same cores do both, else
    0; `itemsize`: bytes per number in computation; `launch_s`: seconds of the processor for each piece of a
    matrix that it launches on a card; `packing_s`: seconds in which one core brings a streamed byte into the
    tiles of compiled passes; 0 elsewhere; `halves`: whether it multiplies in float16, while numbers between
    products are float32 (`engine.quantization.halves`); `fused_share`: the share of `flops` that products by
    packed weights reach that are not unpacked first.
    """

    flops: float
    memory: float
    unpack: float
    fused_rows: int
    layer_s: float
    moving: float
    itemsize: int
    launch_s: float = 0.0
    packing_s: float = 0.0
    halves: bool = False
    fused_share: float = 1.0

    @property
    def unpacks(self) -> bool:
        """Whether packed weights are ever unpacked; compiled passes multiply them as they are."""
        return self.unpack < math.inf

    @property
    def state_itemsize(self) -> int:
        """Bytes of a number between products; compiled passes keep float32."""
        return self.itemsize if self.unpacks and not self.halves else 4


@dataclass(frozen=True, slots=True)
class MachineProfile:
    """The properties of a machine that predictions need.

    Attributes: `vram`, `ram`: bytes free now; `link`: bandwidth from RAM to the graphics card; `disk`:
    bandwidth of the SSD; `card`: speed of the graphics card, None without one; `cpu`: speed of the processor;
    `compiled`: its speed with compiled passes, None if they are not used; `one_stream`: whether copies to the
    card and its computation take turns.
    """

    vram: int
    ram: int
    link: float
    disk: float
    card: Compute | None
    cpu: Compute
    compiled: Compute | None = None
    one_stream: bool = False

    @property
    def usable_vram(self) -> int:
        """Bytes of VRAM available for planning."""
        return max(0, self.vram - VRAM_MARGIN) if self.card else 0

    @property
    def usable_ram(self) -> int:
        """Bytes of RAM available for planning. The rest is left free for other programs: 1 GiB, but at least
        a tenth and at most an eighth."""
        return max(self.ram - max(GIB, self.ram // 10), self.ram * 7 // 8)

    def with_usable_ram(self, nbytes: int) -> "MachineProfile":
        """Return this machine with so much RAM that `nbytes` of it are available for planning."""
        return replace(self, ram=min(max(nbytes + GIB, -(-nbytes * 10 // 9)), -(-nbytes * 8 // 7)))


def described_machine(
    vram_gib: float,
    ram_gib: float,
    link: float,
    disk: float,
    card: Compute,
    cpu: Compute,
    compiled: Compute | None = None,
) -> MachineProfile:
    """Return the profile of a machine on which only the desktop runs. vram_gib: 0 for no card."""
    vram = max(0, int(vram_gib * GIB) - DESKTOP_VRAM)
    ram = max(0, int(ram_gib * GIB) - DESKTOP_RAM)
    return MachineProfile(vram, ram, link, disk, card if vram_gib > 0 else None, cpu, compiled)


def profile_of(probed: Probed, cards: Mapping[str, Compute], formats: Collection[str] = ()) -> MachineProfile:
    """Return the profile of a probed machine as it is now, with the speeds that were measured last.

    cards: the speeds of graphics cards, each by a part of the card's name; "" stands for any other card.
    formats: those in which the models to plan for are stored; none if they are not known.
    """
    gpu = next((gpu for gpu in probed.gpus if gpu.free_nbytes), None)
    link, one_stream, card, vram = UNMEASURED_LINK, False, None, 0
    if gpu is not None:
        card, vram = cards[_card_name(gpu, cards)], gpu.free_nbytes or 0
        card = replace(card, halves=card.halves or gpu.before_ampere)
        if gpu.speed is not None:
            card = measured_card(card, gpu.speed, formats)
        if gpu.link is not None:
            link, one_stream = gpu.link.gb_per_s * 1e9, gpu.link.one_stream
        elif gpu.pcie_gb_per_s is not None:
            link = gpu.pcie_gb_per_s * LINK_SHARE * 1e9
    speed = probed.disk.speed
    disk = speed.best_gb_per_s * 1e9 if speed else UNMEASURED_DISK
    cores, features = _cores(probed.cpu)
    return MachineProfile(
        *(vram, probed.memory.available_nbytes, link, disk, card),
        *(processor(cores, features), compiled_processor(cores, features), one_stream),
    )


def _card_name(gpu: Gpu, names: Collection[str]) -> str:
    """Return the name, of these, that stands for a card: the longest in its own. A card before Ampere that is
    not listed is taken for the slowest of its kind; names of those with cores for matrices have "RTX"."""
    known = max((name for name in names if name in gpu.name), key=len)
    if known or not gpu.before_ampere:
        return known
    return "RTX 2060" if "RTX" in gpu.name else "GTX 16"


def _cores(cpu: Cpu) -> tuple[int, set[str]]:
    """Return the number of cores that compute, and the processor's features."""
    return min(cpu.usable, cpu.cores), {name for name, has in cpu.features.items() if has}


def processor(cores: int, features: set[str]) -> Compute:
    """Return the speed of a processor. features: names as in `engine.machine.Cpu`.

    Measured on 2 cores of an AMD EPYC (Zen 5, AVX-512 BF16) with Qwen2.5-Coder 1.5B: passes of 1, 16, 64 and
    256 rows, resident and streamed, take within 20 % of the time these figures predict. For processors
    without bfloat16, which compute in float32, the figures are estimated: a register holds half as many
    numbers, and they take twice the bytes.
    """
    if "avx512_bf16" in features:
        flops, unpack, itemsize = 375e9, 2.5e9, 2
    elif "avx512f" in features:
        flops, unpack, itemsize = 95e9, 2.0e9, 4
    elif "avx2" in features:
        flops, unpack, itemsize = 50e9, 1.2e9, 4
    else:
        flops, unpack, itemsize = 25e9, 0.6e9, 4
    return Compute(
        flops=cores * flops,
        memory=min(cores * 13e9, 50e9),  # two channels of DDR5
        unpack=cores * unpack,
        fused_rows=0,
        layer_s=0.4e-3,
        moving=0.54e-9 / cores,
        itemsize=itemsize,
    )


# Seconds in which a core of those of `compiled_processor` brings a streamed byte into tiles.
PACKING_S = 0.11e-9


def compiled_processor(cores: int, features: set[str]) -> Compute:
    """Return the speed of a processor with compiled passes, which multiply weights at their packed size.
    features: names as in `engine.machine.Cpu`.

    Measured on 2 cores of an Intel Xeon (AVX-512 VNNI) with Qwen2.5-Coder 1.5B: passes of 1 to 64 rows. The
    figures for AVX-VNNI and AVX2 are those of the same cores, compiled for these instructions. Without any of
    them the speed is estimated.
    """
    if "avx512_vnni" in features:
        flops = 320e9
    elif "avx_vnni" in features:
        flops = 185e9
    elif "avx2" in features:
        flops = 145e9
    else:
        flops = 25e9
    return Compute(
        flops=cores * flops,
        memory=min(cores * 13e9, 50e9),  # two channels of DDR5
        unpack=math.inf,
        fused_rows=MANY_ROWS,
        layer_s=0.01e-3,
        moving=PACKING_S / cores,
        itemsize=2,
        packing_s=PACKING_S,
    )


# Seconds of the processor for each piece of a matrix that is unpacked and multiplied: Python and two kernels.
# Python takes 23 to 30 µs, measured on a card that does nothing (`tests.engine.streaming.null_card`); a
# kernel takes the driver about 5 µs, an estimate. A card's check measures all of it (`CardSpeed.launch_s`).
KERNEL_S = 5e-6
LAUNCH_S = 30e-6 + 2 * KERNEL_S


def graphics_card(
    tflops: float, memory_gb_per_s: float, halves: bool = False, fp32_tflops: float | None = None
) -> Compute:
    """Return the speed of a graphics card. tflops: TFLOP/s of dense 16-bit products accumulated in float32.
    Both are as in the card's data sheet. halves: as in `Compute`. fp32_tflops: TFLOP/s without cores for
    matrices, if Triton's products by packed weights do without them (`engine.quantization.triton.cores`).

    The speed is an estimate, as no card was measured: products reach half of the data sheet's figure, and
    reading reaches 80 %; unpacking a weight reads four and a half bits and writes two bytes.
    """
    memory = 0.8 * memory_gb_per_s * 1e9
    return Compute(
        flops=0.5 * tflops * 1e12,
        memory=memory,
        unpack=memory / 2.56,
        fused_rows=16,
        layer_s=0.15e-3,
        moving=0.0,
        itemsize=2,
        launch_s=LAUNCH_S,
        halves=halves,
        fused_share=(fp32_tflops or tflops) / tflops,
    )


def measured_card(card: Compute, speed: CardSpeed, formats: Collection[str] = ()) -> Compute:
    """Return the card's speed with what was measured in place of estimates. formats: as for `profile_of`; the
    slowest of them that were measured counts, or of all, if none of them was."""

    def of_formats(rates: Mapping[str, float]) -> dict[str, float]:
        return {name: rate for name, rate in rates.items() if not formats or name in formats}

    measured = of_formats(speed.unpack)
    return replace(
        card,
        flops=speed.flops,
        memory=speed.memory_gb_per_s * 1e9,
        unpack=min(measured.values(), default=card.unpack),
        fused_rows=card.fused_rows if measured.keys() <= {*speed.fused} else 0,
        launch_s=max(of_formats(speed.launch_s).values(), default=card.launch_s),
    )


def computing_in(compute: Compute, dtype: str) -> Compute:
    """Return a device that computes in float32, bfloat16 or float16, whatever it prefers."""
    return replace(compute, itemsize=4 if dtype == "float32" else 2, halves=dtype == "float16")


# How many times as long plain torch takes to unpack weights as a kernel that Triton compiles: it reads and
# writes memory a dozen times. Estimated from its operations, between 6 and 10 by format.
PLAIN_UNPACKING = 8
PLAIN_KERNELS = 12  # that it launches in place of one


@cache
def cards(kernels: bool = True) -> dict[str, Compute]:
    """Return the speeds of known graphics cards, each by a part of the card's name; "" stands for any other
    card. kernels: whether the engine's kernels can be compiled (`engine.machine.TorchBuild.kernel_problem`);
    without them, weights are unpacked by plain torch, also for few rows."""
    known = {name: graphics_card(**sheet) for name, sheet in figures()["cards"].items()}
    if kernels:
        return known
    return {
        name: replace(
            card,
            unpack=card.unpack / PLAIN_UNPACKING,
            fused_rows=0,
            launch_s=card.launch_s + (PLAIN_KERNELS - 1) * KERNEL_S,
        )
        for name, card in known.items()
    }


def data_sheet(name: str) -> dict[str, float]:
    """Return what the data sheet of the card called `name` promises, by kind of kernel (`engine.ways`), in
    FLOP/s and bytes per second; nothing if the card is not listed."""
    sheets = figures()["cards"]
    known = max((part for part in sheets if part and part in name), key=len, default=None)
    if known is None:
        return {}
    sheet = sheets[known]
    products = "halves" if sheet.get("halves") else "dense"
    return {products: sheet["tflops"] * 1e12, "memory": sheet["memory_gb_per_s"] * 1e9}


def usual_card(vram_gib: float) -> Compute:
    """Return the speed to expect at least of a card with this much memory: that of `usual_card_name`."""
    return cards()[usual_card_name(vram_gib)]


def usual_card_name(vram_gib: float) -> str:
    """Return the name of the largest listed card with no more memory than this, or else of the smallest
    listed card."""
    sizes = {entry["vram"]: entry["card"] for entry in figures()["machines"].values() if "card" in entry}
    fitting = [size for size in sizes if size <= vram_gib] or [min(sizes)]
    name: str = sizes[max(fitting)]
    return name


def named_machines() -> dict[str, tuple[str, MachineProfile]]:
    """Return (display name, profile) of each machine in resources/machines.toml, by its id."""
    return {id: (entry["name"], _machine(entry)) for id, entry in figures()["machines"].items()}


def _machine(entry: dict[str, Any]) -> MachineProfile:
    return described_machine(
        entry.get("vram", 0),
        entry["ram"],
        entry.get("link_gb_per_s", 1) * 1e9,
        entry["disk_gb_per_s"] * 1e9,
        cards()[entry.get("card", "")],
        processor(entry["cores"], set(entry["features"])),
        compiled_processor(entry["cores"], set(entry["features"])),
    )


def figures() -> dict[str, Any]:
    """Read resources/machines.toml."""
    return tomllib.loads((RESOURCES / "machines.toml").read_text(encoding="utf-8"))
