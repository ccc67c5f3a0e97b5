"""What a machine has, as plain data. Sizes are bytes, bandwidths GB/s (1e9 bytes a second)."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta

GbPerS = Annotated[float, Meta(gt=0)]
Moment = Annotated[datetime, Meta(tz=True)]


@dataclass(frozen=True, slots=True)
class LinkSpeed:
    """Copying from pinned memory to a graphics card, and when it was measured."""

    gb_per_s: GbPerS
    measured: Moment


@dataclass(frozen=True, slots=True)
class DiskSpeed:
    """Reading past the page cache and through it, and when it was measured; at least one is known.

    direct: None where the file system refuses it. buffered: None where it would say how fast memory is,
    because the system's cache cannot be emptied.
    """

    direct_gb_per_s: GbPerS | None
    buffered_gb_per_s: GbPerS | None
    measured: Moment

    @property
    def best_gb_per_s(self) -> float:
        return max(self.direct_gb_per_s or 0.0, self.buffered_gb_per_s or 0.0)


@dataclass(frozen=True, slots=True)
class Gpu:
    """A graphics card whose driver answers.

    uuid: as torch's device properties give it; "" where it is unknown. The sizes are None where the card has
    no memory of its own. pcie_gb_per_s: what its PCIe lanes could carry at most; `link`: what they did carry.
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


@dataclass(frozen=True, slots=True)
class Cpu:
    """cores: physical; threads: logical; usable: threads that this process may use, by affinity and by a
    container's quota. features: which instructions it has, by Linux's names; None where that is unknown."""

    name: str
    cores: int
    threads: int
    usable: int
    features: Mapping[str, bool | None]


@dataclass(frozen=True, slots=True)
class Memory:
    """RAM. Where a container limits it, `limit_nbytes` is that limit, and the other sizes lie within it.

    pinnable_nbytes: what the system lets programs page-lock for a graphics card, at most.
    """

    total_nbytes: int
    available_nbytes: int
    pinnable_nbytes: int
    limit_nbytes: int | None = None


DiskKind = Literal["ssd", "hdd", "network", "memory", "unknown"]


@dataclass(frozen=True, slots=True)
class Disk:
    """Where a folder lies. kind: what the system says; a virtual machine's disk often calls itself "hdd"."""

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
    """remote: "ssh", "remote desktop" or None. container: its kind, such as "docker", or None."""

    on_battery: bool = False
    remote: str | None = None
    wsl: bool = False
    container: str | None = None


@dataclass(frozen=True, slots=True)
class Machine:
    """gpu_problem: why a graphics card that is there does not answer, in the driver's words; else None."""

    system: Literal["linux", "windows"]
    gpus: tuple[Gpu, ...]
    gpu_problem: str | None
    cpu: Cpu
    memory: Memory
    disk: Disk
    surroundings: Surroundings
