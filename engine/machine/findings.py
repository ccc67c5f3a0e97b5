"""What is wrong with a machine, and what to do about it. Pure: asks nothing of the system."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from engine.machine.data import Gpu, Machine
from engine.machine.gpu import NO_DRIVER
from engine.machine.torch_build import TorchBuild

Severity = Literal["error", "warning", "note"]
_ORDER: tuple[Severity, ...] = ("error", "warning", "note")


@dataclass(frozen=True, slots=True)
class Finding:
    """`kind`: for programs.

    severity: error, nothing can run; warning, it runs slower or with less than this machine could; note, good
    to know. `message`, a sentence; `hint`, the next step.
    """

    kind: str
    severity: Severity
    message: str
    hint: str


# The lowest driver that runs programs built for each CUDA, on Linux and on Windows: “Minor version
# compatibility” in NVIDIA's CUDA Compatibility guide, with the exact numbers of the CUDA release notes.
_LOWEST_DRIVER = {11: ("450.80.02", "452.39"), 12: ("525.60.13", "528.33"), 13: ("580", "580")}
# The build of torch for NVIDIA cards that the set-up takes.
_CUDA_BUILD, _CUDA_BUILD_DRIVER = "cu130", "580"
_DRIVERS = "nvidia.com/drivers"

LITTLE_RAM_NBYTES = 4 << 30
LITTLE_DISK_NBYTES = 10 << 30
# No hard disk reads faster; SSDs on SATA read 0.5.
SLOW_GB_PER_S = 0.4


def diagnose(machine: Machine, torch: TorchBuild | None) -> list[Finding]:
    """The worst first. torch: None where it is not installed."""
    found = [*_torch(machine, torch), *_cards(machine), *_ram(machine), *_disk(machine), *_notes(machine)]
    return sorted(found, key=lambda finding: _ORDER.index(finding.severity))


def _torch(machine: Machine, torch: TorchBuild | None) -> Iterator[Finding]:
    if torch is None:
        yield Finding("no_torch", "error", "torch is not installed.", "Install the program again.")
        return
    nvidia = [gpu for gpu in machine.gpus if gpu.vendor == "nvidia"]
    amd = [gpu for gpu in machine.gpus if gpu.vendor == "amd"]
    if nvidia and torch.cuda is None:
        yield Finding(
            "cpu_only_torch",
            "warning",
            f"torch {torch.version} is built without CUDA: the {nvidia[0].name} stays idle.",
            f"Install torch {torch.version.partition('+')[0]} built for {_CUDA_BUILD} "
            f"(pytorch.org/get-started; needs driver {_CUDA_BUILD_DRIVER} or newer).",
        )
    elif nvidia and torch.cuda is not None:
        yield from _driver(machine, nvidia[0], torch.cuda)
        yield from _capability(nvidia, torch)
    if amd and not nvidia and torch.rocm is None:
        yield Finding(
            "no_rocm_torch",
            "warning",
            f"torch {torch.version} is built without ROCm: the {amd[0].name} stays idle.",
            "Install torch's build for ROCm (pytorch.org/get-started), on Linux only.",
        )


def _driver(machine: Machine, gpu: Gpu, cuda: str) -> Iterator[Finding]:
    # Inside WSL, the driver is Windows' own.
    windows = machine.system == "windows" or machine.surroundings.wsl
    lowest = _LOWEST_DRIVER.get(_numbers(cuda)[0], ("0", "0"))[windows]
    if gpu.driver is not None and _numbers(gpu.driver) < _numbers(lowest):
        yield Finding(
            "driver_too_old",
            "warning",
            f"The NVIDIA driver {gpu.driver} is too old for torch's CUDA {cuda}: the {gpu.name} stays idle.",
            f"Install driver {lowest} or newer{' in Windows' if windows else ''} ({_DRIVERS}).",
        )


def _capability(gpus: list[Gpu], torch: TorchBuild) -> Iterator[Finding]:
    for gpu in gpus:
        if gpu.compute_capability is None or not torch.architectures:
            continue
        if not any(_runs(code, gpu.compute_capability) for code in torch.architectures):
            major, minor = gpu.compute_capability
            yield Finding(
                "card_not_supported",
                "warning",
                f"torch {torch.version} has no code for the {gpu.name} (compute capability {major}.{minor}).",
                "Install a build of torch for this card, if there is one (pytorch.org/get-started), or use "
                "--device cpu.",
            )


def _runs(architecture: str, capability: tuple[int, int]) -> bool:
    """Whether a card can run code for `sm_86` (8.6 to 8.9), `sm_90a` (9.0 only) or `compute_90` (compiled as
    it is loaded: 9.0 and all above).

    Source: CUDA C++ Programming Guide, “Binary compatibility”, “PTX compatibility”.
    """
    parts = re.fullmatch(r"(sm|compute)_(\d+)(\d)([a-z]?)", architecture)
    if parts is None:
        return False
    built = int(parts[2]), int(parts[3])
    if parts[4] == "a":
        return capability == built
    return capability >= built and (parts[1] == "compute" or capability[0] == built[0])


def _cards(machine: Machine) -> Iterator[Finding]:
    if machine.gpu_problem is not None:
        hint = "Start the machine again: a driver that was just updated waits for that."
        if machine.gpu_problem == NO_DRIVER:
            hint = f"Install NVIDIA's driver ({_DRIVERS}, or your distribution's package)."
        elif machine.surroundings.container:
            hint = "Start the container with the card (docker run --gpus all)."
        message = f"A graphics card does not answer: {machine.gpu_problem}."
        yield Finding("card_does_not_answer", "warning", message, hint)
    elif not machine.gpus:
        yield Finding(
            "no_card",
            "note",
            "There is no graphics card that can compute: the processor does it all.",
            "Nothing to do: everything works, but slower than with a card.",
        )


def _ram(machine: Machine) -> Iterator[Finding]:
    memory = machine.memory
    if memory.available_nbytes < LITTLE_RAM_NBYTES:
        use = "to pin weights for the graphics card" if machine.gpus else "to hold weights"
        yield Finding(
            "little_ram",
            "warning",
            f"Only {_gib(memory.available_nbytes)} of RAM are free: too little {use}.",
            "Close other programs; what does not fit is read from the disk at each pass.",
        )
    if memory.limit_nbytes is not None:
        yield Finding(
            "ram_limit",
            "note",
            f"This process may use {_gib(memory.limit_nbytes)} of the machine's RAM.",
            "Raise the container's memory limit if the machine has more to give.",
        )
    if machine.gpus and memory.pinnable_nbytes < memory.total_nbytes:
        yield Finding(
            "pinning_limit",
            "note",
            f"Windows pins at most half of the RAM for graphics cards: {_gib(memory.pinnable_nbytes)}.",
            "Weights beyond that are copied through a small pinned buffer, which is slower. Linux pins more.",
        )


def _disk(machine: Machine) -> Iterator[Finding]:
    disk = machine.disk
    if disk.free_nbytes < LITTLE_DISK_NBYTES:
        yield Finding(
            "little_disk",
            "warning",
            f"The disk of {disk.folder} has {_gib(disk.free_nbytes)} free: too little for a large model.",
            "Free some space, or set SPECEXEC_MODELS to a folder on another disk.",
        )
    speed = disk.speed.best_gb_per_s if disk.speed else None
    if speed is not None and speed >= SLOW_GB_PER_S:
        return  # whatever it calls itself
    measured = f" and reads {speed:.2f} GB/s" if speed is not None else ""
    if disk.kind == "network" and machine.surroundings.wsl and disk.file_system in ("9p", "drvfs"):
        kind, place = "windows_drive", "on a drive of Windows, which WSL reads slowly"
    elif disk.kind == "network":
        kind, place = "network_share", "on a network share"
    elif disk.kind == "hdd":
        # Unmeasured, there is only its own word; a virtual machine's SSD says so too.
        kind = "hard_disk"
        place = "on a hard disk" if speed is not None else "on what calls itself a hard disk"
    elif speed is not None:
        kind, place = "slow_disk", "on a slow disk"
    else:
        return
    yield Finding(
        kind,
        "warning",
        f"The models folder {disk.folder} lies {place}{measured}: streaming from it is slow.",
        "Move it to an SSD inside this machine and set SPECEXEC_MODELS to the new place.",
    )


def _notes(machine: Machine) -> Iterator[Finding]:
    around, cpu = machine.surroundings, machine.cpu
    if around.on_battery:
        yield Finding("on_battery", "note", "The machine runs on battery: it computes slower.", "Plug it in.")
    if around.remote is not None:
        yield Finding(
            "remote_session",
            "note",
            f"This is a remote session ({around.remote}): the models run here, not where you sit.",
            "Nothing to do.",
        )
    if around.wsl:
        yield Finding(
            "wsl",
            "note",
            "This is Linux inside Windows (WSL), which gives it a part of the RAM.",
            "Raise memory= in Windows' .wslconfig if models do not fit.",
        )
    if cpu.usable < cpu.threads:
        yield Finding(
            "cpu_limit",
            "note",
            f"This process may use {cpu.usable} of the processor's {cpu.threads} threads.",
            "Raise the container's limit, or the process's affinity, if that is not meant.",
        )


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))


def _gib(nbytes: int) -> str:
    return f"{nbytes / 2**30:.1f} GiB"
