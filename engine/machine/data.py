"""A machine's hardware as plain data. Sizes are bytes, bandwidths GB/s (1e9 bytes per second)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta

GbPerS = Annotated[float, Meta(gt=0)]
Moment = Annotated[datetime, Meta(tz=True)]


@dataclass(frozen=True, slots=True)
class LinkSpeed:
    """The bandwidth of copies from pinned memory to a graphics card, and when it was measured: while the card
    computed, or, if `one_stream`, because copying and computing take turns, while it did not."""

    gb_per_s: GbPerS
    measured: Moment
    one_stream: bool = False


@dataclass(frozen=True, slots=True)
class CardSpeed:
    """The measured speeds of a graphics card, and the time of the measurement.

    flops: FLOP/s of products. memory_gb_per_s: of copies within its memory; bytes read and bytes written both
    count. unpack: number of weights unpacked per second, by format. fused: the formats whose products with
    few rows do without unpacking. launch_s: seconds of the processor for launching the product of a piece of
    a matrix, by format.
    """

    flops: Annotated[float, Meta(gt=0)]
    memory_gb_per_s: GbPerS
    unpack: dict[str, Annotated[float, Meta(gt=0)]]
    fused: tuple[str, ...]
    measured: Moment
    launch_s: dict[str, Annotated[float, Meta(gt=0)]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DiskSpeed:
    """The bandwidths of direct and buffered reads from a disk, and when they were measured.

    direct_gb_per_s: the bandwidth of reads that bypass the page cache; None if the file system refuses such
    reads. buffered_gb_per_s: the bandwidth of reads through the page cache; None if the system cannot drop
    its cache, because the memory would be measured instead.
    """

    direct_gb_per_s: GbPerS | None
    buffered_gb_per_s: GbPerS | None
    measured: Moment

    @property
    def best_gb_per_s(self) -> float:
        return max(self.direct_gb_per_s or 0.0, self.buffered_gb_per_s or 0.0)


@dataclass(frozen=True, slots=True)
class Gpu:
    """A graphics card with a working driver.

    uuid: as in torch's device properties; "" if it is unknown. total_nbytes, free_nbytes: the size of the
    card's memory and of its free part; None if the card has no memory of its own. driver: the driver's
    version. pcie_gb_per_s: the theoretical maximum of the card's PCIe lanes. link: the measured bandwidth, or
    None. speed: the measured speeds of the card, or None. architecture: of an AMD card, such as "gfx1100"; ""
    if it is unknown.
    """

    vendor: Literal["nvidia", "amd"]
    name: str
    uuid: str = ""
    total_nbytes: int | None = None
    free_nbytes: int | None = None
    driver: str | None = None
    compute_capability: tuple[int, int] | None = None
    pcie_gb_per_s: float | None = None
    link: LinkSpeed | None = None
    speed: CardSpeed | None = None
    architecture: str = ""

    @property
    def before_ampere(self) -> bool:
        """Whether it is known to be one of NVIDIA's cards without bfloat16."""
        return self.compute_capability is not None and self.compute_capability < (8, 0)


@dataclass(frozen=True, slots=True)
class Cpu:
    """The processor.

    cores: the number of physical cores. threads: the number of logical ones. usable: the number of logical
    ones that affinity and a container's quota leave to this process. features: whether the processor has each
    instruction set, by name; None if that is unknown.
    """

    name: str
    cores: int
    threads: int
    usable: int
    features: Mapping[str, bool | None]


@dataclass(frozen=True, slots=True)
class SystemMemory:
    """The RAM that this process can use.

    limit_nbytes: the limit set by a container, or None; the other sizes are within it. pinnable_nbytes: the
    maximum that programs may page-lock for a graphics card.
    """

    total_nbytes: int
    available_nbytes: int
    pinnable_nbytes: int
    limit_nbytes: int | None = None


DiskKind = Literal["ssd", "hdd", "network", "memory", "unknown"]


@dataclass(frozen=True, slots=True)
class Disk:
    """The disk that a folder is on.

    kind: as reported by the system; a virtual machine's SSD often reports "hdd". speed: the measured
    bandwidth, or None.
    """

    folder: str
    mount_point: str
    device: str
    file_system: str
    kind: DiskKind
    total_nbytes: int
    free_nbytes: int
    speed: DiskSpeed | None = None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The circumstances in which this process runs on the machine.

    remote: "ssh" or "remote desktop" in a remote session, else None. container: the kind of container, such
    as "docker", or None.
    """

    on_battery: bool = False
    remote: str | None = None
    wsl: bool = False
    container: str | None = None


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine's hardware. gpu_problem: why a card that is present cannot be used, or None."""

    system: Literal["linux", "windows"]
    gpus: tuple[Gpu, ...]
    gpu_problem: str | None
    cpu: Cpu
    memory: SystemMemory
    disk: Disk
    surroundings: Surroundings
