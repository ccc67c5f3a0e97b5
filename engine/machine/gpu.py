"""Find graphics cards: NVIDIA's through NVML, AMD's in Linux's sysfs. Starts neither CUDA nor torch."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pynvml

from engine.machine.data import Gpu
from engine.machine.system_files import ROOT, number, text

# PCIe generation: GB/s of one lane, net of line coding (PCI Express base specifications).
_LANE_GB_PER_S = {1: 0.25, 2: 0.5, 3: 0.985, 4: 1.969, 5: 3.938, 6: 7.563}
_NVIDIA, _AMD = "0x10de", "0x1002"
NO_DRIVER = "an NVIDIA card is installed, but its driver is not"


def nvidia_gpus(nvml: Any = pynvml) -> tuple[list[Gpu], str | None]:
    """Return the working NVIDIA cards, and the driver's message about a card that fails, or None.

    nvml: the module pynvml or a substitute for it. Without a driver, returns no cards and None.
    """
    try:
        nvml.nvmlInit()
    except nvml.NVMLError as error:
        missing = error.value == nvml.NVML_ERROR_LIBRARY_NOT_FOUND
        return [], None if missing else str(error)
    gpus: list[Gpu] = []
    problem = None
    try:
        driver = str(nvml.nvmlSystemGetDriverVersion())
        for index in range(nvml.nvmlDeviceGetCount()):
            try:
                gpus.append(_nvidia_gpu(nvml, nvml.nvmlDeviceGetHandleByIndex(index), driver))
            except nvml.NVMLError as error:
                problem = str(error)
    except nvml.NVMLError as error:
        problem = str(error)
    finally:
        nvml.nvmlShutdown()
    return gpus, problem


def _nvidia_gpu(nvml: Any, handle: Any, driver: str) -> Gpu:
    def optional(query: Callable[[Any], Any]) -> Any:
        try:
            return query(handle)
        except nvml.NVMLError:  # some cards do not support every query
            return None

    memory = optional(nvml.nvmlDeviceGetMemoryInfo)
    capability = optional(nvml.nvmlDeviceGetCudaComputeCapability)
    lane = _LANE_GB_PER_S.get(optional(nvml.nvmlDeviceGetMaxPcieLinkGeneration))
    lanes = optional(nvml.nvmlDeviceGetMaxPcieLinkWidth)
    return Gpu(
        vendor="nvidia",
        name=str(nvml.nvmlDeviceGetName(handle)),
        uuid=str(nvml.nvmlDeviceGetUUID(handle)).removeprefix("GPU-"),
        total_nbytes=memory and int(memory.total),
        free_nbytes=memory and int(memory.free),
        driver=driver,
        compute_capability=capability and (int(capability[0]), int(capability[1])),
        pcie_gb_per_s=lane * lanes if lane and lanes else None,
    )


def lanes_now(uuid: str, nvml: Any = pynvml) -> str:
    """Return how an NVIDIA card is connected at this moment, such as "PCIe 4 x16"; "" if the driver does not
    tell. An idle card saves power and reports PCIe 1. uuid: as `Gpu.uuid`."""
    try:
        nvml.nvmlInit()
    except nvml.NVMLError:
        return ""
    try:
        handle = nvml.nvmlDeviceGetHandleByUUID(f"GPU-{uuid}")
        generation = nvml.nvmlDeviceGetCurrPcieLinkGeneration(handle)
        return f"PCIe {generation} x{nvml.nvmlDeviceGetCurrPcieLinkWidth(handle)}"
    except nvml.NVMLError:
        return ""
    finally:
        nvml.nvmlShutdown()


def amd_gpus(root: Path = ROOT) -> list[Gpu]:
    """Return the AMD cards managed by Linux's amdgpu driver that have memory of their own.

    The driver's files are documented in docs.kernel.org/gpu/amdgpu/driver-misc.html.
    """
    architectures = _amd_architectures(root)
    return [
        Gpu(
            vendor="amd",
            name=text(card / "product_name") or f"AMD graphics card {text(card / 'device')}",
            uuid=text(card / "unique_id"),
            total_nbytes=total,
            free_nbytes=max(0, total - (number(card / "mem_info_vram_used") or 0)),
            driver=text(root / "sys/module/amdgpu/version") or None,
            architecture=architectures.get(card.name, ""),
        )
        for card in _cards(root, _AMD)
        if (total := number(card / "mem_info_vram_total")) is not None
    ]


def _amd_architectures(root: Path) -> dict[str, str]:
    """Return the architecture of each card that amdgpu's compute driver (KFD) offers, by its PCI address.

    KFD gives major * 10000 + minor * 100 + stepping, and LLVM's name has the last two in hexadecimal: 90012
    is gfx90c. Source: llvm-project, AMDGPUArchByKFD.cpp; Linux, kfd_topology.c.
    """
    found = {}
    for file in (root / "sys/class/kfd/kfd/topology/nodes").glob("*/properties"):
        lines = (line.split() for line in text(file).splitlines())
        values = {line[0]: int(line[1]) for line in lines if len(line) == 2 and line[1].isdecimal()}
        version, place = values.get("gfx_target_version", 0), values.get("location_id", 0)
        if not version:
            continue  # a processor
        address = f"{values.get('domain', 0):04x}:{place >> 8:02x}:{place >> 3 & 31:02x}.{place & 7}"
        found[address] = f"gfx{version // 10000}{version // 100 % 100:x}{version % 100:x}"
    return found


def has_nvidia_card(root: Path = ROOT) -> bool:
    """Whether an NVIDIA card is on the PCI bus, with or without a driver."""
    return bool(_cards(root, _NVIDIA))


def _cards(root: Path, vendor: str) -> list[Path]:
    """Return the folders of the vendor's PCI devices of the class "display controller" (0x03)."""
    devices = root / "sys/bus/pci/devices"
    return [
        device
        for device in (sorted(devices.iterdir()) if devices.is_dir() else ())
        if text(device / "vendor") == vendor and text(device / "class").startswith("0x03")
    ]
