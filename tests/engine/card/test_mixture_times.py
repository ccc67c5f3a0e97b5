"""`specexec bench mixtures` on the card for tests: the figures of experts in every home."""

from dataclasses import replace

import pytest
import torch

from engine.bench.made_mixtures import SHAPES
from engine.bench.mixtures import ON_CARD, MixturePlan, measure, table
from tests.engine.card.kernels import TYPE


def test_passes_are_timed_with_experts_in_every_home_of_a_card(driver):
    shape = replace(SHAPES["tiny"], form="F32", other="F32")  # to unpack others takes many kernels
    plan = MixturePlan(shape, 0.25, 0.5, (1,), 3, 3, TYPE, torch.float32)
    report = measure(plan, lambda what: None)
    found = {each.home: each for each in report.passes}
    assert [*found] == [home.name for home in ON_CARD]
    resident, copied, near, divided, read, read_divided = found.values()
    assert (resident.there, resident.moved_nbytes) == (1, 0)
    assert copied.near == 0 < copied.missed
    assert copied.predicted_s == pytest.approx(resident.mean_s + copied.moved_nbytes * report.link_s)
    assert near.near > 0
    assert (near.missed, near.moved_nbytes) == (pytest.approx(0), 0)
    assert near.predicted_s > resident.mean_s + report.times.products_s([1])
    assert divided.predicted_s > resident.mean_s
    assert copied.read_nbytes == near.read_nbytes == divided.read_nbytes == 0
    assert min(read.read_nbytes, read_divided.read_nbytes) > 0
    moving_s = max(read.moved_nbytes * report.link_s, read.read_nbytes * report.disk_s)
    assert read.predicted_s == pytest.approx(resident.mean_s + moving_s)
    assert len(list(table(plan, report))) == 4 + len(ON_CARD)
