"""The experts of a mixture on a card: wherever they are, however many the card keeps, texts are the same."""

import platformdirs
import pytest
import torch

from engine.model.rows import Rows
from engine.model.sequence import Sequence
from engine.routing import RoutingFile
from engine.streaming import WeightLimits
from engine.torch_model.near_experts import ExpertProcessor
from tests.engine.card.card import CARD, DEVICE
from tests.engine.card.test_engine import answer, engine, load, load_pair, text_of, tiny_gaps
from tests.engine.heads.test_service import write_target
from tests.engine.mixtures import EVEN, SLOW_LINK
from tests.engine.models import CONTEXT, ours, reference
from tests.engine.torch_model.test_builder import TEXT, expected

__all__ = ["engine", "tiny_gaps"]  # fixtures

FEW, MANY = 300_000, 1_100_000  # bytes for 2 experts and for most of them; all take 1.8 MB
PLACES = {
    "few on the card": WeightLimits(FEW),
    "many on the card": WeightLimits(MANY),
    "few on the card, others on the disk": WeightLimits(FEW, 500_000),
    "many on the card, others on the disk": WeightLimits(MANY, 500_000),
}


@pytest.fixture(autouse=True)
def no_earlier_answers(monkeypatch, tmp_path):
    monkeypatch.setattr(platformdirs, "user_data_path", lambda *args, **kwargs: tmp_path / "data")


def mixture():
    """A Mixtral with 8 experts in each of its two layers, 2 of which a row uses."""
    return reference(
        "mixtral", num_local_experts=8, hidden_size=64, intermediate_size=128, num_hidden_layers=2
    )


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("mixture")
    mixture().save_pretrained(path)
    return path


@pytest.mark.parametrize("where", PLACES)
def test_the_places_of_experts_change_no_bit(path, where):
    resident, cached = load(path, packed=True), load(path, limits=PLACES[where])
    one, other = Sequence(resident, CONTEXT), Sequence(cached, CONTEXT)
    for rows in (TEXT, [7], [50], [3, 9, 12], [1], TEXT, [4]):
        assert torch.equal(one.extend(rows).cpu(), other.extend(rows).cpu())
    assert cached.experts.hits + cached.experts.misses > 0
    before = cached.moved
    cached.streamer.sweep()
    assert cached.moved - before == cached.streamer.pass_nbytes
    one.rewind(0)
    other.rewind(0)
    assert torch.equal(one.extend(TEXT).cpu(), other.extend(TEXT).cpu())
    assert cached.nbytes <= PLACES[where].device_nbytes + resident.nbytes
    cached.close()


@pytest.mark.parametrize("where", ["few on the card", "many on the card, others on the disk"])
def test_a_card_writes_the_text_that_the_processor_writes(path, where):
    target = load(path, limits=PLACES[where])
    assert text_of(target, None, seed=1) == text_of(ours(mixture()), None, seed=1)
    target.close()


def test_results_are_added_in_the_order_of_the_router(path):
    model = load(path, packed=True)
    experts = model.module.model.layers[0].mlp.experts
    x, shares = torch.full((1, 64), 0.5, device=DEVICE), torch.ones(1, 3, device=DEVICE)
    alone = [experts(x, torch.tensor([[each]], device=DEVICE), shares[:, :1]).cpu() for each in range(8)]
    for order in ([5, 0, 3], [3, 5, 0], [0, 3, 5]):
        found = experts(x, torch.tensor([order], device=DEVICE), shares).cpu()
        assert torch.equal(found, alone[order[0]] + alone[order[1]] + alone[order[2]])


def test_a_card_that_runs_out_of_memory_keeps_fewer_experts(path, small_card):
    module, model = mixture(), load(path, limits=WeightLimits(MANY))
    sequence = Sequence(model, CONTEXT)
    sequence.extend(TEXT)
    before = model.streamer.cache_nbytes
    small_card(1000)
    for text in (TEXT, TEXT[:7]):
        sequence.rewind(0)
        torch.testing.assert_close(sequence.extend(text).cpu(), expected(module, text), rtol=1e-4, atol=1e-4)
    assert 0 < model.streamer.cache_nbytes < before
    model.close()


def test_a_card_with_enough_memory_again_keeps_as_many_experts_as_before(path, small_card, monkeypatch):
    model = load(path, limits=WeightLimits(MANY))
    sequence = Sequence(model, CONTEXT)
    sequence.extend(TEXT)
    before = model.streamer.cache_nbytes
    small_card(1000)
    sequence.rewind(0)
    sequence.extend(TEXT)
    monkeypatch.setattr(model.streamer._cache, "_patience_s", 0.0)
    sequence.extend([7])
    assert model.streamer.cache_nbytes < before
    small_card(1 << 29)
    for _ in range(20):
        sequence.extend([7])
        sequence.rewind(5)
    assert model.streamer.cache_nbytes == before
    model.close()


def test_a_card_without_memory_for_a_pass_says_so(path, small_card):
    model = load(path, limits=WeightLimits(FEW))
    sequence = Sequence(model, CONTEXT)
    sequence.extend(TEXT)
    small_card(1000)
    with pytest.raises(torch.OutOfMemoryError):
        sequence.extend(TEXT)
    model.close()


def test_what_an_answer_teaches_fills_the_card_at_the_next_start(path):
    limits = WeightLimits(MANY, 500_000)
    model = load(path, limits=limits)
    Sequence(model, CONTEXT).extend([5])
    chosen = model.experts.misses
    model.close()
    assert RoutingFile(path).read() is not None
    model = load(path, limits=limits)
    Sequence(model, CONTEXT).extend([5])
    assert (model.experts.hits, model.experts.misses) == (chosen, 0)
    model.close()


def test_figures_tell_where_experts_are_and_what_crossed_the_link(engine, tmp_path):
    write_target(tmp_path)
    mixture().save_pretrained(tmp_path)
    found, few, some = [], FEW / 2**30, 500_000 / 2**30
    for limits in ({}, {"vram_limit": few}, {"vram_limit": few, "ram_limit": some}):
        load_pair(engine, tmp_path, context=64, **limits)
        found.append(answer(engine, "none"))
        engine.unload()
    resident, in_ram, on_disk = found
    assert resident.experts is None
    for each in (in_ram, on_disk):
        assert each.token_ids == resident.token_ids
        assert each.experts.tier == "vram"
        assert 0 < each.experts.bytes_read <= each.bytes_streamed
    assert (in_ram.experts.bytes_from_disk, on_disk.experts.bytes_from_disk > 0) == (0, True)

    def places(answer):
        return {part.tier: part.nbytes for part in answer.memory.parts if part.what == "target_experts"}

    assert places(in_ram).keys() == {"vram", "ram"}
    assert places(on_disk).keys() == {"vram", "ram", "ssd"}
    assert places(in_ram)["ram"] == places(on_disk)["ssd"] > places(on_disk)["vram"]
    assert places(on_disk)["ram"] <= 500_000


# Where RAM is small beside the card, it holds none of what the card lacks.
HELPED = [where for where in PLACES if where != "many on the card, others on the disk"]


@pytest.mark.parametrize("where", HELPED)
@pytest.mark.parametrize("times", [SLOW_LINK, EVEN], ids=["slow link", "even"])
def test_a_helped_card_writes_the_text_that_the_processor_writes(path, where, times, monkeypatch):
    monkeypatch.setattr(ExpertProcessor, "_timed", lambda self: times)
    target = load(path, limits=PLACES[where], processor_helps="measured")
    assert text_of(target, None, seed=1) == text_of(ours(mixture()), None, seed=1)
    assert target.experts.near > 0
    target.close()


def test_in_a_helped_pass_the_host_waits_only_for_what_routers_choose(path, monkeypatch):
    monkeypatch.setattr(ExpertProcessor, "_timed", lambda self: SLOW_LINK)
    model = load(path, limits=WeightLimits(FEW), processor_helps="measured")
    rows, cache = Rows.text(TEXT, 0), model.new_cache(CONTEXT)
    before = CARD.kernels.waits
    model.forward(rows, cache)
    assert model.experts.near > 0
    assert CARD.kernels.waits == before + 2 + 1, "of two mixtures, and an embedding on the disk"
    model.close()


def test_figures_tell_by_how_many_experts_the_processor_multiplied(engine, tmp_path, monkeypatch):
    monkeypatch.setattr(ExpertProcessor, "_timed", lambda self: SLOW_LINK)
    write_target(tmp_path)
    mixture().save_pretrained(tmp_path)
    found = {}
    for helps in ("never", "measured"):
        few = FEW / 2**30
        loaded = load_pair(engine, tmp_path, context=64, vram_limit=few, processor_helps=helps)
        assert ("experts by the processor" in loaded.dtype) == (helps == "measured")
        found[helps] = answer(engine, "none")
        engine.unload()
    alone, helped = found["never"], found["measured"]
    assert helped.token_ids == alone.token_ids
    assert alone.experts.near == 0 < helped.experts.near
    assert helped.experts.bytes_read < alone.experts.bytes_read
