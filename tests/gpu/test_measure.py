"""The command that measures a card, on a machine that may have none."""

import re
import sys
from dataclasses import replace
from pathlib import Path

from engine import machine
from tests.gpu import measure

ROOT = Path(__file__).parents[2]


def test_the_day_the_processor_and_a_tiny_mixture_are_printed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    options = ["mixture", "--device", "cpu", "--tiny", "--out", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["measure", *options])
    assert measure.main() == 0
    first, part, *table, last = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"\d{4}-\d\d-\d\d; .+, \d+ threads; torch .+", first)
    assert part.startswith("== mixture: done")
    homes = ["on the device", "on the SSD"]
    assert [re.split(r" {2,}", line.strip())[:2] for line in table[-4:]] == [
        [home, rows] for home in homes for rows in ("1", "8")
    ]
    assert last == "all done"


def test_the_card_that_torch_computes_on_is_named(monkeypatch):
    cards = machine.Gpu("amd", "Made-up 9070"), machine.Gpu("nvidia", "Made-up 4090", driver="580.1")
    here = replace(machine.probe(Path.cwd()), gpus=cards)
    monkeypatch.setattr(machine, "probe", lambda folder: here)
    monkeypatch.setattr(machine, "installed_torch", lambda: machine.TorchBuild("2.10", cuda="13.0"))
    assert "; Made-up 4090, driver 580.1; " in measure.heading("cuda")
    assert "Made-up" not in measure.heading("cpu")


def test_every_part_names_a_benchmark_that_has_a_tiny_form():
    assert {options.split()[0] for options in measure.TIMES.values()} == measure.TINY.keys()
