"""The device that a model runs on."""

from types import SimpleNamespace

import pytest
import torch

from engine import machine
from engine.errors import DeviceUnavailable
from engine.machine import TorchBuild
from engine.model.devices import choose_device


def rocm(monkeypatch: pytest.MonkeyPatch, architecture: str) -> None:
    """Let torch look like a build for ROCm beside a card of `architecture`."""
    build = TorchBuild("2.13.0+rocm7.0", rocm="7.0")
    card = SimpleNamespace(name="AMD Radeon RX 7600", gcnArchName=f"{architecture}:sramecc-:xnack-")
    monkeypatch.setattr(machine, "installed_torch", lambda: build)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: card)
    monkeypatch.setattr(torch.cuda, "get_arch_list", lambda: ["gfx90a", "gfx1100"])


def cuda(monkeypatch: pytest.MonkeyPatch, capability: tuple[int, int]) -> None:
    """Let torch look like a build for CUDA 13 beside a card of this compute capability."""
    monkeypatch.setattr(machine, "installed_torch", lambda: TorchBuild("2.13.0+cu130", cuda="13.0"))
    monkeypatch.setattr(machine, "show_cards", lambda: None)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    card = SimpleNamespace(name="NVIDIA GeForce GTX 1080")
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: card)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: capability)
    monkeypatch.setattr(torch.cuda, "get_arch_list", lambda: ["sm_75", "sm_80", "sm_86", "sm_90", "sm_120"])


@pytest.mark.parametrize("capability", [(7, 5), (8, 9), (9, 0), (12, 1)])
def test_a_card_that_cuda_has_code_for_computes(
    monkeypatch: pytest.MonkeyPatch, capability: tuple[int, int]
) -> None:
    cuda(monkeypatch, capability)
    assert choose_device("auto") == choose_device("cuda") == "cuda"


@pytest.mark.parametrize("capability", [(6, 1), (7, 0)])
def test_a_card_that_cuda_has_no_code_for_is_named_and_not_tried(
    monkeypatch: pytest.MonkeyPatch, capability: tuple[int, int]
) -> None:
    cuda(monkeypatch, capability)
    assert choose_device("auto") == "cpu"
    words = r"no code for the NVIDIA GeForce GTX 1080 \(compute capability {}\.{}\)".format(*capability)
    with pytest.raises(DeviceUnavailable, match=words):
        choose_device("cuda")


def test_a_card_that_rocm_supports_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    rocm(monkeypatch, "gfx1100")
    assert choose_device("auto") == choose_device("cuda") == "cuda"
    assert choose_device("cpu") == "cpu"


def test_a_card_without_code_for_it_is_named_and_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    rocm(monkeypatch, "gfx1102")
    assert choose_device("auto") == "cpu"
    with pytest.raises(DeviceUnavailable, match=r"no code for the AMD Radeon RX 7600 \(gfx1102\)"):
        choose_device("cuda")


@pytest.mark.parametrize("vendor", ["NVIDIA", "AMD"])
def test_a_card_is_tried_by_a_build_that_names_no_architectures(
    monkeypatch: pytest.MonkeyPatch, vendor: str
) -> None:
    if vendor == "NVIDIA":
        cuda(monkeypatch, (6, 1))
    else:
        rocm(monkeypatch, "gfx1102")
    monkeypatch.setattr(torch.cuda, "get_arch_list", list)
    assert choose_device("auto") == choose_device("cuda") == "cuda"
