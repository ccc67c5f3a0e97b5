"""EAGLE heads in Mistral AI's layout: read, through torch and compiled, and loaded with their target."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import torch

from engine import catalog
from engine.checkpoints import open_checkpoint
from engine.cli.plan import named_pairs
from engine.errors import BadCheckpoint, OutOfMemory, UnsupportedModel, VocabularyMismatch
from engine.heads import load_compiled_heads, open_heads
from engine.heads.compiled_first_eagle import CompiledFirstEagleHead
from engine.heads.outline import heads_outline
from engine.model.compiled import CompiledModel
from engine.model.rows import Rows
from engine.protocol import Load
from engine.serving import load as loading
from engine.serving.service import EngineService
from engine.torch_model.heads import load_heads
from tests.engine.heads import made, mistral_heads
from tests.engine.heads.mistral_heads import YARN, guessed, random_tensors, save
from tests.engine.heads.refusals import load
from tests.engine.heads.test_compiled_blocks import CHANGES, SIZES, assert_near
from tests.engine.heads.test_modules import TEXT, assert_in_pieces, table_and_head
from tests.engine.heads.test_service import answer, write_target
from tests.engine.model.compiled_models import saved
from tests.engine.models import ours, reference

CONTEXT = 64
PLAIN = YARN | {"apply_scale": False}


@cache
def targets():
    """The same target through torch, in float32, and compiled."""
    module = reference("ministral3", num_hidden_layers=4, **CHANGES)
    compiled = saved(module, context=CONTEXT)
    assert isinstance(compiled, CompiledModel)
    return ours(module, CONTEXT), compiled


@pytest.mark.parametrize("yarn", [None, YARN, PLAIN], ids=["no YaRN", "YaRN", "YaRN without its factor"])
def test_a_head_computes_what_is_published_of_it(tmp_path, yarn):
    """Also in pieces over its cache, and rows of a tree like the plain text of their path."""
    target, _ = targets()
    stored = random_tensors()
    head = load_heads(open_heads(save(tmp_path, stored, yarn=yarn)), target, CONTEXT)
    table, lm_head = table_and_head(target)
    hidden = torch.randn(len(TEXT), mistral_heads.WIDTH)
    states = head.fuse({head.hidden_layers[0]: hidden})
    assert torch.equal(states, hidden)

    found = assert_in_pieces(head, states, lambda tokens, read: guessed(stored, table[tokens], read, yarn))
    best = (found @ lm_head.T).log_softmax(-1).topk(6)
    assert head.best(found, 6)[0].tolist() == best.indices.tolist()


@pytest.mark.parametrize("kind", ["mistral", "eagle"])
def test_the_first_eagle_is_compiled_beside_a_compiled_target(tmp_path, kind, monkeypatch):
    for name, size in SIZES.items():
        monkeypatch.setattr(made, name, size)
    if kind == "mistral":
        file = open_heads(save(tmp_path, random_tensors()))
    else:
        file = open_heads(made.save(tmp_path, kind, made.random_weights(kind), **CHANGES))
    exact, compiled = targets()
    fast, slow = load_compiled_heads(file, compiled, CONTEXT), load_heads(file, exact, CONTEXT)
    assert isinstance(fast, CompiledFirstEagleHead)
    for attribute in ("method", "layers", "hidden_layers", "vocabulary"):
        assert getattr(fast, attribute) == getattr(slow, attribute)
    states = torch.randn(len(TEXT), mistral_heads.WIDTH)
    found = []
    for head, each in ((fast, states.numpy()), (slow, states)):
        kept = head.new_cache()
        first = head.forward(Rows.text(TEXT[:7], 0), each[:7], kept)
        kept.keep(range(7))
        found.append((first, head.forward(Rows.text(TEXT[7:], 7), each[7:], kept)))
        assert len(head.best(found[-1][1], 5)[0]) == len(TEXT) - 7
    for ours_, expected in zip(*found, strict=True):
        assert_near(ours_, expected)


def without(name):
    return {key: tensor for key, tensor in random_tensors().items() if key != name}


@pytest.mark.parametrize(
    ("changes", "refusal", "says"),
    [
        (dict(moe={"num_experts": 8}), UnsupportedModel, "moe"),
        (dict(kv_lora_rank=256), UnsupportedModel, "kv_lora_rank"),
        (dict(llama_4_scaling={"beta": 0.1}), UnsupportedModel, "llama_4_scaling"),
        (dict(sliding_window=4), UnsupportedModel, "sliding_window"),
        (dict(dim=...), BadCheckpoint, "has no dim"),
        (dict(rope_theta=...), BadCheckpoint, "has no rope_theta"),
        (dict(yarn={"factor": 2}), BadCheckpoint, "yarn"),
        (dict(yarn=YARN | {"gamma": 2}), BadCheckpoint, "yarn"),
        (dict(n_heads=0), BadCheckpoint, "num_attention_heads"),
        (dict(n_heads=64, n_kv_heads=64), BadCheckpoint, "has the shape"),
        (dict(n_layers=3), BadCheckpoint, "is missing"),
        (dict(n_layers=1), BadCheckpoint, "does not belong"),
    ],
    ids=str,
)
def test_what_is_not_computed_here_is_refused(tmp_path, changes, refusal, says):
    with pytest.raises(refusal, match=says):
        load(save(tmp_path, random_tensors(), **changes), targets()[0])


@pytest.mark.parametrize(
    ("stored", "refusal"),
    [
        (without("layers.0.attention.wq.qscale_weight"), UnsupportedModel),
        (without("layers.1.ffn_norm.weight"), BadCheckpoint),
        (random_tensors() | {"layers.0.attention.wq.qscale_weight": torch.ones(3)}, BadCheckpoint),
        (random_tensors() | {"layers.0.attention.wq.qscale_weight": torch.tensor(torch.nan)}, BadCheckpoint),
        (random_tensors() | {"tok_embeddings.weight": torch.ones(3, 3)}, BadCheckpoint),
    ],
    ids=["no scale", "no norm", "three scales", "NaN", "another tensor"],
)
def test_damaged_tensors_are_refused(tmp_path, stored, refusal):
    with pytest.raises(refusal):
        load(save(tmp_path, stored), targets()[0])


@pytest.fixture
def pair():
    """A target in a folder, with a head beside it."""
    with TemporaryDirectory() as made_:
        folder = write_target(Path(made_) / "target", tie_word_embeddings=False, **CHANGES)
        yield folder, save(folder.with_name("target-EAGLE"), random_tensors())


def loaded(folder, **settings):
    engine = EngineService()
    request = Load(id=1, target=str(folder), device="cpu", context=96, **settings)
    return engine, engine.load(request, lambda event: None, lambda: False)


@pytest.mark.parametrize("dtype", ["auto", "float32"])
def test_it_loads_with_its_target_by_itself(pair, dtype):
    folder, head = pair
    engine, found = loaded(folder, dtype=dtype)
    assert (found.draft.path, found.draft.layers) == (str(head), mistral_heads.LAYERS)
    assert {"eagle", "merged"} <= set(found.drafters)
    plain = answer(engine, "none").token_ids
    assert answer(engine, "eagle").token_ids == answer(engine, "merged").token_ids == plain
    engine.unload()


def test_its_memory_is_planned_for_and_without_it_the_target_loads_alone(pair, monkeypatch):
    folder, head = pair
    found = heads_outline(open_heads(head), open_checkpoint(folder))
    numbers = sum(rows * columns for rows, columns in mistral_heads.shapes().values())
    numbers += (2 * mistral_heads.LAYERS + 1) * mistral_heads.WIDTH
    assert found.unpacked == numbers
    assert found.kv_row == 2 * mistral_heads.LAYERS * mistral_heads.KV_HEADS * mistral_heads.HEAD_DIM
    monkeypatch.setattr(loading, "heads_outline", lambda *opened: replace(found, tiles=1 << 50))
    engine, event = loaded(folder)
    assert event.draft is None
    assert not engine.fitted.plan.heads
    engine.unload()
    with pytest.raises(OutOfMemory):
        loaded(folder, draft=str(head))


UNFIT = (
    BadCheckpoint("Damaged.", "Get another."),
    UnsupportedModel("Unknown.", "Update."),
    VocabularyMismatch("Another's.", "Choose another."),
)


@pytest.mark.parametrize("error", UNFIT, ids=lambda error: error.kind)
@pytest.mark.parametrize("step", ["heads_outline", "_heads"])
def test_one_that_turns_out_not_to_fit_is_left_out_unless_it_was_asked_for(
    step, error, pair, monkeypatch, caplog
):
    folder, head = pair

    def refuse(*arguments):
        raise error

    monkeypatch.setattr(loading, step, refuse)
    engine, event = loaded(folder)
    assert event.draft is None
    assert "eagle" not in event.drafters
    assert f"without the draft {head.name}: {error}" in caplog.text
    assert answer(engine, "auto").token_ids == answer(engine, "none").token_ids
    engine.unload()
    with pytest.raises(type(error)):
        loaded(folder, draft=str(head))


@pytest.mark.parametrize("draft", ["auto", "path"])
def test_a_plan_counts_it_as_loading_does(draft, pair, monkeypatch):
    folder, head = pair
    outline = heads_outline(open_heads(head), open_checkpoint(folder))
    (found,) = named_pairs(str(folder), "auto" if draft == "auto" else str(head))
    assert (found.heads, found.optional_heads) == (outline, draft == "auto")

    def refuse(*arguments):
        raise UNFIT[0]

    monkeypatch.setattr(loading, "heads_outline", refuse)
    if draft == "auto":
        assert named_pairs(str(folder), "auto")[0].heads is None
    else:
        with pytest.raises(BadCheckpoint):
            named_pairs(str(folder), str(head))


def test_beside_a_damaged_head_a_plan_counts_the_draft_that_loading_takes(pair, monkeypatch):
    folder, head = pair
    (head / "params.json").write_text("{}")
    assert catalog.companion_for(str(folder)) == head
    monkeypatch.setattr(catalog, "draft_for", lambda target: str(folder))
    (found,) = named_pairs(str(folder), "auto")
    assert found.heads is None
    assert found.draft.name == str(folder)


def test_a_head_for_another_width_hinders_no_target(pair):
    folder, _ = pair
    other = write_target(folder.with_name("other"), tie_word_embeddings=False)
    save(other.with_name("other-EAGLE"), random_tensors())
    assert catalog.companion_for(str(other)) is not None
    engine, found = loaded(other)
    assert found.draft is None
    engine.unload()
