"""Graphics cards, from a recorded NVML and a recorded sysfs."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import pytest

from engine.machine.gpu import amd_gpus, has_nvidia_card, nvidia_gpus
from tests.engine.machine.trees import GIB, put

linux_paths = pytest.mark.skipif(os.name == "nt", reason="Windows has no names with colons")


class NVMLError(Exception):
    def __init__(self, value: int, message: str = "") -> None:
        super().__init__(message)
        self.value = value


@dataclass
class Nvml:
    """A substitute for pynvml on a machine with `cards`, each a dictionary from query to answer."""

    NVMLError = NVMLError
    NVML_ERROR_LIBRARY_NOT_FOUND = 12
    cards: list[dict]
    refused: NVMLError | None = None
    calls: list[str] = field(default_factory=list)

    def nvmlInit(self):
        self.calls.append("init")
        if self.refused:
            raise self.refused

    def nvmlShutdown(self):
        self.calls.append("shutdown")

    def nvmlSystemGetDriverVersion(self):
        return "580.65.06"

    def nvmlDeviceGetCount(self):
        return len(self.cards)

    def nvmlDeviceGetHandleByIndex(self, index):
        if "lost" in self.cards[index]:
            raise NVMLError(15, "GPU is lost")
        return self.cards[index]

    def __getattr__(self, name):
        def ask(card):
            if name not in card:
                raise NVMLError(3, "Not Supported")
            return card[name]

        return ask


CARD = {
    "nvmlDeviceGetName": "NVIDIA GeForce RTX 4090",
    "nvmlDeviceGetUUID": "GPU-8d5d2a33-77c5-4b4c-8d62-1f2f2e3c9f10",
    "nvmlDeviceGetMemoryInfo": SimpleNamespace(total=24 * GIB, free=20 * GIB, used=4 * GIB),
    "nvmlDeviceGetCudaComputeCapability": [8, 9],
    "nvmlDeviceGetMaxPcieLinkGeneration": 4,
    "nvmlDeviceGetMaxPcieLinkWidth": 16,
}


def test_a_card_is_described_by_nvml():
    nvml = Nvml([CARD])
    (gpu,), problem = nvidia_gpus(nvml)
    assert problem is None
    assert (gpu.vendor, gpu.name, gpu.driver) == ("nvidia", "NVIDIA GeForce RTX 4090", "580.65.06")
    assert (gpu.total_nbytes, gpu.free_nbytes) == (24 * GIB, 20 * GIB)
    assert gpu.compute_capability == (8, 9)
    assert gpu.uuid == "8d5d2a33-77c5-4b4c-8d62-1f2f2e3c9f10"
    assert gpu.pcie_gb_per_s == pytest.approx(31.5, abs=0.1)
    assert nvml.calls == ["init", "shutdown"]


def test_unsupported_queries_give_none():
    shared = {name: CARD[name] for name in ("nvmlDeviceGetName", "nvmlDeviceGetUUID")}
    (gpu,), problem = nvidia_gpus(Nvml([shared]))
    assert problem is None
    assert (gpu.total_nbytes, gpu.free_nbytes, gpu.compute_capability, gpu.pcie_gb_per_s) == (None,) * 4


def test_a_lost_card_does_not_hide_the_others():
    nvml = Nvml([{"lost": True}, CARD])
    gpus, problem = nvidia_gpus(nvml)
    assert [gpu.name for gpu in gpus] == ["NVIDIA GeForce RTX 4090"]
    assert problem == "GPU is lost"
    assert nvml.calls[-1] == "shutdown"


def test_no_driver_is_no_problem_and_a_broken_one_is():
    assert nvidia_gpus(Nvml([], NVMLError(12, "NVML Shared Library Not Found"))) == ([], None)
    mismatch = NVMLError(18, "Driver/library version mismatch")
    assert nvidia_gpus(Nvml([CARD], mismatch)) == ([], "Driver/library version mismatch")


def test_this_machines_cards_can_be_queried():
    gpus, _ = nvidia_gpus()
    assert all(gpu.name and gpu.driver for gpu in gpus)


@linux_paths
def test_an_amd_card_is_described_by_sysfs(tmp_path: Path):
    put(
        tmp_path,
        {
            "sys/bus/pci/devices/0000:03:00.0/vendor": "0x1002",
            "sys/bus/pci/devices/0000:03:00.0/device": "0x744c",
            "sys/bus/pci/devices/0000:03:00.0/class": "0x030000",
            "sys/bus/pci/devices/0000:03:00.0/mem_info_vram_total": str(24 * GIB),
            "sys/bus/pci/devices/0000:03:00.0/mem_info_vram_used": str(GIB),
            "sys/bus/pci/devices/0000:03:00.0/unique_id": "7a1f2bd04c3c6dd2",
            # The card's audio device, and a card whose driver is not loaded.
            "sys/bus/pci/devices/0000:03:00.1/vendor": "0x1002",
            "sys/bus/pci/devices/0000:03:00.1/class": "0x040300",
            "sys/bus/pci/devices/0000:03:00.1/mem_info_vram_total": str(GIB),
            "sys/bus/pci/devices/0000:04:00.0/vendor": "0x1002",
            "sys/bus/pci/devices/0000:04:00.0/class": "0x030000",
            "sys/module/amdgpu/version": "6.12.12",
        },
    )
    (gpu,) = amd_gpus(tmp_path)
    assert (gpu.vendor, gpu.name) == ("amd", "AMD graphics card 0x744c")
    assert (gpu.total_nbytes, gpu.free_nbytes) == (24 * GIB, 23 * GIB)
    assert (gpu.uuid, gpu.driver) == ("7a1f2bd04c3c6dd2", "6.12.12")
    put(tmp_path, {"sys/bus/pci/devices/0000:03:00.0/product_name": "Radeon RX 7900 XTX"})
    assert amd_gpus(tmp_path)[0].name == "Radeon RX 7900 XTX"
    assert gpu.architecture == ""
    assert not has_nvidia_card(tmp_path)


@linux_paths
@pytest.mark.parametrize(("version", "name"), [(110000, "gfx1100"), (90012, "gfx90c"), (90010, "gfx90a")])
def test_the_compute_driver_tells_an_amd_cards_architecture(tmp_path: Path, version: int, name: str):
    nodes = "sys/class/kfd/kfd/topology/nodes"
    for slot in ("0000:03:00.0", "0001:c3:01.2"):
        files = {"vendor": "0x1002", "class": "0x030000", "mem_info_vram_total": str(24 * GIB)}
        put(tmp_path, {f"sys/bus/pci/devices/{slot}/{file}": content for file, content in files.items()})
    put(
        tmp_path,
        {
            f"{nodes}/0/properties": "cpu_cores_count 16\ngfx_target_version 0\nlocation_id 0",
            f"{nodes}/1/properties": f"gfx_target_version {version}\nlocation_id {0xC30A}\ndomain 1\nodd",
        },
    )
    assert [gpu.architecture for gpu in amd_gpus(tmp_path)] == ["", name]


@linux_paths
def test_an_nvidia_card_without_a_driver_is_found(tmp_path: Path):
    bus = "sys/bus/pci/devices/0000:01:00.0"
    put(tmp_path, {f"{bus}/vendor": "0x10de", f"{bus}/class": "0x030200"})
    assert has_nvidia_card(tmp_path)
    assert amd_gpus(tmp_path) == []
    put(tmp_path, {f"{bus}/class": "0x0c0330"})  # a USB controller, which some NVIDIA cards contain
    assert not has_nvidia_card(tmp_path)
