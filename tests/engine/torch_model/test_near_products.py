"""A processor that multiplies by weights in RAM beside a card, which here is the processor, too."""

import threading

import pytest
import torch

from engine import interruption
from engine.checkpoints import open_checkpoint
from engine.compiled.pool import shared_pool
from engine.errors import Interrupted
from engine.machine.disk_reads import SECTOR
from engine.model.interface import no_progress
from engine.model.rows import Rows
from engine.model.sequence import Sequence
from engine.planner import lent_share
from engine.planner.lent_share import ROWS, processor_share
from engine.streaming import WeightLimits, chunks
from engine.streaming.lent_chunks import Lending
from engine.torch_model import builder
from engine.torch_model.loader import load_model
from engine.torch_model.near_products import NearProducts
from tests.engine.checkpoints.gguf_converter import convert
from tests.engine.models import CONTEXT, reference
from tests.engine.streaming.fake_link import HostLink
from tests.engine.torch_model.test_builder import TEXT, AtOnce, expected

LIMITS = WeightLimits(60_000)
LINKS = {
    "at once": lambda: AtOnce(1 << 30),
    "late": lambda: HostLink(1),
    "not pinned": lambda: AtOnce(150_000),
}


@pytest.fixture
def link(monkeypatch, request):
    used = getattr(request, "param", LINKS["at once"])()
    monkeypatch.setattr(builder, "link_to", lambda device: used)
    return used


def load(path, limits=LIMITS, **how):
    checkpoint = open_checkpoint(path)
    return load_model(checkpoint, torch.float32, "cpu", no_progress, CONTEXT, limits=limits, **how)


@pytest.fixture
def helped(tmp_path, link):
    """Return a function that loads a model, of which the processor gets a share."""
    models = []

    def load_helped(share, path=None, limits=LIMITS):
        if path is None:
            reference("qwen3").save_pretrained(tmp_path)
        model = load(path or tmp_path, limits)
        models.append(model)
        kept = model.module.lm_head.weights
        model._near = products = NearProducts(model.streamer, link, shared_pool(), kept)
        model.lending = Lending(model.streamer, products.sizes, products.turn)
        model.lending.use(share)
        return model

    yield load_helped
    for model in models:
        model.close()


def moved_by(model, rows):
    """Return the bytes that the second of two passes over `rows` rows moves."""
    cache = model.new_cache(2 * rows)
    for _ in range(2):
        before = model.moved
        cache.truncate(0)
        model.forward(Rows.text([1] * rows, 0), cache)
    return model.moved - before


@pytest.mark.parametrize("link", LINKS.values(), indirect=True, ids=LINKS)
@pytest.mark.parametrize("limits", [LIMITS, WeightLimits(60_000, 70_000)], ids=["RAM", "RAM and disk"])
@pytest.mark.parametrize("share", [0.4, 1.0])
def test_a_helped_model_gives_the_logits_of_transformers(helped, share, limits):
    model = helped(share, limits=limits)
    assert 0 < model.lending.share <= share
    sequence = Sequence(model, CONTEXT)
    for text in (TEXT, [*TEXT[:5], *TEXT[:6]], TEXT):
        sequence.align(text[:-1])
        logits = sequence.extend(text[len(sequence.ids) :])
        torch.testing.assert_close(logits, expected(reference("qwen3"), text), rtol=1e-4, atol=1e-4)


def test_packed_weights_are_multiplied_as_on_the_processor(helped, tmp_path):
    module = reference("llama", hidden_size=64, intermediate_size=128)
    model = helped(1.0, convert(module, tmp_path / "model.gguf", "Q8_0"), WeightLimits(90_000))
    assert model.lending.share > 0.5
    logits = Sequence(model, CONTEXT).extend(TEXT)
    assert (logits - expected(module)).abs().max() < 0.05 * expected(module).abs().max()


def test_lent_chunks_cross_the_link_only_in_passes_over_many_rows(helped):
    model = helped(0.5)
    whole = model.streamer.pass_nbytes
    assert moved_by(model, ROWS + 1) == whole
    few = moved_by(model, ROWS)
    assert few == model.streamer.pass_nbytes < 0.7 * whole
    assert model.streamer.tiers["ram"] == few
    assert moved_by(model, ROWS + 1) == whole


def test_a_head_is_never_lent(helped):
    model = helped(1.0)
    model.lending.begin(1)
    assert not any(matrix.near for matrix in model.module.lm_head.weights)
    assert any(matrix.near for matrix in model._packed)


def product_of(model):
    """Return the processor's product of one of the model's matrices, and the matrix's width."""
    model.lending.begin(1)
    matrix = next(matrix for matrix in model._packed if matrix.near)
    return matrix.near, matrix.shape[1]


def test_a_pass_that_is_ended_ends_in_a_product_of_the_processor(helped):
    model = helped(1.0)
    product, width = product_of(model)
    interruption.interrupt()
    try:
        product.send(torch.ones(1, width))
        product.start()
        with pytest.raises(Interrupted):
            product.finish()
    finally:
        interruption.resume()
    logits = Sequence(model, CONTEXT).extend(TEXT)
    torch.testing.assert_close(logits, expected(reference("qwen3")), rtol=1e-4, atol=1e-4)


def test_products_that_an_ended_pass_has_left_behind_are_dropped(helped):
    model = helped(1.0)
    product, width = product_of(model)
    for _ in range(3):
        product.send(torch.ones(1, width))
        for _ in range(5):
            product.start()
    logits = Sequence(model, CONTEXT).extend(TEXT)
    torch.testing.assert_close(logits, expected(reference("qwen3")), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("link", [LINKS["late"]], indirect=True)
def test_outputs_on_their_way_to_the_card_are_not_overwritten(helped):
    product, width = product_of(helped(1.0))
    outputs = []
    for factor in range(8):
        product.send(torch.full((1, width), float(factor)))
        for _ in range(factor % 3 + 1):
            product.start()
        outputs.append([product.finish() for _ in range(factor % 3 + 1)])
    for factor, alike in enumerate(outputs):
        for output in alike:
            torch.testing.assert_close(output, factor * outputs[1][0])


def test_a_closed_model_leaves_no_thread(tmp_path, link):
    reference("qwen3").save_pretrained(tmp_path)
    threads = threading.active_count()
    for _ in range(3):
        load(tmp_path, processor_helps="measured").close()
    assert threading.active_count() == threads


def test_processor_and_link_end_together():
    share = processor_share(20e9, 25e9)
    assert share / 20e9 == pytest.approx((1 - share) / 25e9)


@pytest.mark.parametrize(("gain", "helps"), [(0.5, True), (0.99, False), (1.5, False)])
def test_the_share_is_chosen_by_the_times_of_passes(helped, gain, helps):
    tried = helped(0.0).lending

    def run():
        return gain if tried.share else 1.0

    tried.choose(run, processor=tried.nbytes / 1.0)
    assert bool(tried.share) == helps


@pytest.mark.parametrize("rate", [1e3, 1e12], ids=["slow", "fast"])
def test_a_loaded_model_is_as_right_whatever_the_passes_have_shown(tmp_path, link, monkeypatch, rate):
    reference("qwen3").save_pretrained(tmp_path)
    monkeypatch.setattr(NearProducts, "bytes_per_s", lambda self, rows: rate)
    monkeypatch.setattr(lent_share, "GAIN", 10.0)
    model = load(tmp_path, processor_helps="measured")
    assert (model.lending.share > 0) == (rate > 1e6)
    assert ("by the processor" in model.arithmetic) == (rate > 1e6)
    logits = Sequence(model, CONTEXT).extend(TEXT)
    torch.testing.assert_close(logits, expected(reference("qwen3")), rtol=1e-4, atol=1e-4)
    model.close()


def test_a_model_that_is_not_streamed_needs_no_help(tmp_path, link):
    reference("qwen3").save_pretrained(tmp_path)
    model = load(tmp_path, WeightLimits(1 << 30), processor_helps="measured")
    assert model.lending is None
    assert Sequence(model, CONTEXT).extend(TEXT).isfinite().all()
    model.close()


@pytest.fixture
def mixture(tmp_path, link, monkeypatch):
    """The folder of a mixture, of which some chunks are streamed beside a cache of experts."""
    monkeypatch.setattr(chunks, "GAP_NBYTES", SECTOR)  # else, all of so small a file is close together
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    reference(
        "mixtral", num_local_experts=8, hidden_size=64, intermediate_size=128, num_hidden_layers=2
    ).save_pretrained(tmp_path)
    return tmp_path


def test_the_passes_that_choose_a_share_teach_nothing_about_the_routing(mixture):
    model = load(mixture, WeightLimits(300_000), processor_helps="measured")
    assert model.lending is not None
    assert model.experts.misses > 0
    assert model.streamer._cache.routing.passes == 0
    Sequence(model, CONTEXT).extend([5])
    assert model.streamer._cache.routing.passes == 1
    model.close()


def test_by_itself_the_processor_gets_experts_and_no_chunks(mixture):
    model = load(mixture, WeightLimits(300_000), processor_helps="auto")
    assert model.streamer.lendable
    assert model.near_experts is not None
    assert model.lending is None
    model.close()
