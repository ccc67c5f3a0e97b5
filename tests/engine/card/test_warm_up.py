"""What a card compiles and records once and for all is done while a pair is loaded: the first answer waits
for none of it. On another device, where plain torch stands for Triton's kernels."""

import shutil

import pytest
import torch

from engine import firsts, protocol, ways
from engine.checkpoints import open_checkpoint
from engine.errors import CardFailed, DiskSilent, Interrupted, KernelsNotStored, StreamBroken
from engine.model.interface import no_progress
from engine.model.sequence import Sequence
from engine.proof import record
from engine.proof.card_proof import CardProof
from engine.quantization import Packed, triton
from engine.serving.load import LoadJob
from engine.serving.pair import LoadedPair
from engine.serving.session import Session
from engine.serving.warm_up import record_ahead, warm_up
from engine.streaming import WeightLimits
from engine.tokenizer import load_tokenizer
from engine.torch_model import graphs
from engine.torch_model import warm_up as steps
from engine.torch_model.loader import load_model
from tests.engine.card import test_engine
from tests.engine.card.card import CARD
from tests.engine.card.kernels import TYPE
from tests.engine.checkpoints.gguf_converter import convert
from tests.engine.heads import made
from tests.engine.heads.test_service import METHODS, answer, write_target
from tests.engine.models import reference
from tests.engine.proof.fake_card import with_triton
from tests.engine.proof.test_card_proof import GPU, Answers
from tests.engine.remarks import said

engine = test_engine.engine
tiny_gaps = test_engine.tiny_gaps

CONTEXT = 96
TEXTS = ("HELLO", "ABCDEFGH" * 9)  # a pass of few rows, and one of more than are recorded


@pytest.fixture
def compiled(monkeypatch):
    """The kernels that were compiled: one for each format, dtype, number of rows that a kernel reaches, and
    whether 16 divides a count."""
    with_triton(monkeypatch)
    kinds: set[tuple] = set()

    def compiling(name, key):
        sound = getattr(triton, name)

        def kernel(*args):
            kind = name, args[0], *key(*args)
            if kind not in kinds:
                kinds.add(kind)
                firsts.note()
            return sound(*args)

        monkeypatch.setattr(triton, name, kernel)

    def reach(name, data, x, rows):
        return x.dtype, next((most for most in triton.ROWS if len(x) <= most), None), rows % 16 == 0

    compiling("unpack_blocks", lambda name, data, out: (out.dtype, out.numel() // 32 % 16 == 0))
    compiling("multiply_blocks", reach)
    return kinds


@pytest.fixture
def target(tmp_path):
    return write_target(tmp_path / "target", tie_word_embeddings=False)


@pytest.fixture
def load_packed(tmp_path, target):
    """A function that loads a packed target on the card; given the limits of its memory."""
    module = reference("llama", hidden_size=64, intermediate_size=128, num_key_value_heads=1)
    file = open_checkpoint(convert(module, tmp_path / "model.gguf", storage="Q8_0"))
    sessions = []

    def load(limits: WeightLimits | None = None) -> Session:
        model = load_model(file, torch.float32, TYPE, no_progress, CONTEXT, packed=True, limits=limits)
        tokenizer = load_tokenizer(open_checkpoint(target))
        sessions.append(Session(LoadedPair(Sequence(model, CONTEXT), None, tokenizer)))
        return sessions[-1]

    yield load
    for session in sessions:
        session.close()


@pytest.fixture
def proof(tmp_path, monkeypatch):
    monkeypatch.setattr(record, "_file", lambda: tmp_path / "card.json")
    proof = CardProof(GPU, Answers)
    proof.prove(["unpack Q8_0 float32", "product Q8_0 float32", "graphs"])
    yield proof
    ways.take({})


def warm(session: Session, proof: CardProof | None = None) -> list[protocol.Event]:
    events: list[protocol.Event] = []
    warm_up(LoadJob(1, events.append, lambda: False), session, "none", proof)
    return events


def logits(session: Session, *counts: int) -> list[torch.Tensor]:
    """Return the logits behind texts of so many tokens."""
    target, found = session.pair.target, []
    for count in counts:
        target.rewind(0)
        found.append(target.extend([3 + n % 50 for n in range(count)]).cpu())
    return found


@pytest.mark.parametrize("draft", ["none", "draft", "eagle3"])
def test_the_first_answer_waits_for_nothing_that_is_done_once(engine, target, draft, tmp_path):
    drafter = "auto"
    if draft == "draft":
        draft = str(shutil.copytree(target, tmp_path / "draft"))
    elif draft in METHODS:
        drafter = METHODS[draft]
        draft = str(made.save(tmp_path, draft, made.random_weights(draft)))
    events: list[protocol.Event] = []
    request = protocol.Load(
        id=1, target=str(target), draft=draft, dtype="float32", context=CONTEXT, drafter=drafter
    )
    assert engine.load(request, events.append, lambda: False).device == TYPE
    told = [(each.done, each.total) for each in events if getattr(each, "stage", "") == "compiling"]
    models = 2 if drafter == "auto" and draft != "none" else 1
    total = models * len(graphs.usual_sizes([CONTEXT]))
    assert told == [(done, total) for done in range(total + 1)]
    before = firsts.count()
    for text in TEXTS:
        answer(engine, drafter, text)
    assert firsts.count() == before


@pytest.mark.parametrize("limits", [None, WeightLimits(90_000)], ids=["resident", "streamed"])
def test_all_kernels_of_packed_weights_are_compiled_beforehand(compiled, load_packed, limits):
    session = load_packed(limits)
    warm(session)
    known, before = set(compiled), firsts.count()
    assert {kind[3] for kind in known if kind[0] == "multiply_blocks"} == {*triton.ROWS, None}
    assert {kind[0] for kind in known} == {"multiply_blocks", "unpack_blocks"}
    logits(session, 1, 3, 20, 70)
    assert compiled == known
    assert firsts.count() == before


def test_a_product_that_fails_is_done_by_unpacking_from_then_on(compiled, load_packed, proof, monkeypatch):
    expected = logits(load_packed(), 1, 20, 70)

    def fail(name, data, x, rows):
        if len(x) <= triton.ROWS[-1]:  # there are no kernels for more
            raise RuntimeError("CUDA error: no kernel image is available for execution on the device")

    monkeypatch.setattr(triton, "multiply_blocks", fail)
    session = load_packed()
    warm(session, proof)
    assert ways.taken("product", "Q8_0", torch.float32) == "unpack"
    assert ways.taken("unpack", "Q8_0", torch.float32) == "triton"
    assert said(proof.remarks).startswith(
        "Multiplying by packed weights (Q8_0, float32; triton) does not work on this"
    )
    kept = [
        (each.kernel, each.way) for each in record.read(record.identity_of(GPU)) if each.outcome == "failed"
    ]
    assert kept == [("product Q8_0 float32", "triton")], "the next start does not try it again"
    for shown, wanted in zip(logits(session, 1, 20, 70), expected, strict=True):
        torch.testing.assert_close(shown, wanted, rtol=1e-4, atol=1e-4)


def test_a_card_that_cannot_record_launches_kernels_from_then_on(load_packed, proof, monkeypatch):
    expected = logits(load_packed(), 3)
    asked = []

    def refuse(self, work):
        asked.append(work)
        raise RuntimeError("operation not permitted when stream is capturing")

    monkeypatch.setattr(graphs.CudaRecorder, "__call__", refuse)
    session = load_packed()
    warm(session, proof)
    assert ways.taken("graphs") == "launches"
    torch.testing.assert_close(logits(session, 3), expected, rtol=1e-4, atol=1e-4)
    assert len(asked) == 1


def test_a_kernel_whose_last_way_fails_does_not_fail_the_load(load_packed, proof, monkeypatch, caplog):
    def fail(*args):
        raise RuntimeError("it does not work")

    monkeypatch.setattr(steps, "_multiply", fail)
    session = load_packed()
    warm(session, proof)
    assert ways.taken("unpack", "Q8_0", torch.float32) == "processor"
    assert "it does not work" in caplog.text
    assert ways.taken("graphs") == "replay", "that this model cannot be recorded, says nothing about graphs"
    assert session.pair.target.model.graphs is None


@pytest.mark.parametrize(
    "error",
    [torch.OutOfMemoryError("CUDA out of memory."), RuntimeError("Triton Error [CUDA]: out of memory")],
    ids=str,
)
def test_missing_memory_says_nothing_about_a_kernel(load_packed, proof, monkeypatch, error):
    def fail(*args):
        raise error

    monkeypatch.setattr(steps, "_multiply", fail)
    before = list(proof.tried)
    warm(load_packed(), proof)
    assert proof.tried == before


@pytest.mark.parametrize(
    "error", [StreamBroken("The file is gone."), DiskSilent("it", 60.0), KernelsNotStored()], ids=repr
)
def test_an_error_of_the_disk_says_nothing_about_a_kernel(load_packed, proof, monkeypatch, error):
    def fail(*args):
        raise error

    monkeypatch.setattr(steps, "_look_up", fail)
    before = list(proof.tried)
    with pytest.raises(type(error)):
        warm(load_packed(), proof)
    assert proof.tried == before


def test_what_cannot_be_recorded_for_want_of_memory_is_recorded_when_there_is_some(
    load_packed, proof, monkeypatch
):
    def fail(self, work):
        raise torch.OutOfMemoryError("CUDA out of memory.")

    session, recorder = load_packed(), graphs.CudaRecorder.__call__
    monkeypatch.setattr(graphs.CudaRecorder, "__call__", fail)
    warm(session, proof)
    monkeypatch.setattr(graphs.CudaRecorder, "__call__", recorder)
    logits(session, 1)
    (recordings,) = session.pair.target.model.graphs._recordings.values()
    assert len(recordings) == 1
    assert None not in recordings.values()


def test_between_answers_passes_over_longer_texts_are_recorded(load_packed, monkeypatch):
    monkeypatch.setattr(graphs, "KEYS", 16)
    monkeypatch.setattr(graphs, "RECORDED_KEYS", 16)
    session = load_packed()
    warm(session)
    target, begun = session.pair.target, firsts.count()

    def answer(tokens: int) -> int:
        """Add so many tokens one by one; return how many passes had to be recorded first."""
        before = firsts.count()
        for token in range(tokens):
            target.extend([3 + token])
        return firsts.count() - before

    assert answer(14) == 0
    record_ahead(session, lambda: True)
    assert firsts.count() == begun
    record_ahead(session, lambda: False)
    assert firsts.count() == begun + len(graphs.ROWS)
    assert answer(10) == 0, "of more than 16 keys"
    assert answer(10) == 1, "of more than 32 keys, for which nothing was recorded"


def test_a_failing_product_and_a_failing_unpacking_are_told_apart(compiled, load_packed, proof, monkeypatch):
    sound, asked = triton.unpack_blocks, []

    def fail_first(*args):
        asked.append(args)
        if len(asked) == 1:
            raise RuntimeError("CUDA error: no kernel image is available for execution on the device")
        sound(*args)

    monkeypatch.setattr(triton, "unpack_blocks", fail_first)
    warm(load_packed(), proof)
    assert ways.taken("unpack", "Q8_0", torch.float32) == "torch"
    assert ways.taken("product", "Q8_0", torch.float32) == "triton"


def test_a_drafter_without_its_heads_does_not_fail_the_load(load_packed):
    session, events = load_packed(), []
    warm_up(LoadJob(1, events.append, lambda: False), session, "eagle", None)
    assert events[-1].done == events[-1].total > 0


def test_places_of_streamed_parts_are_those_of_their_bytes(load_packed):
    session = load_packed(WeightLimits(90_000))
    places, found, real = session.pair.target.model.streamer.part_places, [], Packed.product

    def product(matrix, x):
        output = real(matrix, x)
        if matrix.mover:
            parts = [(each.storage_offset(), each.nbytes) for each in matrix.parts]
            found.append((places[id(matrix)], parts))
        return output

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Packed, "product", product)
        logits(session, 1)
    assert found
    assert all(list(told) == parts for told, parts in found)


def test_a_card_that_has_stopped_ends_the_load(load_packed, proof, monkeypatch):
    def fail(*args):
        raise RuntimeError("CUDA error: an illegal memory access was encountered")

    monkeypatch.setattr(steps, "_multiply", fail)
    with pytest.raises(RuntimeError, match="illegal memory access"):
        warm(load_packed(), proof)


def test_cancelling_leaves_nothing_loaded(engine, target):
    before, events = CARD.memory.used, []
    request = protocol.Load(id=1, target=str(target), draft="none", dtype="float32", context=CONTEXT)
    with pytest.raises(Interrupted):
        engine.load(request, events.append, lambda: any(e.stage == "compiling" and e.done for e in events))
    assert engine.session is None
    assert CARD.memory.used <= before


def test_after_an_error_while_a_card_is_made_ready_nothing_is_loaded(engine, target, monkeypatch):
    def fail(*args):
        raise RuntimeError("CUDA error: an illegal memory access was encountered")

    monkeypatch.setattr(steps, "_record", fail)
    with pytest.raises(CardFailed):
        test_engine.load_pair(engine, target, context=CONTEXT)
    assert engine.session is None


def test_an_answer_that_loads_the_pair_again_compiles_nothing_beforehand(engine, target, monkeypatch):
    test_engine.load_pair(engine, target, context=CONTEXT)
    monkeypatch.setattr(steps, "_record", lambda *args: pytest.fail("recorded"))
    sound, failed = Session.answer, []

    def answer_once_more(self, *args):
        if not failed:
            failed.append(self)
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return sound(self, *args)

    monkeypatch.setattr(Session, "answer", answer_once_more)
    assert answer(engine, "none").remarks
    assert engine.session is not failed[0]


def test_on_the_processor_nothing_is_made_ready(engine, target):
    events: list[protocol.Event] = []
    request = protocol.Load(
        id=1, target=str(target), draft="none", dtype="float32", device="cpu", context=CONTEXT
    )
    engine.load(request, events.append, lambda: False)
    assert "compiling" not in {each.stage for each in events}
