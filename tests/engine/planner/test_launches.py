"""The pieces that a pass launches on a card are counted as the engine cuts them, and plans reckon with the
time that they take."""

from collections import Counter
from dataclasses import replace

import pytest
import torch

from engine.checkpoints import open_checkpoint
from engine.planner import Acceptance, Asked, PairOutline, checkpoint_outline, plan_for
from engine.planner.launches import OutlinedMatrix, recordings_nbytes
from engine.planner.layer_placement import LayerPlacement
from engine.planner.machines import GIB, LAUNCH_S
from engine.planner.outline import catalogued
from engine.planner.prediction import launching_s
from engine.planner.run_rows import RECORDED_ROWS
from engine.torch_model.graphs import ROWS, Inputs, bucket
from tests.engine.models import reference
from tests.engine.planner.made import CARD, CPU, DESKTOP

STREAMED = LayerPlacement(("ram",), 0, 1, 0, ring=1)
WHOLE = LayerPlacement(("device",), 1, 0, 0, whole=True)
DENSE = catalogued("qwen2.5-14b-q4_k_m")
MIXTURE = catalogued("qwen3-30b-a3b-q4_k_m")


@pytest.mark.parametrize("kind", ["llama", "mixtral"])
def test_an_outline_has_the_matrices_of_its_file(kind, tmp_path):
    module = reference(kind)
    module.save_pretrained(tmp_path)
    found = Counter[bool]()
    for matrix, count in checkpoint_outline(open_checkpoint(tmp_path), "tiny").matrices:
        found[matrix.expert] += count
    config = module.config
    experts = getattr(config, "num_local_experts", 0)
    of_a_layer = 4 + (1 if experts else 3)  # attention, and a router or an MLP
    assert found[False] == config.num_hidden_layers * of_a_layer + 1
    assert found[True] == config.num_hidden_layers * experts * 3


def test_what_is_moved_whole_is_still_unpacked_in_pieces():
    cut, uncut = (OutlinedMatrix(29568, 8192, 140 << 20, uncut=uncut) for uncut in (False, True))
    slot = 32 << 20
    assert (cut.pieces(None, True, False), uncut.pieces(slot, True, False)) == (1, 1)
    assert cut.pieces(slot, True, False) == 5
    assert uncut.pieces(slot, False, False) == 15 <= cut.pieces(slot, False, False)


@pytest.mark.parametrize("slots", [40, 256, 257, 8192, 10_000])
def test_recordings_are_counted_as_they_are_made(slots):
    buckets = {bucket(keys, slots) for keys in range(1, slots + 1)}
    with torch.device("meta"):
        inputs = [Inputs(rows, [keys], "meta") for rows in ROWS for keys in buckets]
        logits = torch.empty(ROWS[-1], 500, dtype=torch.bfloat16)
    tensors = [each for of in inputs for each in (of._numbers, of.places[0]._numbers, of.places[0].seen)]
    counted = sum(each.nbytes for each in [*tensors, logits])
    of_a_pass = RECORDED_ROWS * (500 + 70) * 2
    assert recordings_nbytes(slots, 500, 70, 0, 2) == counted + of_a_pass
    hidden = len(buckets) * sum(ROWS) * 30 * 2
    assert recordings_nbytes(slots, 500, 70, 30, 2) == counted + of_a_pass + hidden


def test_passes_that_are_replayed_launch_nothing():
    assert launching_s(DENSE, WHOLE, RECORDED_ROWS, CARD) == 0
    larger, streamed = (launching_s(DENSE, place, RECORDED_ROWS + 1, CARD) for place in (WHOLE, STREAMED))
    assert 0 < larger <= streamed
    assert launching_s(DENSE, WHOLE, RECORDED_ROWS + 1, CARD, unpacked=True) < larger / 3
    assert launching_s(DENSE, STREAMED, 1, CPU) == 0, "the processor launches nothing"


def test_a_mixture_launches_the_experts_that_its_rows_choose():
    one, many = (launching_s(MIXTURE, WHOLE, rows, CARD) for rows in (1, 1000))
    layers, chosen = len(MIXTURE.layers), round(128 * MIXTURE.chosen)
    assert one == pytest.approx(LAUNCH_S * (layers * (4 + 1 + 3 * chosen) + 1))
    assert many > 10 * one


def test_a_plan_is_limited_by_launching_where_that_takes_longest():
    alone = PairOutline(MIXTURE, None, Acceptance(0, "measured"))
    asked = Asked(2048, budget=0, device="cuda")
    machine = replace(DESKTOP, vram=32 * GIB)
    slow, free = (
        plan_for(replace(machine, card=replace(CARD, launch_s=seconds)), alone, asked)
        for seconds in (LAUNCH_S, 0.0)
    )
    assert (slow.limited_by, free.limited_by) == ("launching", "compute")
    assert slow.seconds_per_pass == pytest.approx(launching_s(MIXTURE, WHOLE, 1, CARD))
    assert free.seconds_per_pass < slow.seconds_per_pass
