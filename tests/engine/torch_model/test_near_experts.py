"""A processor that multiplies by experts in RAM beside a card, which here is the processor, too."""

import threading

import platformdirs
import pytest
import torch

from engine import interruption
from engine.checkpoints import open_checkpoint
from engine.drafting import TreeLimits
from engine.drafting.none import NoDrafter
from engine.errors import Interrupted, StreamBroken
from engine.machine.disk_reads import SECTOR
from engine.model.interface import no_progress
from engine.model.sequence import Sequence
from engine.planner.expert_times import ROWS, ExpertTimes
from engine.sampling import Sampler
from engine.streaming import WeightLimits, chunks
from engine.torch_model import builder
from engine.torch_model.loader import load_model
from engine.torch_model.near_experts import ExpertProcessor
from tests.engine.checkpoints.gguf_converter import convert
from tests.engine.checkpoints.test_gguf_architectures import tiny
from tests.engine.model.test_self_draft import answer
from tests.engine.models import CONTEXT, reference
from tests.engine.streaming.fake_link import HostLink
from tests.engine.torch_model.test_builder import TEXT, AtOnce, expected

SLOW_LINK = ExpertTimes(link_s=1.0, exchange_s=0.0, expert_s=1e-3, row_s=1e-5)
EVEN = ExpertTimes(link_s=1.0, exchange_s=0.0, expert_s=1.0, row_s=0.0)
# Bytes for 2 experts, and for most of them; all 16 take 1.8 MB.
FEW, MANY = WeightLimits(300_000), WeightLimits(1_100_000)
LINKS = {"at once": lambda: AtOnce(1 << 30), "late": lambda: HostLink(1), "not pinned": lambda: AtOnce(0)}


@pytest.fixture(autouse=True)
def small_files(monkeypatch, tmp_path):
    monkeypatch.setattr(chunks, "GAP_NBYTES", SECTOR)
    monkeypatch.setattr(platformdirs, "user_data_path", lambda *args, **kwargs: tmp_path / "data")


@pytest.fixture
def link(monkeypatch, request):
    used = getattr(request, "param", LINKS["at once"])()
    monkeypatch.setattr(builder, "link_to", lambda device: used)
    return used


def mixture():
    return reference(
        "mixtral", num_local_experts=8, hidden_size=64, intermediate_size=128, num_hidden_layers=2
    )


@pytest.fixture
def helped(tmp_path, link, monkeypatch):
    """Return a function that loads a model of which the processor takes experts by these times."""
    models = []

    def load(times=SLOW_LINK, limits=FEW, path=None):
        if path is None:
            path = tmp_path / "mixture"
            mixture().save_pretrained(path)
        if times is not None:
            monkeypatch.setattr(ExpertProcessor, "_timed", lambda self: times)
        how = {"limits": limits, "processor_helps": "measured"}
        models.append(load_model(open_checkpoint(path), torch.float32, "cpu", no_progress, CONTEXT, **how))
        return models[-1]

    yield load
    for model in models:
        model.close()


def check(model, module, texts=(TEXT, [*TEXT[:5], *TEXT[:6]], TEXT)):
    sequence = Sequence(model, CONTEXT)
    for text in texts:
        sequence.align(text[:-1])
        logits = sequence.extend(text[len(sequence.ids) :])
        torch.testing.assert_close(logits, expected(module, text), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("link", LINKS.values(), indirect=True, ids=LINKS)
@pytest.mark.parametrize("times", [SLOW_LINK, EVEN], ids=["slow link", "even"])
def test_a_helped_mixture_gives_the_logits_of_transformers(helped, times):
    model = helped(times)
    check(model, mixture())
    counts = model.experts
    assert counts.near > 0
    if times is EVEN:
        assert counts.misses > 0


@pytest.mark.parametrize(
    ("kind", "sizes"),
    [
        ("qwen3_moe", ["moe_intermediate_size"]),
        ("gpt_oss", ["intermediate_size"]),
        ("nemotron_h_experts", ["moe_intermediate_size", "intermediate_size"]),
    ],
    ids=["gate and up", "biases", "no gate"],
)
def test_experts_of_every_form_are_multiplied_as_on_a_card(helped, kind, sizes, tmp_path):
    module = tiny(kind, hidden_size=64, **dict.fromkeys(sizes, 32))
    path = convert(module, tmp_path / "model.gguf")
    nbytes = sum(weight.nbytes for weight in open_checkpoint(path).weights.values())
    model = helped(SLOW_LINK, WeightLimits(nbytes // 2), path)
    check(model, module)
    assert model.experts.near > 0


def test_packed_experts_are_multiplied_as_on_a_card(helped, tmp_path):
    path = convert(mixture(), tmp_path / "model.gguf", storage="Q8_0")
    model = helped(SLOW_LINK, WeightLimits(200_000), path)
    whole = load_model(open_checkpoint(path), torch.float32, "cpu", no_progress, CONTEXT, packed=True)
    own, cards = (Sequence(each, CONTEXT).extend(TEXT) for each in (model, whole))
    assert model.experts.near > 0
    assert 0 < (own - cards).abs().max() < 0.02 * cards.abs().max(), "activations are rounded to 8 bits"


def test_only_experts_that_the_card_holds_or_gets_are_fetched(helped):
    model = helped()
    before = model.experts
    Sequence(model, CONTEXT).extend(TEXT)
    done = model.experts - before
    assert done.near > 4
    assert done.misses == 0
    assert "experts by the processor" in model.arithmetic


def test_passes_over_prompts_are_the_cards_alone(helped):
    model = helped()
    Sequence(model, CONTEXT + ROWS).extend([*TEXT * 4][: ROWS + 1])
    assert (model.experts.near, model.experts.misses > 0) == (0, True)


def test_results_of_both_are_added_in_the_order_of_the_router(helped, monkeypatch):
    model = helped()
    cache, own = model.streamer.near_experts, model.near_experts
    experts = model.module.model.layers[0].mlp.experts
    x, shares = torch.full((1, 64), 0.5), torch.ones(1, 3)

    def given(*chosen):
        cache.clear()
        return experts(x, torch.tensor([chosen]), shares[:, : len(chosen)])

    monkeypatch.setattr(own.loan, "take", lambda lacking, rows: [each for each in lacking if each % 2])
    monkeypatch.setattr(own.loan, "ahead", lambda: 0)
    alone = [given(expert) for expert in range(8)]
    for order in ([5, 0, 3], [3, 5, 0], [0, 3, 5], [2, 7, 4]):
        assert torch.equal(given(*order), alone[order[0]] + alone[order[1]] + alone[order[2]])
    assert model.experts.near > 0 < model.experts.misses


def test_what_the_processor_multiplies_by_is_learned_and_brought_in_idle_time(helped):
    model = helped(ExpertTimes(link_s=2.0, exchange_s=0.0, expert_s=1.0, row_s=0.0), MANY)
    sequence = Sequence(model, CONTEXT)
    for _ in range(12):
        sequence.extend([7])
    assert model.streamer._cache.routing.passes > 1
    before = model.experts
    sequence.rewind(1)
    for _ in range(6):
        sequence.extend([7])
    done = model.experts - before
    assert before.near > 0
    assert (done.hits > 0, done.misses, done.near) == (True, 0, 0)


def test_a_pass_that_is_ended_ends_in_a_product_of_the_processor(helped):
    model = helped()
    own = model.near_experts
    x, rows = torch.ones(1, 64), [torch.zeros(1, dtype=torch.int64).numpy()]
    interruption.interrupt()
    try:
        assert own.take(0, [3], [1]) == [3]
        own.start(0, x, [3], rows)
        with pytest.raises(Interrupted):
            own.finish()
    finally:
        interruption.resume()
    for _ in range(5):
        own.take(1, [3], [1])
        own.start(1, x, [3], rows)  # and passes that leave products behind
    check(model, mixture())


@pytest.mark.parametrize("link", [LINKS["late"]], indirect=True)
def test_seconds_are_tried_when_a_model_is_loaded(helped):
    model = helped(times=None)
    times = model.near_experts.loan.times
    assert min(times.link_s, times.exchange_s, times.products_s([1])) > 0
    assert model.experts.near == model.streamer._cache.routing.passes == 0
    check(model, mixture())


@pytest.mark.parametrize("link", LINKS.values(), indirect=True, ids=LINKS)
@pytest.mark.parametrize("times", [SLOW_LINK, EVEN], ids=["slow link", "even"])
@pytest.mark.parametrize("ram", [500_000, 1_000_000])
def test_of_experts_on_the_disk_those_in_ram_are_multiplied_where_they_lie(helped, times, ram):
    model = helped(times, WeightLimits(300_000, ram))
    check(model, mixture())
    counts = model.experts
    assert counts.near > 0
    assert counts.misses > 0, "those that are read from the disk are the card's"
    assert counts.from_disk > 0


@pytest.mark.parametrize("times", [SLOW_LINK, EVEN], ids=["slow link", "even"])
@pytest.mark.parametrize("ram", [None, 500_000, 1_000_000])
def test_greedy_tokens_are_those_of_the_whole_model(helped, tmp_path, times, ram):
    model = helped(times, WeightLimits(300_000, ram))
    checkpoint = open_checkpoint(tmp_path / "mixture")
    whole = load_model(checkpoint, torch.float32, "cpu", no_progress, CONTEXT)
    expected, found = (
        answer(Sequence(each, CONTEXT), NoDrafter(), Sampler(), TEXT, TreeLimits(1, 1, 1), most=12)[0]
        for each in (whole, model)
    )
    assert model.experts.near > 0
    assert found == expected
    whole.close()


def test_seconds_are_tried_with_experts_that_are_read_for_it(helped):
    model = helped(times=None, limits=WeightLimits(300_000, 700_000))
    times = model.near_experts.loan.times
    assert min(times.link_s, times.products_s([1])) > 0
    assert model.experts.near == model.streamer._cache.routing.passes == 0
    check(model, mixture())


def test_experts_that_cannot_all_be_read_stay_no_ones_loan(helped, monkeypatch):
    model = helped(limits=WeightLimits(300_000, 700_000))
    cache = model.streamer.near_experts
    fetch, asked = cache._ram.fetch, []

    def fetch_one(expert):
        asked.append(expert)
        if len(asked) > 1:
            raise StreamBroken("The file is gone.")
        return fetch(expert)

    monkeypatch.setattr(cache._ram, "fetch", fetch_one)
    with pytest.raises(StreamBroken):
        cache.lend_all([2, 3, 4])
    assert asked == [2, 3]
    assert not cache._ram._lent


def test_a_cache_in_ram_that_holds_two_experts_lends_none(helped):
    model = helped(limits=WeightLimits(300_000, 300_000))
    assert model.near_experts is None
    assert Sequence(model, CONTEXT).extend(TEXT).isfinite().all()


def test_what_fails_while_a_model_is_closed_keeps_nothing_else_open(helped, monkeypatch):
    model, closed = helped(), []
    close = model.near_experts.close

    def fail():
        close()
        raise RuntimeError("CUDA error")

    with monkeypatch.context() as patch:
        patch.setattr(model.near_experts, "close", fail)
        patch.setattr(model.streamer, "close", lambda: closed.append(True))
        with pytest.raises(RuntimeError, match="CUDA error"):
            model.close()
    assert closed


def test_a_closed_model_leaves_no_thread(tmp_path, link):
    mixture().save_pretrained(tmp_path)
    threads = threading.active_count()
    how = {"limits": FEW, "processor_helps": "measured"}
    model = load_model(open_checkpoint(tmp_path), torch.float32, "cpu", no_progress, CONTEXT, **how)
    assert model.near_experts is not None
    model.close()
    assert threading.active_count() == threads
