"""What the arithmetic needs to know of a machine: bytes free in each tier, how fast they move, how fast each
compute device multiplies. Sizes are bytes, bandwidths bytes a second."""

from collections.abc import Mapping
from dataclasses import dataclass

from engine.machine import Cpu
from engine.machine import Machine as Probed

GIB = 2**30

# What a described machine's own system and desktop take of it before anything is loaded.
DESKTOP_VRAM = GIB
DESKTOP_RAM = 3 * GIB
# Never planned with: other programs go on living. Of RAM at least a tenth.
VRAM_MARGIN = 3 * GIB // 4
RAM_MARGIN = GIB

UNMEASURED_DISK = 1.0e9  # any SSD of the last ten years reads as much
UNMEASURED_LINK = 12.0e9  # PCIe 3 with 16 lanes, or PCIe 4 with 8
# Of PCIe's raw rate. Pinned copies over PCIe 4 with 16 lanes, 31.5 GB/s, reach 24 to 26.
LINK_SHARE = 0.79


@dataclass(frozen=True, slots=True)
class Compute:
    """A compute device, as models run on it.

    Attributes: `flops`, FLOP/s of products with many rows; `memory`, bytes of weights read in a second;
    `unpack`, packed weights unpacked in a second; `fused_rows`, up to so many rows packed weights are
    multiplied without that; `layer_s`, seconds of a layer beside its products; `moving`, seconds that
    bringing a byte takes from unpacking, where the same cores do both; `itemsize`, bytes of a number computed
    with.
    """

    flops: float
    memory: float
    unpack: float
    fused_rows: int
    layer_s: float
    moving: float
    itemsize: int


@dataclass(frozen=True, slots=True)
class Machine:
    """vram, ram: bytes free now. link: from RAM to the card. card: None where there is none."""

    vram: int
    ram: int
    link: float
    disk: float
    card: Compute | None
    cpu: Compute

    @property
    def vram_room(self) -> int:
        """What may be planned with."""
        return max(0, self.vram - VRAM_MARGIN) if self.card else 0

    @property
    def ram_room(self) -> int:
        return max(0, self.ram - max(RAM_MARGIN, self.ram // 10))


def described(
    vram_gib: float, ram_gib: float, link: float, disk: float, card: Compute, cpu: Compute
) -> Machine:
    """A machine with nothing but its desktop running. vram_gib: 0, no card."""
    vram = max(0, int(vram_gib * GIB) - DESKTOP_VRAM)
    ram = max(0, int(ram_gib * GIB) - DESKTOP_RAM)
    return Machine(vram, ram, link, disk, card if vram_gib > 0 else None, cpu)


def of_probed(probed: Probed, cards: Mapping[str, Compute]) -> Machine:
    """The machine as it is now, with the bandwidths last measured. cards: by a part of their names; "" is any
    other."""
    gpu = next((gpu for gpu in probed.gpus if gpu.free_nbytes), None)
    link, card, vram = UNMEASURED_LINK, None, 0
    if gpu is not None:
        known = max((name for name in cards if name in gpu.name), key=len)
        card, vram = cards[known], gpu.free_nbytes or 0
        if gpu.link is not None:
            link = gpu.link.gb_per_s * 1e9
        elif gpu.pcie_gb_per_s is not None:
            link = gpu.pcie_gb_per_s * LINK_SHARE * 1e9
    speed = probed.disk.speed
    disk = speed.best_gb_per_s * 1e9 if speed else UNMEASURED_DISK
    return Machine(vram, probed.memory.available_nbytes, link, disk, card, of_cpu(probed.cpu))


def of_cpu(cpu: Cpu) -> Compute:
    return processor(min(cpu.usable, cpu.cores), {name for name, has in cpu.features.items() if has})


def processor(cores: int, features: set[str]) -> Compute:
    """features: names as of `engine.machine.Cpu`.

    Measured on 2 cores of an AMD EPYC (Zen 5, AVX-512 BF16) with Qwen2.5-Coder 1.5B: passes of 1, 16, 64 and
    256 rows, resident and streamed, lie within 20 % of what these figures say. Of processors without
    bfloat16, which compute in float32, they are estimates: half the numbers in a register, twice the bytes.
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


def graphics_card(tflops: float, memory_gb_per_s: float) -> Compute:
    """tflops: of 16-bit products summed in float32, dense, and memory_gb_per_s: as the data sheet has them.

    Of what it says, products reach half and reading 80 %; unpacking reads four bits and a half and writes two
    bytes. Estimates: no card was measured.
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
    )
