"""The engine on another device: models are loaded, streamed, recorded and helped there, and give the numbers
of transformers on the processor."""

import threading
from dataclasses import replace

import numpy as np
import platformdirs
import pytest
import torch

from engine import protocol
from engine.checkpoints import open_checkpoint, windows
from engine.decoding.ahead import GrowingAhead
from engine.decoding.budget import FixedLimits
from engine.decoding.iteration import Iterated, decode
from engine.decoding.pass_thread import PassThread
from engine.decoding.verification import TargetVerifier
from engine.drafting import TreeLimits
from engine.drafting.none import NoDrafter
from engine.drafting.specexec import SpecExecDrafter
from engine.errors import BadCheckpoint
from engine.machine.disk_reads import SECTOR
from engine.model.description import described
from engine.model.interface import no_progress
from engine.model.rows import Output, Rows
from engine.model.sequence import Sequence
from engine.planner import lent_share
from engine.proof import link_checks, worker
from engine.proof.card import CudaCard
from engine.proof.trial import Trial
from engine.quantization.random_matrix import random_packed
from engine.sampling import Sampler
from engine.serving import fit
from engine.serving import load as steps
from engine.serving.service import EngineService
from engine.streaming import WeightLimits, chunks
from engine.torch_model.forward import TorchModel
from engine.torch_model.graphs import CudaRecorder
from engine.torch_model.loader import load_model
from engine.torch_model.near_products import NearProducts
from engine.torch_model.windowed_cache import WindowedTensorCache
from tests.engine.card.card import CARD, DEVICE
from tests.engine.card.kernels import TYPE
from tests.engine.checkpoints.gguf_converter import convert
from tests.engine.heads import made
from tests.engine.heads.test_service import METHODS, answer, write_target
from tests.engine.models import CONTEXT, VOCABULARY, disturbed, ours, reference
from tests.engine.planner.made import DESKTOP
from tests.engine.sessions import Session, assert_same
from tests.engine.torch_model.test_builder import TEXT, expected

RAM = WeightLimits(60_000)
DISK = WeightLimits(60_000, 70_000)


@pytest.fixture(autouse=True)
def tiny_gaps(monkeypatch, driver):
    """Stream small files in several chunks, from pinned memory."""
    monkeypatch.setattr(chunks, "GAP_NBYTES", SECTOR)


def load(path, dtype=torch.float32, **how) -> TorchModel:
    return load_model(open_checkpoint(path), dtype, TYPE, no_progress, CONTEXT, **how)


def check(model: TorchModel, module, tolerance=1e-4) -> None:
    """Compare the model's logits of some texts with those of transformers, and close it."""
    sequence = Sequence(model, CONTEXT)
    for text in (TEXT, [*TEXT[:5], *TEXT[:6]], TEXT):
        sequence.align(text[:-1])
        logits = sequence.extend(text[len(sequence.ids) :])
        assert logits.device == DEVICE
        torch.testing.assert_close(logits.cpu(), expected(module, text), rtol=tolerance, atol=tolerance)
    model.close()


@pytest.mark.parametrize(
    ("kind", "how"),
    [
        ("qwen3", {}),
        ("qwen3", {"limits": RAM}),
        ("qwen3", {"limits": DISK}),
        ("qwen3_moe", {"limits": DISK}),
        ("qwen3_5_text", {}),
    ],
    ids=str,
)
def test_a_model_on_a_card_gives_the_logits_of_transformers(kind, how, tmp_path):
    module = reference(kind)
    module.save_pretrained(tmp_path)
    check(load(tmp_path, **how), module)


@pytest.mark.parametrize(
    ("kind", "how", "waits"),
    [("qwen3", {}, 0), ("qwen3", {"limits": RAM}, 1), ("qwen3_moe", {"packed": True}, 2)],
    ids=["resident", "streamed", "two mixtures"],
)
def test_a_card_that_multiplies_in_float16_gives_the_logits_of_float32(kind, how, waits, tmp_path):
    module = reference(kind)
    module.save_pretrained(tmp_path)
    model = load(tmp_path, torch.float16, **how)
    recorded, model.graphs = model.graphs, None
    cache, before = model.new_cache(CONTEXT), CARD.kernels.waits
    model.forward(Rows.text(TEXT, 0), cache)
    assert CARD.kernels.waits == before + waits
    model.graphs = recorded
    check(model, module, tolerance=0.01)


def test_packed_weights_are_unpacked_on_the_card(tmp_path):
    module = reference("llama", hidden_size=64, intermediate_size=128)
    path = convert(module, tmp_path / "model.gguf", "Q8_0")
    model = load(path, limits=WeightLimits(90_000))
    logits = Sequence(model, CONTEXT).extend(TEXT).cpu()
    assert (logits - expected(module)).abs().max() < 0.05 * expected(module).abs().max()
    model.close()


def test_a_processor_that_helps_waits_for_inputs_and_the_card_for_outputs(tmp_path, monkeypatch):
    monkeypatch.setattr(NearProducts, "bytes_per_s", lambda self, rows: 1e12)
    monkeypatch.setattr(lent_share, "GAIN", 10.0)
    module = reference("qwen3")
    module.save_pretrained(tmp_path)
    model = load(tmp_path, limits=RAM, processor_helps="measured")
    assert model.lending.share > 0
    check(model, module)


@pytest.mark.parametrize(
    ("kind", "how", "waits"),
    [("qwen3", {}, 0), ("qwen3", {"limits": RAM}, 1), ("qwen3_moe", {"packed": True}, 2)],
    ids=["resident", "embedding on the disk", "two mixtures"],
)
def test_in_a_pass_the_host_waits_only_for_what_it_has_to_read(kind, how, waits, tmp_path):
    reference(kind).save_pretrained(tmp_path)
    model = load(tmp_path, **how)
    model.graphs = None
    rows, cache = Rows.text(TEXT, 0), model.new_cache(CONTEXT)
    before = CARD.kernels.waits
    model.forward(rows, cache)
    assert CARD.kernels.waits == before + waits
    model.close()


def test_in_a_pass_of_a_tree_over_states_the_host_waits_for_nothing(tmp_path):
    reference("qwen3_5_text").save_pretrained(tmp_path)
    model = load(tmp_path)
    sees = np.array([[1, 0, 0], [1, 1, 0], [1, 0, 1]], np.bool_)
    rows, cache = Rows(np.array(TEXT[:3]), np.array([0, 1, 1]), sees), model.new_cache(CONTEXT)
    before = CARD.kernels.waits
    model.forward(rows, cache)
    assert CARD.kernels.waits == before
    model.close()


def on_card(module, windows=()) -> TorchModel:
    model = ours(module)
    return TorchModel(model.module.to(TYPE), model.config, model.dtype, TYPE, windows=windows)


def test_a_card_keeps_the_rows_of_windows_only_although_savepoints_take_more_ram(monkeypatch):
    """A processor, whose memory that is, keeps all rows of so short a text."""
    monkeypatch.setattr(windows, "ROOM", 32)
    module = reference("qwen2_window")
    of_layers = described("tiny", module.config.model_type, module.config.to_dict()).windows
    narrow, whole = on_card(module, of_layers), on_card(module)
    here, there = (model.text_cache(300) for model in (ours(module, windows=of_layers), narrow))
    assert not isinstance(here, WindowedTensorCache)
    assert isinstance(there, WindowedTensorCache)
    assert there.nbytes < whole.text_cache(300).nbytes < there.nbytes + there.saved_nbytes
    session = Session(Sequence(narrow, 300), Sequence(whole, 300), seed=1)
    for count in (120, 100, 5):
        session.extend(count)
        session.grow(passes=1, most=14)
    for found, right in session.held:
        assert_same(right, found)
    assert session.both[0].cache.dropped


def test_recorded_passes_equal_launched_ones():
    plain, replayed = (on_card(reference("qwen2_window")) for _ in range(2))
    assert plain.graphs is not None
    plain.graphs = None
    session = Session(Sequence(plain, 300), Sequence(replayed, 300), seed=1)
    for count in (80, 2):
        session.extend(count)
        session.grow(passes=1, most=14)
    session.check()
    assert replayed.graphs.works
    assert any(replayed.graphs._recordings.values())


def test_a_recording_for_which_there_is_no_memory_is_done_without(small_card):
    model, other = on_card(reference("llama")), on_card(reference("llama"))
    other.graphs = None
    session = Session(Sequence(model, 64), Sequence(other, 64), seed=1)
    session.extend(40)
    recorder, limit = model.graphs._record, CARD.memory.nbytes

    def without_memory(work):
        small_card(1000)
        try:
            return recorder(work)
        finally:
            CARD.memory.nbytes = limit

    model.graphs._record = without_memory
    session.extend(3)
    model.graphs._record = recorder
    session.extend(1)
    session.check()
    recordings = model.graphs._recordings[session.both[0].cache]
    assert [rows for (rows, *_), recording in recordings.items() if recording is None] == [4]
    assert {rows for rows, *_ in recordings} == {1, 4, 64}


@pytest.mark.parametrize(
    "name", ["FP8_BLOCK", "MXFP4_APART", "NVFP4_APART", "NVFP4_FACTORED", "W4_ZEROS_BF16"]
)
def test_products_with_scales_apart_are_recorded(name):
    packed, there = (random_packed(name, (64, 256), place, torch.float32) for place in ("cpu", TYPE))
    x = torch.randn(5, 256, generator=torch.Generator().manual_seed(1))
    given = torch.zeros(5, 256, device=DEVICE)
    with torch.inference_mode():
        replay, output = CudaRecorder(DEVICE)(lambda: Output(there.product(given), {}))
        given.copy_(x)
        replay()
        torch.testing.assert_close(output.logits.cpu(), packed.product(x), rtol=1e-4, atol=1e-4)


PROMPT = [1, 17, 4, 33, 9, 9, 21, 50, 17, 4]


def text_of(target: TorchModel, draft: TorchModel | None, seed: int) -> list[int]:
    sampler = Sampler(seed=seed, temperature=0.8, top_p=0.9)
    drafter = SpecExecDrafter(Sequence(draft, 160), VOCABULARY) if draft else NoDrafter()
    verifier = TargetVerifier(Sequence(target, 160), sampler)
    rule = FixedLimits(TreeLimits(16 if draft else 0, 4, 4))
    tokens: list[int] = []
    for event in decode(verifier, drafter, sampler, PROMPT, rule, (), 16, no_progress):
        tokens += event.tokens if isinstance(event, Iterated) else []
    return tokens


def test_a_pair_writes_the_text_that_the_processor_writes_alone(tmp_path):
    module = reference("llama")
    module.save_pretrained(tmp_path)
    target, draft = load(tmp_path, limits=DISK), on_card(disturbed(module, 0.05))
    assert text_of(target, draft, seed=1) == text_of(ours(module), None, seed=1)
    target.close()


def test_a_draft_that_goes_on_beside_the_passes_of_a_target_changes_no_text(tmp_path):
    """A pass begins once the draft has gone on, as far as it does."""
    module = reference("llama")
    module.save_pretrained(tmp_path)
    target, draft = load(tmp_path, limits=DISK), on_card(disturbed(module, 0.05))
    drafter = SpecExecDrafter(Sequence(draft, 160), VOCABULARY)
    goes_on, grow, forward = threading.Event(), drafter.grow, target.forward

    def noted_grow(rounds, progress):
        if isinstance(progress, PassThread):
            goes_on.set()
        return grow(rounds, progress)

    def late_forward(rows, *rest, **others):
        goes_on.clear()
        goes_on.wait(0.2)
        return forward(rows, *rest, **others)

    drafter.grow, target.forward = noted_grow, late_forward
    sampler = Sampler(seed=1, temperature=0.8, top_p=0.9)
    verifier = TargetVerifier(Sequence(target, 160), sampler, ahead=True)
    rule = GrowingAhead(FixedLimits(TreeLimits(16, 4, 4)))
    events = list(decode(verifier, drafter, sampler, PROMPT, rule, (), 16, no_progress))
    iterations = [event for event in events if isinstance(event, Iterated)]
    tokens = [token for each in iterations for token in each.tokens]
    assert tokens == text_of(ours(module), None, seed=1)
    assert any(each.ahead for each in iterations)
    target.close()


def test_a_pass_apart_begins_behind_what_was_launched_before():
    model = on_card(reference("llama"))
    numbers = torch.zeros(64, device=DEVICE)
    for _ in range(100):
        numbers += 1
    with model.apart():
        seen = numbers.clone()
    assert seen.cpu().unique().tolist() == [100]


class QuietCard(CudaCard):
    """The card, of which no speed is measured."""

    def __init__(self) -> None:
        self.device = DEVICE
        self.measures = False


@pytest.mark.parametrize(
    ("kernel", "way"),
    [
        ("memory", "card"),
        ("dense float32", "card"),
        ("unpack NVFP4 float32", "torch"),
        ("unpack NVFP4_APART float32", "torch"),
        ("unpack FP8_BLOCK_BF16 float32", "torch"),
        ("unpack W4_ZEROS float32", "torch"),
        ("unpack MXFP4_APART float32", "processor"),
        ("unpack FP8_ROW float32", "processor"),
        ("product Q4_K float32", "unpack"),
        ("product NVFP4_SCALED float32", "unpack"),
        ("attention 8 float32", "fused"),
        ("attention 8 float32", "math"),
        ("scores 8 float32", "card"),
        ("scores 8 float32", "float32"),
        ("states", "solver"),
        ("states", "rows"),
        ("copies", "pinned"),
        ("copies", "staging"),
        ("streams", "two"),
        ("noise", "card"),
        ("graphs", "replay"),
    ],
)
def test_a_card_proves_itself(kernel, way, monkeypatch):
    monkeypatch.setattr(link_checks, "_NBYTES", 1 << 14)
    assert worker.tried(QuietCard(), Trial(kernel, way)) == worker.TriedWay(kernel, way, "right")


@pytest.fixture
def engine(tmp_path, monkeypatch):
    """An engine that plans for a card, and loads on this one. Small as the models are, the processor would be
    faster than the launches."""
    monkeypatch.setattr(platformdirs, "user_data_path", lambda *args, **kwargs: tmp_path / "data")
    there = replace(DESKTOP, card=replace(DESKTOP.card, launch_s=0.0))
    monkeypatch.setattr(fit.planner, "profile_of", lambda *known: there)
    monkeypatch.setattr(steps, "choose_device", lambda requested: "cpu" if requested == "cpu" else TYPE)
    engine = EngineService()
    yield engine
    engine.unload()


def load_pair(engine: EngineService, target, draft: str = "none", **settings) -> protocol.Loaded:
    request = protocol.Load(id=1, target=str(target), draft=draft, dtype="float32", **settings)
    return engine.load(request, lambda event: None, lambda: False)


@pytest.mark.parametrize("kind", ["eagle3", "dflash"])
def test_heads_draft_on_the_card(engine, kind, tmp_path):
    target = write_target(tmp_path / "target", tie_word_embeddings=False)
    heads = made.save(tmp_path, kind, made.random_weights(kind))
    load_pair(engine, target, str(heads), drafter=METHODS[kind], context=96)
    assert engine.session.pair.target.model.device == TYPE
    plain = answer(engine, "none", temperature=0.8, top_p=0.9)
    assert answer(engine, METHODS[kind], budget=8, temperature=0.8, top_p=0.9).token_ids == plain.token_ids


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("p-eagle", dict(ptd_token_id=VOCABULARY)),
        ("dflash", dict(dflash_config={"mask_token_id": VOCABULARY, "target_layer_ids": made.READ})),
    ],
    ids=["p-eagle", "dflash"],
)
def test_a_mask_token_that_is_not_in_the_embedding_does_not_stop_the_card(engine, kind, changes, tmp_path):
    target = write_target(tmp_path / "target", tie_word_embeddings=False)
    heads = made.save(tmp_path, kind, made.random_weights(kind), **changes)
    with pytest.raises(BadCheckpoint, match="mask token"):
        load_pair(engine, target, str(heads), drafter=METHODS[kind])
    CARD.synchronize()


def test_every_way_to_choose_tokens_chooses_those_of_the_processor(engine, tmp_path):
    target = write_target(tmp_path / "target")
    settings = [
        dict(temperature=0.9, top_k=9, repetition_penalty=1.2, presence_penalty=0.3, log_probs=2),
        dict(temperature=0.9, min_p=0.01, dry_multiplier=0.8, xtc_probability=0.5, logit_bias={7: 2.0}),
        dict(temperature=0.9, constraint=protocol.Constraint(kind="regex", text="[A-Z]{8}"), budget=8),
    ]

    def answers(**how) -> list[tuple[list[int], list[float]]]:
        load_pair(engine, target, **how)
        found = [answer(engine, "pld", **each) for each in settings]
        return [(each.token_ids, [one.log_prob for one in each.log_probs or ()]) for each in found]

    for ours_, theirs in zip(answers(), answers(device="cpu"), strict=True):
        assert ours_[0] == theirs[0]
        assert ours_[1] == pytest.approx(theirs[1], abs=1e-4)


def test_a_pair_that_runs_out_of_the_cards_memory_is_loaded_smaller(engine, tmp_path, small_card):
    target = write_target(tmp_path / "target")
    before, used = CARD.memory.used, []

    def note(event):
        if event.stage == "compiling":
            used.append(CARD.memory.used - before)

    request = protocol.Load(id=1, target=str(target), draft="none", dtype="float32")
    assert engine.load(request, note, lambda: False).smaller_plan is None
    needed = used[0]  # but for recorded passes, which are left out where there is no memory for them
    whole = answer(engine, "none")
    engine.unload()
    small_card(needed - 1)
    assert load_pair(engine, target).smaller_plan.full == "vram"
    assert CARD.memory.used - before < needed
    assert answer(engine, "none").token_ids == whole.token_ids
