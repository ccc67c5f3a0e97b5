"""A pair is checked while it loads: refused before any weights are read, or loaded with remarks."""

import gc
import json
import logging
import shutil
import weakref
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file

from engine import firsts, planner
from engine.cli.remarks import about_load, about_remark
from engine.errors import BadCheckpoint, BadOption, Interrupted, VocabularyMismatch
from engine.model import substitute_files
from engine.model.interface import Model
from engine.protocol import Chat, Load, Loaded, Message, Options, OtherTemplate
from engine.serving import load as steps
from engine.serving.fit import Fitted
from engine.serving.service import EngineService
from engine.torch_model import loader
from tests.engine.conftest import model_file
from tests.engine.heads import made
from tests.engine.heads.test_service import write_target
from tests.engine.model.compiled_models import tiny

TEMPLATE = "{% for m in messages %}{{ m.content }}{% endfor %}"


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_target(tmp_path_factory.mktemp("target"))


@pytest.fixture
def draft(target: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(target, tmp_path / "draft"))


def load(target: Path, draft: Path) -> Loaded:
    engine = EngineService()
    request = Load(id=1, target=str(target), draft=str(draft), dtype="float32", device="cpu", context=96)
    try:
        return engine.load(request, lambda event: None, lambda: False)
    finally:
        engine.unload()


def change_tokenizer(folder: Path, **config: object) -> None:
    path = folder / "tokenizer_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | config))


@pytest.fixture
def no_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loader, "load_model", lambda *arguments: pytest.fail("weights were read"))
    monkeypatch.setattr(steps, "load_compiled", lambda *arguments: pytest.fail("weights were read"))


@pytest.mark.usefixtures("no_weights")
def test_a_draft_with_another_vocabulary_is_refused_before_weights_are_read(
    target: Path, draft: Path
) -> None:
    path = draft / "tokenizer.json"
    path.write_text(path.read_text().replace('"B":', '"ß":'))
    with pytest.raises(
        VocabularyMismatch, match="token 2 is 'B' in the target and 'ß' in the draft"
    ) as error:
        load(target, draft)
    assert "Choose a draft of the target's model family" in error.value.hint


@pytest.mark.usefixtures("no_weights")
def test_a_draft_with_too_few_rows_is_refused_before_weights_are_read(target: Path, tmp_path: Path) -> None:
    draft = write_target(tmp_path, vocab_size=50)
    shutil.copy(target / "tokenizer.json", draft)
    with pytest.raises(VocabularyMismatch, match="The draft's table holds 50 tokens, the target's 61"):
        load(target, draft)


def test_a_draft_that_fits_badly_runs_with_a_remark(
    target: Path, draft: Path, caplog: pytest.LogCaptureFixture
) -> None:
    change_tokenizer(draft, chat_template=TEMPLATE)
    with caplog.at_level(logging.WARNING, logger=steps.__name__):
        loaded = load(target, draft)
    remark = "The target has no chat template; the draft was trained with one."
    assert loaded.remarks == [OtherTemplate(lacks="target")]
    assert remark in about_load(loaded)
    logged = str(loaded.remarks[0])
    assert [record.getMessage() for record in caplog.records if logged in record.getMessage()]


def test_the_longest_context_told_is_the_most_that_is_allowed(target: Path, draft: Path) -> None:
    longest = load(target, draft).longest_context
    assert longest == json.loads((target / "config.json").read_text())["max_position_embeddings"]
    request = Load(id=1, target=str(target), draft="none", device="cpu", context=longest + 1)
    with pytest.raises(BadOption, match="holds at most"):
        EngineService().load(request, lambda event: None, lambda: False)


def test_a_model_whose_tokens_are_all_suppressed_is_refused_before_weights_are_read(
    target: Path, draft: Path
) -> None:
    file = draft / "generation_config.json"
    file.write_text(json.dumps({"begin_suppress_tokens": list(range(200_000))}))
    with pytest.raises(BadCheckpoint, match="allow none of its tokens"):
        load(draft, target)


@pytest.fixture
def compiles_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel is compiled once the target's weights are here."""
    original = loader.load_model

    def load_and_compile(*arguments: object) -> Model:
        model = original(*arguments)
        firsts.begin()
        return model

    monkeypatch.setattr(loader, "load_model", load_and_compile)


def test_what_is_done_is_named_until_a_pair_is_loaded(
    target: Path, tmp_path: Path, compiles_at_the_end: None
) -> None:
    heads = made.save(tmp_path / "heads", "eagle", made.random_weights("eagle"))
    engine, events = EngineService(), []
    request = Load(id=1, target=str(target), draft=str(heads), dtype="float32", device="cpu", context=96)
    engine.load(request, events.append, lambda: False)
    engine.unload()
    stages = [stage for stage, _ in groupby(event.stage for event in events)]
    assert " ".join(stages) == "libraries reading tokenizer planning kernels target kernels draft"
    assert {event.total for event in events if event.stage == "kernels"} == {0}

    def cancelled() -> bool:
        return len([stage for stage, _ in groupby(event.stage for event in events)]) > 5

    del events[:]
    with pytest.raises(Interrupted, match="Loading was cancelled"):
        engine.load(request, events.append, cancelled)
    assert events[-1].stage == "target"
    assert engine.session is None


def test_each_tokenizer_is_loaded_once(
    target: Path, draft: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    tokenizers: list[Path] = []
    original = steps.load_tokenizer

    def counted(checkpoint):
        tokenizers.append(checkpoint.path)
        return original(checkpoint)

    monkeypatch.setattr(steps, "load_tokenizer", counted)
    assert load(target, draft).remarks == []
    assert tokenizers == [target, draft]
    assert not [record for record in caplog.records if record.name == steps.__name__]


def load_cached(kv_cache: str, **settings: object) -> EngineService:
    engine = EngineService()
    request = Load(id=1, draft="none", device="cpu", context=512, kv_cache=kv_cache, **settings)
    engine.load(request, lambda event: None, lambda: False)
    return engine


def test_a_cache_in_8_bits_reaches_the_model_and_takes_half_the_memory() -> None:
    model_file("smollm2")
    nbytes, texts = {}, {}
    for kv_cache in ("f16", "q8_0"):
        engine = load_cached(kv_cache)
        session = engine.session
        assert session is not None
        assert engine.fitted is not None
        assert engine.fitted.asked.cache == kv_cache.upper()
        for drafter in ("none", "recycling+pld"):
            options = Options(drafter=drafter, max_new_tokens=24)
            chat = Chat(id=2, messages=[Message("user", "Count from 1 to 20.")], options=options)
            texts[kv_cache, drafter] = engine.answer(chat, lambda event: None, lambda: False).text
        assert texts[kv_cache, "none"] == texts[kv_cache, "recycling+pld"]
        parts = session.pair.memory.parts
        nbytes[kv_cache] = next(part.nbytes for part in parts if part.what == "target_cache")
        engine.unload()
    assert nbytes["q8_0"] * 64 == nbytes["f16"] * 34


@pytest.mark.usefixtures("no_weights")
@pytest.mark.parametrize(
    "settings", [dict(dtype="float32"), dict(dtype="bfloat16"), dict(weights="unpacked")]
)
def test_a_cache_in_8_bits_is_refused_where_torch_runs_before_weights_are_read(
    target: Path, settings: dict[str, str]
) -> None:
    with pytest.raises(BadOption, match="Only compiled passes on the processor") as refused:
        load_cached("q8_0", target=str(target), **settings)
    assert "--kv-cache f16" in refused.value.hint


@pytest.mark.usefixtures("no_weights")
def test_a_cache_in_8_bits_is_refused_on_a_card(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "choose_device", lambda requested: "cuda")
    with pytest.raises(BadOption, match="Only compiled passes on the processor"):
        load_cached("q8_0", target=str(target))


def test_a_cache_in_8_bits_is_refused_for_a_model_that_compiled_passes_do_not_cover(target: Path) -> None:
    with pytest.raises(BadOption, match="Only compiled passes on the processor"):
        load_cached("q8_0", target=str(target))
    load_cached("f16", target=str(target)).unload()


def test_files_whose_numbers_are_all_the_same_are_loaded_with_a_warning(
    target: Path, draft: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert not load(target, draft).damage
    file = draft / "model.safetensors"
    tensors = {name: np.zeros_like(array) for name, array in load_file(file).items()}
    file.unlink()  # its arrays may still be mapped
    save_file(tensors, file, {"format": "pt"})
    with caplog.at_level(logging.WARNING, logger=steps.__name__):
        (damage,) = load(target, draft).damage
    assert about_remark(damage).startswith("draft is probably damaged: in ")
    logged = f"draft: in {damage.damaged} of {damage.weights} weights, all numbers are the same"
    assert [record.getMessage() for record in caplog.records if logged in record.getMessage()]


def test_a_streamed_target_drafts_for_itself(
    target: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = Path(shutil.copytree(target, tmp_path / "compiled"))
    tiny("qwen2").to(torch.bfloat16).save_pretrained(file)
    monkeypatch.setattr(substitute_files.platformdirs, "user_cache_path", lambda *names, **options: tmp_path)
    engine = EngineService()
    request = Load(id=1, target=str(file), draft="self", device="cpu", context=96, ram_limit=0.0005)
    try:
        loaded = engine.load(request, lambda event: None, lambda: False)
        assert loaded.drafter == "specexec"
        assert loaded.draft is not None
        assert loaded.draft.nbytes > 0
        ways = [Options(seed=4, max_new_tokens=10, overlap=overlap) for overlap in ("off", "on")]
        chats = [Chat(id=2, messages=[Message("user", "HELLO")], options=way) for way in ways]
        answers = [engine.answer(chat, lambda event: None, lambda: False) for chat in (*chats, chats[0])]
        assert answers[0].token_ids == answers[1].token_ids == answers[2].token_ids
        assert answers[0].memory.ram < 60 << 20
        parts = {part.what: part.nbytes for part in answers[0].memory.parts if part.tier == "ram"}
        assert parts["draft"] == loaded.draft.nbytes
        assert "draft_cache" not in parts
        assert engine.session is not None
        pair = engine.session.pair
        assert pair.draft is not None
        freed = [weakref.ref(each) for each in (pair.target.model, pair.draft.model, pair.draft.cache)]
        del pair
    finally:
        engine.unload()
    gc.collect()
    assert [each() for each in freed] == [None] * 3


@pytest.mark.parametrize(
    ("draft", "room", "is_offered"), [("auto", 1 << 30, True), ("none", 1 << 30, False), ("auto", 0, False)]
)
def test_a_streamed_target_without_a_draft_is_said_to_be_faster_as_its_own(
    draft: str, room: int, is_offered: bool, tmp_path: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = Path(shutil.copytree(target, tmp_path / "compiled"))
    tiny("qwen2").to(torch.bfloat16).save_pretrained(file)
    fit = steps.fit

    def on_a_slow_disk(*arguments: object) -> Fitted:
        fitted = fit(*arguments)
        machine = replace(fitted.machine, disk=1e5)
        plan = planner.plan_for(machine, fitted.pair, fitted.asked)
        return replace(fitted, machine=machine, plan=plan)

    monkeypatch.setattr(steps, "fit", on_a_slow_disk)
    monkeypatch.setattr(planner, "history", lambda: ())  # where the answers of other tests are
    monkeypatch.setattr(steps, "free_for_substitutes", lambda: room)
    monkeypatch.setattr(steps, "kept_shares", lambda file: {"Q2_K": 0.1})
    kept: list[object] = []
    own_draft = planner.own_draft

    def with_kept(*arguments):
        kept.append(arguments[-1])
        return own_draft(*arguments)

    monkeypatch.setattr(planner, "own_draft", with_kept)
    engine = EngineService()
    try:
        request = Load(id=1, target=str(file), draft=draft, device="cpu", context=96, ram_limit=0.0003)
        own = engine.load(request, lambda event: None, lambda: False).own_draft
    finally:
        engine.unload()
    assert (own is not None) == is_offered
    assert kept == ([{"Q2_K": 0.1}] if draft == "auto" else []), "what the disk has is asked as by loading"
    if own is not None:
        assert own.speedup > 1.25
        assert own.nbytes > 0


@pytest.mark.usefixtures("no_weights")
def test_a_target_that_runs_through_torch_does_not_draft_for_itself(target: Path) -> None:
    request = Load(id=1, target=str(target), draft="self", device="cpu", dtype="float32", context=96)
    with pytest.raises(BadOption, match="draft for itself only if"):
        EngineService().load(request, lambda event: None, lambda: False)


@pytest.mark.usefixtures("no_weights")
def test_on_a_card_a_target_does_not_draft_for_itself_and_the_hint_says_what_may(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "choose_device", lambda requested: "cuda")
    request = Load(id=1, target=str(target), draft="self", context=96)
    with pytest.raises(BadOption, match="a graphics card runs it") as refused:
        EngineService().load(request, lambda event: None, lambda: False)
    assert "a file of the same model in fewer bits (--draft FILE)" in refused.value.hint
    assert "--device cpu" in refused.value.hint
