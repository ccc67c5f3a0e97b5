"""The simulated target: the chunks, copies and waits of a real streamed pass, in the same order."""

from dataclasses import replace
from itertools import pairwise

import pytest
import torch

from engine import catalog
from engine.bench.simulation.card import SimulatedCard, SimulatedDisk
from engine.bench.simulation.clock import VirtualClock
from engine.bench.simulation.model import (
    SimulatedTarget,
    SizedMatrix,
    catalogued_weights,
    kernels,
    matrices_of,
    stored,
)
from engine.catalog import sizes
from engine.checkpoints import open_checkpoint
from engine.checkpoints.cuts import PIECE
from engine.formats import format_named
from engine.model.interface import no_progress
from engine.model.sequence import Sequence
from engine.planner import cards
from engine.planner.layer_placement import LayerPlacement
from engine.planner.outline import catalogued
from engine.planner.prediction import launching_s
from engine.streaming import WeightLimits
from engine.streaming.device_ring import DeviceRing
from engine.torch_model import builder
from engine.torch_model.loader import load_model
from tests.engine.models import reference
from tests.engine.streaming.fake_link import HostLink

CARD = cards()["RTX 4090"]
PASSES = 3


class Recorder:
    """Notes what the rings on cards fetch and bring. Attributes: `fetched`, `brought`, numbers of chunks."""

    def __init__(self, monkeypatch):
        self.fetched, self.brought = [], []
        fetch, bring = DeviceRing.fetch, DeviceRing._bring

        def noted_fetch(ring, chunk):
            self.fetched.append((chunk, ring._sizes[chunk]))
            return fetch(ring, chunk)

        def noted_bring(ring, step, number):
            self.brought.append((step, number, number in ring._slabs))
            bring(ring, step, number)

        monkeypatch.setattr(DeviceRing, "fetch", noted_fetch)
        monkeypatch.setattr(DeviceRing, "_bring", noted_bring)

    def taken(self):
        """Return what was fetched, and what was brought for it; how far a thread works ahead is open."""
        fetched, brought = self.fetched, self.brought
        self.fetched, self.brought = [], []
        return fetched, brought[: len(fetched)]


def simulated(weights, limits, link=25e9, disk=7e9):
    clock = VirtualClock()
    card = SimulatedCard(clock, link)
    return clock, SimulatedTarget(weights, limits, CARD, clock, card, SimulatedDisk(clock, disk))


@pytest.mark.parametrize(
    "limits", [WeightLimits(60_000), WeightLimits(60_000, 60_000), WeightLimits(90_000, 70_000)], ids=str
)
@pytest.mark.parametrize("architecture", ["qwen3", "gemma2"])
def test_a_simulated_pass_moves_the_chunks_of_a_real_one_in_its_order(
    tmp_path, monkeypatch, limits, architecture
):
    reference(architecture).save_pretrained(tmp_path)
    checkpoint, recorder = open_checkpoint(tmp_path), Recorder(monkeypatch)
    monkeypatch.setattr(builder, "link_to", lambda device: HostLink(seed=1))
    model = load_model(checkpoint, torch.float32, "cpu", no_progress, 64, packed=True, limits=limits)
    sequence = Sequence(model, 64)
    for token in range(PASSES):
        sequence.extend([3 + token])
    model.close()
    real = recorder.taken()
    clock, target = simulated(matrices_of(checkpoint.weights), limits)

    def passes():
        for _ in range(PASSES):
            target.run(1)
        target.close()

    clock.run(passes)
    assert recorder.taken() == real
    assert len({chunk for chunk, _ in real[0]}) > 4
    assert len(real[0]) % PASSES == 0


def test_kernels_are_launched_for_the_pieces_that_are_unpacked():
    matrix = SizedMatrix(
        "model.layers.0.mlp.up_proj.weight", (29_696, 8192), format_named("AWQ"), 29_696 * 8192 // 2
    )
    seconds = list(kernels(matrix, 64, CARD))
    assert len(seconds) == -(-29_696 * 8192 // PIECE)
    assert sum(seconds) == pytest.approx(
        29_696 * 8192 * (1 / CARD.unpack + CARD.itemsize / CARD.memory + 128 / CARD.flops)
    )
    (fused,) = kernels(matrix, CARD.fused_rows, CARD)
    (without_cores,) = kernels(matrix, CARD.fused_rows, replace(CARD, fused_share=0.25))
    assert without_cores - fused == pytest.approx(3 * 2 * CARD.fused_rows * 29_696 * 8192 / CARD.flops)
    old = list(kernels(matrix, 64, replace(CARD, halves=True)))
    moved = 64 * (10 * 29_696 + 10 * 8192)
    assert sum(old) - sum(seconds) == pytest.approx(moved / CARD.memory, rel=1e-3)


@pytest.mark.parametrize("rows", [1, 64])
@pytest.mark.parametrize("id", ["qwen2.5-72b-awq", "llama-3.3-70b-q4_k_m"])
def test_a_plan_counts_the_pieces_that_a_simulated_pass_launches(id, rows):
    variant = catalog.entries()[id]
    weights = catalogued_weights(catalog.catalog().models[variant.model], variant)
    cut = stored(weights, WeightLimits(1 << 30))
    launched = sum(len(list(kernels(each.matrix, rows, CARD))) for each in cut)
    streamed = LayerPlacement(("ram",), 0, 1, 0, ring=1)
    planned_s = launching_s(catalogued(id), streamed, rows, CARD)
    assert planned_s == pytest.approx(launched * CARD.launch_s)


@pytest.mark.parametrize("id", ["qwen2.5-72b-awq", "llama-3.3-70b-q4_k_m", "llama-2-70b-gptq"])
def test_the_matrices_of_a_catalogued_model_have_its_bytes(id):
    variant = catalog.entries()[id]
    model = catalog.catalog().models[variant.model]
    weights = catalogued_weights(model, variant)
    layers = sum(sizes.layer_nbytes(model, variant, layer).total for layer in range(model.layers))
    expected = layers + sizes.head_nbytes(model, variant)
    assert sum(weight.nbytes for weight in weights.values()) == pytest.approx(expected, rel=1e-3)
    spans = [span for weight in weights.values() for span in weight.spans]
    assert all(span.offset + span.nbytes == after.offset for span, after in pairwise(spans))
    cut = stored(weights, WeightLimits(1 << 30))
    assert sum(each.nbytes for each in cut) == sum(weight.nbytes for weight in weights.values())
