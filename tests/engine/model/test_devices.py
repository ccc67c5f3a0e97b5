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


def test_a_card_that_rocm_supports_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    rocm(monkeypatch, "gfx1100")
    assert choose_device("auto") == choose_device("cuda") == "cuda"
    assert choose_device("cpu") == "cpu"


def test_a_card_without_code_for_it_is_named_and_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    rocm(monkeypatch, "gfx1102")
    assert choose_device("auto") == "cpu"
    with pytest.raises(DeviceUnavailable, match=r"no code for the AMD Radeon RX 7600 \(gfx1102\)"):
        choose_device("cuda")
