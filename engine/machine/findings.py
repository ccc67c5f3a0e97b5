"""Find a machine's problems and their remedies. All functions are pure: they query no hardware."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from engine.machine.data import Gpu, Machine
from engine.machine.gpu import NO_DRIVER
from engine.machine.torch_build import TorchBuild

Severity = Literal["warning", "note"]
_ORDER: tuple[Severity, ...] = ("warning", "note")


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem of a machine.

    kind: an identifier for programs. severity: "warning" if the machine does not reach its full speed or
    capacity; "note" if it is only for information. message: one sentence that states
    the problem. hint: what to do next.
    """

    kind: str
    severity: Severity
    message: str
    hint: str


# For each major version of CUDA, the oldest driver (on Linux, on Windows) that runs programs built for it.
# Sources: “Minor version compatibility” in NVIDIA's CUDA Compatibility guide; exact numbers from the CUDA
# release notes.
_LOWEST_DRIVER = {11: ("450.80.02", "452.39"), 12: ("525.60.13", "528.33"), 13: ("580", "580")}
# The build of torch that set-up installs for NVIDIA cards, and the oldest driver it needs.
_CUDA_BUILD, _CUDA_BUILD_DRIVER = "cu130", "580"
_DRIVERS = "nvidia.com/drivers"

LITTLE_RAM_NBYTES = 4 << 30
LITTLE_DISK_NBYTES = 10 << 30
# No hard disk reads faster than this; SATA SSDs read 0.5 GB/s.
SLOW_GB_PER_S = 0.4


def diagnose(machine: Machine, torch: TorchBuild | None) -> list[Finding]:
    """Return all findings, the most severe first. torch: the installed build, or None."""
    findings = [*_torch(machine, torch), *_cards(machine), *_ram(machine), *_disk(machine), *_notes(machine)]
    return sorted(findings, key=lambda finding: _ORDER.index(finding.severity))


def _torch(machine: Machine, torch: TorchBuild | None) -> Iterator[Finding]:
    if torch is None:
        yield Finding(
            "no_torch",
            "warning" if machine.gpus else "note",
            "PyTorch is not set up, so only the processor computes, and some models do not run.",
            "Set it up in the window (Settings, Engine), or install the package torch.",
        )
        return
    nvidia = [gpu for gpu in machine.gpus if gpu.vendor == "nvidia"]
    amd = [gpu for gpu in machine.gpus if gpu.vendor == "amd"]
    if nvidia and torch.cuda is None:
        yield Finding(
            "cpu_only_torch",
            "warning",
            f"PyTorch {torch.version} was built without CUDA, so the {nvidia[0].name} is not used.",
            f"Install PyTorch {torch.version.partition('+')[0]} built for {_CUDA_BUILD} "
            f"(pytorch.org/get-started; needs driver {_CUDA_BUILD_DRIVER} or newer).",
        )
    elif nvidia and torch.cuda is not None:
        yield from _driver(machine, nvidia[0], torch.cuda)
        yield from _capability(nvidia, torch)
        yield from _kernels(machine, nvidia[0], torch)
    if amd and not nvidia and torch.rocm is None:
        yield Finding(
            "no_rocm_torch",
            "warning",
            f"PyTorch {torch.version} was built without ROCm, so the {amd[0].name} is not used.",
            "Install the ROCm build of PyTorch (pytorch.org/get-started). It is available for Linux only.",
        )
    elif amd and torch.rocm is not None:
        yield from _architecture(amd, torch)
        yield from _kernels(machine, amd[0], torch)


def _driver(machine: Machine, gpu: Gpu, cuda: str) -> Iterator[Finding]:
    # WSL uses the driver installed in Windows.
    windows = machine.system == "windows" or machine.surroundings.wsl
    lowest = _LOWEST_DRIVER.get(_numbers(cuda)[0], ("0", "0"))[windows]
    if gpu.driver is not None and _numbers(gpu.driver) < _numbers(lowest):
        yield Finding(
            "driver_too_old",
            "warning",
            f"NVIDIA driver {gpu.driver} is too old for PyTorch's CUDA {cuda}, so the {gpu.name} "
            "is not used.",
            f"Install driver {lowest} or newer{' in Windows' if windows else ''} ({_DRIVERS}).",
        )


def _capability(gpus: list[Gpu], torch: TorchBuild) -> Iterator[Finding]:
    for gpu in gpus:
        if gpu.compute_capability is None or not torch.architectures:
            continue
        if not has_code(torch.architectures, gpu.compute_capability):
            major, minor = gpu.compute_capability
            yield Finding(
                "card_not_supported",
                "warning",
                f"PyTorch {torch.version} does not support the {gpu.name} (compute capability "
                f"{major}.{minor}), so the card is not used.",
                "Install a build of PyTorch that supports this card (pytorch.org/get-started).",
            )


def _architecture(gpus: list[Gpu], torch: TorchBuild) -> Iterator[Finding]:
    """ROCm has no code that is compiled when it is loaded: a card needs code for its own architecture."""
    for gpu in gpus:
        if gpu.architecture and torch.architectures and gpu.architecture not in torch.architectures:
            yield Finding(
                "card_not_supported",
                "warning",
                f"PyTorch {torch.version} does not support the {gpu.name} ({gpu.architecture}), so the card "
                "is not used.",
                f"It supports {', '.join(torch.architectures)}. Install a build that supports the card, if "
                "there is one (rocm.docs.amd.com, “System requirements”).",
            )


def _kernels(machine: Machine, gpu: Gpu, torch: TorchBuild) -> Iterator[Finding]:
    if torch.kernel_problem is None:
        return
    version = torch.version.partition("+")[0]
    if torch.kernel_problem == "no_triton":
        missing = "Triton is not installed"
        package = "triton-rocm" if torch.rocm else "triton"
        package += "-windows" if machine.system == "windows" and torch.cuda else ""
        hint = f"Set the engine up again in the settings, or install the package {package} in the version "
        hint += f"that belongs to PyTorch {version}."
    else:
        missing = "Triton finds no C compiler or no headers of Python"
        hint = "Install them (on Debian and Ubuntu: sudo apt install gcc python3-dev)."
    yield Finding(
        "slow_kernels",
        "warning",
        f"{missing}, so the {gpu.name} unpacks compressed weights several times more slowly than it could.",
        hint,
    )


def has_code(architectures: Iterable[str], capability: tuple[int, int]) -> bool:
    """Whether a build of torch for these architectures has code for a card of NVIDIA of this compute
    capability."""
    return any(_runs(each, capability) for each in architectures)


def _runs(architecture: str, capability: tuple[int, int]) -> bool:
    """Whether a card of this compute capability can run code that was built for `architecture`.

    For example, code for `sm_86` runs on cards of capability 8.6 to 8.9, code for `sm_90a` on 9.0 only, and
    code for `compute_90`, which is compiled when it is loaded, on 9.0 and higher. Source: CUDA C++
    Programming Guide, “Binary compatibility”, “PTX compatibility”.
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
        hint = "Restart the computer. A driver update takes effect only after a restart."
        if machine.gpu_problem == NO_DRIVER:
            hint = f"Install the NVIDIA driver ({_DRIVERS}, or your distribution's package)."
        elif machine.surroundings.container:
            hint = "Start the container with access to the card (docker run --gpus all)."
        message = f"A graphics card cannot be used: {machine.gpu_problem}."
        yield Finding("card_does_not_answer", "warning", message, hint)
    elif not machine.gpus:
        yield Finding(
            "no_card",
            "note",
            "No supported graphics card was found, so models run on the processor.",
            "No action needed. Everything works, but more slowly than with a graphics card.",
        )


def _ram(machine: Machine) -> Iterator[Finding]:
    memory = machine.memory
    if memory.available_nbytes < LITTLE_RAM_NBYTES:
        use = "pinning weights for the graphics card" if machine.gpus else "holding weights"
        yield Finding(
            "little_ram",
            "warning",
            f"Only {_gib(memory.available_nbytes)} of RAM is free, which is too little for {use}.",
            "Close other programs. Weights that do not fit are read from the disk in every pass.",
        )
    if memory.limit_nbytes is not None:
        yield Finding(
            "ram_limit",
            "note",
            f"This process is limited to {_gib(memory.limit_nbytes)} of the machine's RAM.",
            "Raise the container's memory limit if the machine has more RAM.",
        )
    if machine.gpus and memory.pinnable_nbytes < memory.total_nbytes:
        yield Finding(
            "pinning_limit",
            "note",
            f"Windows can pin at most half of the RAM ({_gib(memory.pinnable_nbytes)}) for graphics cards.",
            "No action needed. Weights beyond that are copied through a small pinned buffer, which is "
            "slower. Linux can pin more.",
        )


def _disk(machine: Machine) -> Iterator[Finding]:
    disk = machine.disk
    if disk.free_nbytes < LITTLE_DISK_NBYTES:
        yield Finding(
            "little_disk",
            "warning",
            f"The disk of {disk.folder} has {_gib(disk.free_nbytes)} free, too little for a large model.",
            "Free some space, or set SPECEXEC_MODELS to a folder on another disk.",
        )
    speed = disk.speed.best_gb_per_s if disk.speed else None
    if speed is not None and speed >= SLOW_GB_PER_S:
        return  # the disk is fast, whatever kind the system reports
    measured = f" and reads {speed:.2f} GB/s" if speed is not None else ""
    if disk.kind == "network" and machine.surroundings.wsl and disk.file_system in ("9p", "drvfs"):
        kind, place = "windows_drive", "on a Windows drive, which WSL reads slowly"
    elif disk.kind == "network":
        kind, place = "network_share", "on a network share"
    elif disk.kind == "hdd":
        # An unmeasured disk may be an SSD all the same, because a virtual machine's SSD may report "hdd".
        kind = "hard_disk"
        place = "on a hard disk" if speed is not None else "on a disk that reports itself as a hard disk"
    elif speed is not None:
        kind, place = "slow_disk", "on a slow disk"
    else:
        return
    yield Finding(
        kind,
        "warning",
        f"The models folder {disk.folder} is {place}{measured}, so streaming from it is slow.",
        "Move it to an internal SSD and set SPECEXEC_MODELS to the new folder.",
    )


def _notes(machine: Machine) -> Iterator[Finding]:
    around, cpu = machine.surroundings, machine.cpu
    if around.on_battery:
        yield Finding(
            "on_battery", "note", "The computer runs on battery, which slows it down.", "Plug it in."
        )
    if around.remote is not None:
        yield Finding(
            "remote_session",
            "note",
            f"This is a remote session ({around.remote}): models run on this machine, not on your own.",
            "No action needed.",
        )
    if around.wsl:
        yield Finding(
            "wsl",
            "note",
            "This is Linux inside Windows (WSL), which can use only part of the RAM.",
            "If models do not fit, raise memory= in .wslconfig in Windows.",
        )
    if cpu.usable < cpu.threads:
        yield Finding(
            "cpu_limit",
            "note",
            f"This process is limited to {cpu.usable} of the processor's {cpu.threads} threads.",
            "If this is not intended, raise the container's CPU limit or change the process's affinity.",
        )


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))


def _gib(nbytes: int) -> str:
    return f"{nbytes / 2**30:.1f} GiB"
