"""The engine loads by a plan, by a smaller one if memory runs out, and learns from its answers."""

import errno
from dataclasses import replace
from pathlib import Path

import platformdirs
import psutil
import pytest
import torch

from engine import planner, protocol
from engine.checkpoints import open_checkpoint
from engine.decoding.verification import TargetVerifier
from engine.errors import BadCheckpoint, BadOption, OutOfMemory
from engine.planner import Plan
from engine.planner.pairs import without_heads
from engine.protocol import Message, Options
from engine.serving import fit
from engine.serving.answer_figures import BegunAnswer
from engine.serving.load import LoadJob, check, plan, resolve, weight_limits
from engine.serving.prompts import prompt_tokens
from engine.serving.service import EngineService
from engine.streaming import WeightLimits
from engine.torch_model import loader
from tests.engine.checkpoints.gguf_converter import convert
from tests.engine.conftest import model_file
from tests.engine.heads.test_service import write_target
from tests.engine.models import reference
from tests.engine.remarks import said

GIB = 2**30
QUESTION = [Message("user", "Why is the sky blue?")]
OTHER_WAY = planner.OtherWay("cpu", 31, 1.0)
HEADS = planner.HeadsOutline(stored=200 << 20, unpacked=0, kv_row=0)


@pytest.fixture(autouse=True)
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platformdirs, "user_data_path", lambda *args, **kwargs: tmp_path / "data")


def load(engine: EngineService, **changes) -> protocol.Loaded:
    model_file("smollm2")
    request = protocol.Load(id=1, dtype="float32", device="cpu", context=256, **changes)
    return engine.load(request, lambda event: None, lambda: False)


def ask(engine: EngineService, events: list | None = None, **options) -> protocol.Answer:
    emit = [].append if events is None else events.append
    chosen = Options(max_new_tokens=12, **options)
    return engine.answer(protocol.Chat(id=2, messages=QUESTION, options=chosen), emit, lambda: False)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A target that is loaded at once."""
    return str(write_target(tmp_path_factory.mktemp("tiny"), max_position_embeddings=256))


def test_weight_limits_follow_the_plan():
    names = planner.Names("target", None)
    plan = Plan(names, "with SSD", "cpu", 256, ram_limit_nbytes=5)
    assert weight_limits(plan) == WeightLimits(5)
    assert weight_limits(replace(plan, ram_limit_nbytes=None)) is None
    plan = Plan(names, "with SSD", "cuda", 256, vram_limit_nbytes=3, ram_limit_nbytes=5)
    assert weight_limits(plan) == WeightLimits(3, 5)
    assert weight_limits(replace(plan, vram_limit_nbytes=None)) is None


@pytest.mark.parametrize(
    ("helps", "experts", "dtype", "planned"),
    [
        ("measured", False, "float32", True),
        ("measured", True, "float32", True),
        ("auto", False, "auto", False),
        ("auto", True, "auto", True),
        pytest.param("auto", True, "float32", False, id="it would round what is to be exact"),
        ("never", True, "auto", False),
    ],
)
def test_a_plan_reckons_with_the_processor_only_if_it_may_help(helps, experts, dtype, planned, tmp_path):
    module = reference("qwen3_moe" if experts else "qwen3")
    file = open_checkpoint(convert(module, tmp_path / "model.gguf"))
    request = protocol.Load(id=1, processor_helps=helps, dtype=dtype)
    found = fit.fit(request, file, None, "cpu", 256)
    assert (found.asked.helper is not None) == planned
    if dtype == "float32":
        assert found.machine.compiled is None, "the processor alone would run torch"


@pytest.mark.parametrize(("draft", "loads"), [("auto", False), ("/some/heads", True)])
def test_heads_that_load_by_themselves_never_shorten_the_context(draft, loads, monkeypatch):
    """Their rows of the whole context would take 8 GiB."""
    real = fit.planner.profile_of
    monkeypatch.setattr(fit.planner, "profile_of", lambda *known: replace(real(*known), ram=4 * GIB))
    heads = planner.HeadsOutline(stored=0, unpacked=0, kv_row=1 << 18)
    file = open_checkpoint(model_file("smollm2"))
    request = protocol.Load(id=1, draft=draft, dtype="float32")
    found = fit.fit(request, file, None, "cpu", 8192, heads=heads, optional_heads=not loads)
    assert found.plan.runs
    assert (found.plan.heads == "other") == (found.pair.heads is not None) == loads
    assert (found.plan.context < 8192) == loads


@pytest.mark.parametrize(
    ("asked", "helped", "other_way", "tried"),
    [
        ("measured", 0.0, None, "measured"),
        ("measured", 0.0, OTHER_WAY, "never"),
        ("measured", 0.5, OTHER_WAY, "measured"),
        ("auto", 0.0, None, "never"),
        ("auto", 0.0, OTHER_WAY, "never"),
        ("auto", 0.5, OTHER_WAY, "auto"),
        ("never", 0.0, None, "never"),
    ],
)
def test_the_processor_is_tried_at_loading_as_the_plan_says(
    asked, helped, other_way, tried, tiny, monkeypatch
):
    original, fastest, helps = loader.load_model, planner.fastest, []

    def load_model(*arguments):
        helps.append(arguments[-1])
        return original(*arguments)

    def with_other_way(*asked):
        plan, pair = fastest(*asked)
        return replace(plan, helped=helped, other_way=other_way), pair

    monkeypatch.setattr(planner, "fastest", with_other_way)
    monkeypatch.setattr(loader, "load_model", load_model)
    engine = EngineService()
    load(engine, target=tiny, processor_helps=asked, draft="none")
    engine.unload()
    assert helps == [tried]


def test_a_model_is_loaded_as_planned_and_an_answer_corrects_later_plans():
    engine = EngineService()
    loaded = load(engine, draft="none")
    plan = engine.fitted.plan
    assert (plan.fit, plan.device, plan.context) == ("in RAM", "cpu", loaded.context)
    assert loaded.target.packed == (not plan.target_unpacked)
    assert loaded.remarks == []
    assert planner.history() == ()
    ask(engine, drafter="none")
    assert planner.history() == (), "plain decoding measures no trees"
    answer = ask(engine)
    (seen,) = planner.history()
    assert seen.verifying > 0
    again = planner.plan_for(
        engine.fitted.machine, engine.fitted.pair, engine.fitted.asked,
        planner.learned(planner.history(), engine.fitted.pair),
    )  # fmt: skip
    seconds = sum(getattr(answer.seconds, name) for name in protocol.Seconds.__struct_fields__)
    assert again.predicted_tokens_per_second == pytest.approx((answer.tokens - 1) / seconds, rel=0.01)
    load(engine)
    assert ask(engine).drafter == "merged"
    assert planner.history() == (seen,), "the planner does not model heads"
    engine.unload()
    assert engine.fitted is None


def test_if_loading_runs_out_of_memory_the_next_smaller_plan_is_used(monkeypatch):
    unpacked: list[bool] = []
    original = loader.load_model

    def sparing(*arguments):
        unpacked.append(not arguments[6])
        if unpacked[-1]:
            raise MemoryError
        return original(*arguments)

    monkeypatch.setattr(loader, "load_model", sparing)
    engine = EngineService()
    loaded = load(engine)
    assert unpacked[0]
    assert not unpacked[-1]
    assert loaded.smaller_plan.full == "ram"
    assert loaded.target.packed
    assert ask(engine).tokens > 0
    engine.unload()


def run_out_after(calls: int, error: type[Exception] | Exception = MemoryError):
    """Return a `cancelled` whose call of that number finds no memory, as an allocation in a pass would."""
    count = 0

    def cancelled() -> bool:
        nonlocal count
        count += 1
        if count == calls:
            raise error
        return False

    return cancelled


def test_what_is_loaded_is_described_anew_once_an_answer_had_to_take_a_smaller_plan():
    engine = EngineService()
    load(engine)
    before = engine.loaded
    ask(engine, drafter="none")
    assert engine.loaded is before
    request = protocol.Chat(id=2, messages=QUESTION, options=Options(max_new_tokens=4, drafter="none"))
    layers = engine.session.pair.target.model.layers
    answer = engine.answer(request, [].append, run_out_after(3 * layers))
    assert answer.remarks == [engine.loaded.smaller_plan]
    assert engine.loaded.memory.ram < before.memory.ram
    assert (engine.loaded.request, engine.loaded.target.name) == (before.request, before.target.name)
    engine.unload()
    assert engine.loaded is None


def text_of(events: list) -> str:
    return "".join(event.text for event in events if isinstance(event, protocol.TextDelta))


def test_an_answer_that_runs_out_of_memory_goes_on_behind_what_was_sent():
    engine = EngineService()
    load(engine)
    whole = ask(engine, seed=3, drafter="none", log_probs=1)
    engine.unload()
    load(engine)
    before = engine.fitted.plan
    chosen = Options(max_new_tokens=12, seed=3, drafter="none", log_probs=1)
    request = protocol.Chat(id=2, messages=QUESTION, options=chosen)
    events: list = []
    layers = engine.session.pair.target.model.layers
    no_memory = OSError(errno.ENOMEM, "Cannot allocate memory")
    answer = engine.answer(request, events.append, run_out_after(6 * layers, no_memory))
    assert [remark.full for remark in answer.remarks] == ["ram"]
    assert engine.fitted.plan.memory.ram < before.memory.ram
    assert answer.token_ids == whole.token_ids
    assert text_of(events) == answer.text == whole.text
    counts = [event.tokens for event in events if isinstance(event, protocol.TextDelta)]
    assert counts == sorted(set(counts)), "nothing is sent twice"
    assert len(answer.log_probs) == len(answer.budgets) + 1 == answer.target_passes + 1 == answer.tokens
    assert planner.history() == (), "two plans took part in it"
    engine.unload()


@pytest.mark.parametrize("constraint", [None, protocol.Constraint(kind="regex", text="[a-z ]{30,40}")])
def test_another_plan_that_computes_other_numbers_follows_what_was_sent(monkeypatch, constraint):
    """As in 16 bits: the text stays one text, and `token_ids` are those of the text that was sent."""
    engine = EngineService()
    load(engine)
    asked: list[list[int]] = []
    original = TargetVerifier.read

    def read(self, prompt, drafter, progress):
        asked.append(list(prompt))
        if len(asked) > 1:  # the pair that was loaded by the smaller plan
            sampler = replace(self._sampler, seed=8)
            object.__setattr__(self, "_sampler", sampler)
        return original(self, prompt, drafter, progress)

    monkeypatch.setattr(TargetVerifier, "read", read)
    chosen = Options(
        max_new_tokens=12, seed=3, temperature=1.5, drafter="none", stop=["~~"], constraint=constraint
    )
    request = protocol.Chat(id=2, messages=QUESTION, options=chosen)
    events: list = []
    layers = engine.session.pair.target.model.layers
    answer = engine.answer(request, events.append, run_out_after(6 * layers))
    kept = len(asked[1]) - len(asked[0])
    assert kept > 1
    assert asked[1] == asked[0] + answer.token_ids[:kept]
    assert text_of(events) == answer.text
    tokenizer = engine.session.pair.tokenizer
    assert tokenizer.decode(answer.token_ids) == answer.text
    engine.unload()


def test_an_answer_whose_heads_are_given_up_goes_on_without_them_and_so_do_later_ones(monkeypatch):
    smaller = protocol.SmallerPlan(full="ram", vram=0, ram=30, ssd=0, context=256, without="heads")

    def give_up(self, full):
        self.pair, self.plan = without_heads(self.pair), replace(self.plan, heads=None)
        self.given_up = HEADS
        return smaller

    load(engine := EngineService())
    plain = ask(engine, seed=3, drafter="none")
    monkeypatch.setattr(fit.Fitted, "shrink", give_up)
    chosen = Options(max_new_tokens=12, seed=3, drafter="eagle")
    request = protocol.Chat(id=2, messages=QUESTION, options=chosen)
    layers = engine.session.pair.target.model.layers
    answer = engine.answer(request, [].append, run_out_after(3 * layers))
    assert answer.remarks == [smaller]
    assert engine.session.pair.heads is None
    assert answer.token_ids == plain.token_ids
    for drafter in ("eagle", "eagle+pld"):
        later = ask(engine, seed=3, drafter=drafter)
        assert later.token_ids == plain.token_ids
        assert later.drafter == engine.session.drafter("auto").name
    with pytest.raises(BadOption):
        ask(engine, drafter="medusa")
    engine.unload()


def test_an_answer_ends_if_it_no_longer_fits_the_context_of_the_smaller_plan():
    load(engine := EngineService())
    session = engine.session
    room = session.context - len(prompt_tokens(session.pair.tokenizer, QUESTION))
    begun = BegunAnswer([9] * room, [], [0] * (room - 1), [], [], protocol.Seconds(), 0.0, 1.0, 0, None)
    answer = session.answer(protocol.Chat(id=1, messages=QUESTION), [].append, lambda: False, begun=begun)
    assert (answer.stop_reason, answer.token_ids) == ("context_full", [9] * room)
    engine.unload()


def test_without_a_smaller_plan_loading_is_out_of_memory(monkeypatch):
    def full(*arguments):
        raise MemoryError

    monkeypatch.setattr(loader, "load_model", full)
    with pytest.raises(OutOfMemory):
        load(EngineService())


@pytest.mark.parametrize(
    ("error", "tier"),
    [
        (MemoryError(), "ram"),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), "ram"),
        (RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: 8 bytes"), "ram"),
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."), "vram"),
        (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"), "vram"),
        (RuntimeError("CUDA error: out of memory\nCUDA kernel errors might be reported later"), "vram"),
        (RuntimeError("cuDNN error: CUDNN_STATUS_ALLOC_FAILED"), "vram"),
    ],
    ids=str,
)
def test_every_way_to_say_that_memory_ran_out_leads_to_a_smaller_plan(tiny, monkeypatch, error, tier):
    full: list[str] = []

    def failing(*arguments):
        raise error

    monkeypatch.setattr(loader, "load_model", failing)
    monkeypatch.setattr(fit.Fitted, "shrink", lambda self, tier: full.append(tier))
    with pytest.raises(OutOfMemory):
        load(EngineService(), target=tiny)
    assert full == [tier]


def test_other_errors_are_not_taken_for_a_lack_of_memory(tiny, monkeypatch):
    def faulty(*arguments):
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr(loader, "load_model", faulty)
    with pytest.raises(RuntimeError, match="a fault of ours"):
        load(EngineService(), target=tiny)


def test_a_machine_with_too_little_memory_refuses_before_weights_are_read(monkeypatch):
    real = fit.planner.profile_of

    def poor(*known):
        return replace(real(*known), ram=GIB // 8)

    monkeypatch.setattr(fit.planner, "profile_of", poor)
    for limits in ({}, {"ram_limit": 8}, {"ram_limit": 0.02}):
        with pytest.raises(OutOfMemory, match="GiB more of RAM"):
            load(EngineService(), **limits)


def test_own_memory_is_counted_once_and_as_none_where_it_is_not_told(monkeypatch):
    assert 0 < fit.own_nbytes() <= fit.planner.COMPILED_RAM

    def refuse(self):
        raise psutil.AccessDenied

    monkeypatch.setattr(psutil.Process, "memory_info", refuse)
    assert fit.own_nbytes() == 0


def test_a_limit_that_is_not_free_is_lowered_and_the_user_is_told(monkeypatch):
    real = fit.planner.profile_of
    monkeypatch.setattr(fit, "own_nbytes", lambda: 0)
    monkeypatch.setattr(fit.planner, "profile_of", lambda *known: replace(real(*known), ram=5 * GIB // 4))
    loaded = load(engine := EngineService(), ram_limit=8)
    assert "of RAM is free for weights, less than the limit of 8.0 GiB" in said(loaded.remarks)
    assert engine.fitted.plan.ram_limit_nbytes < GIB
    assert ask(engine).tokens > 0
    engine.unload()


def test_after_the_system_killed_the_engine_a_smaller_plan_is_taken():
    loaded = load(engine := EngineService())
    assert loaded.smaller_plan is None
    before = engine.fitted.plan.memory.ram
    engine.unload()
    loaded = load(engine, smaller=2)
    assert engine.fitted.plan.memory.ram < before * 0.8
    smaller, plan = loaded.smaller_plan, engine.fitted.plan
    assert (smaller.full, smaller.context) == ("ram", plan.context)
    assert (smaller.vram, smaller.ram, smaller.ssd) == (plan.layers.vram, plan.layers.ram, plan.layers.ssd)
    engine.unload()


def test_heads_that_do_not_fit_are_not_named_as_given_up(monkeypatch):
    def unfit(*arguments):
        raise BadCheckpoint("These heads are of another model.", "Choose others.")

    monkeypatch.setattr("engine.serving.load._heads", unfit)
    load(engine := EngineService())
    assert engine.session.pair.heads is None
    fitted, smaller = engine.fitted, []
    while fitted.plan.heads:
        smaller.append(fitted.shrink("ram"))
    assert smaller
    assert all(plan.without is None for plan in smaller)
    assert fitted.given_up is None
    engine.unload()


def test_heads_that_nobody_asked_for_are_given_up_if_memory_runs_out():
    load(engine := EngineService())
    fitted, count = engine.fitted, 0
    while fitted.plan.heads:
        smaller, count = fitted.shrink("ram"), count + 1
    assert smaller.without == "heads"
    loaded = load(engine, smaller=count)
    assert loaded.draft is None
    assert loaded.smaller_plan == smaller
    assert ask(engine).tokens > 0
    engine.unload()


@pytest.mark.parametrize(("drafter", "may_go"), [("auto", True), ("merged", True), ("eagle", False)])
def test_heads_that_the_drafter_needs_are_not_optional(drafter, may_go):
    """Every answer would fail without them."""
    request = protocol.Load(id=1, dtype="float32", device="cpu", context=256, drafter=drafter)
    job = LoadJob(1, [].append, lambda: False)
    model_file("smollm2")
    fitted = plan(check(job, request, resolve(job, request)))
    assert fitted.plan.heads
    assert fitted.pair.optional_heads == may_go


@pytest.mark.parametrize(("is_layer", "kind"), [(True, "own_layer"), (False, "heads")])
def test_what_is_given_up_is_named(is_layer, kind):
    file = open_checkpoint(model_file("smollm2"))
    request = protocol.Load(id=1, dtype="float32")
    heads = replace(HEADS, is_layer=is_layer)
    fitted = fit.fit(request, file, None, "cpu", 256, heads=heads, optional_heads=True)
    while fitted.plan.heads:
        assert not fitted.given_up
        smaller = fitted.shrink("ram")
    assert smaller.without == kind
    assert fitted.given_up == heads
