import json

import pytest
import torch

from engine import cli
from engine.bench.quantization import measure, table
from engine.quantization.random_matrix import PACKED, random_packed

CPU = "cpu"


@pytest.mark.parametrize("name", PACKED)
def test_random_matrices_are_valid_and_not_trivial(name):
    packed = random_packed(name, (64, 256), CPU, torch.float32)
    assert packed.format.valid([part.numpy() for part in packed.parts])
    dense = packed.dense()
    assert dense.isfinite().all()
    assert len(dense.unique()) > 64


def test_every_way_is_measured_and_rates_follow_from_seconds():
    speeds = list(measure(["Q8_0", "AWQ"], CPU, torch.float32, (128, 256), rows=(1, 5), repeats=2))
    products = [(n, way) for n in (1, 5) for way in ("engine", "dense")]
    assert [(each.rows, each.way) for each in speeds if each.format == "Q8_0"] == [
        *((0, way) for way in ("engine", "torch", "gguf")),
        *products,
    ]
    assert [(each.rows, each.way) for each in speeds if each.format == "AWQ"] == [
        *((0, way) for way in ("engine", "torch")),
        *products,
    ]
    for each in speeds:
        assert each.seconds > 0
        assert each.spread >= 0
        assert each.gw_per_s == pytest.approx(128 * 256 / each.seconds / 1e9)
    assert speeds[0].gb_per_s / speeds[0].gw_per_s == pytest.approx(34 / 32)  # bytes per number in Q8_0
    assert len(list(table(speeds))) == len(speeds) + 1


def test_without_the_extra_the_error_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setattr("engine.bench.options.find_spec", lambda name: None)
    assert cli.run(["bench", "quantization", "--device", "cpu", "--size", "256", "--json"]) == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["kind"] == "missing_extra"
    assert "gguf" in error["message"]
    assert "specexec-desktop[bench]" in error["hint"]
