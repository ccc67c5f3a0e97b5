"""Heads counted from the shapes in their files, for the window: as those are that load."""

from dataclasses import fields, replace

import numpy as np
import pytest
from safetensors.numpy import save_file

from engine.checkpoints import open_checkpoint
from engine.heads import is_companion_of, open_heads
from engine.heads.outline import heads_outline
from engine.planner import pair_of, with_stored_heads
from engine.planner.outline import catalogued, checkpoint_outline
from engine.planner.stored_heads import stored_heads
from tests.engine.checkpoints.gguf_converter import convert
from tests.engine.heads import made, mistral_heads
from tests.engine.heads.assistants import LARGE, SMALL, assistant_of
from tests.engine.heads.test_compiled_blocks import CHANGES, SIZES
from tests.engine.model.compiled_models import tiny
from tests.engine.models import reference


@pytest.fixture(scope="module")
def target(tmp_path_factory):
    folder = tmp_path_factory.mktemp("target")
    reference("llama", num_hidden_layers=4, **CHANGES).save_pretrained(folder)
    return open_checkpoint(folder)


def saved(folder, kind):
    if kind == "mistral":
        return mistral_heads.save(folder, mistral_heads.random_tensors())
    with pytest.MonkeyPatch.context() as patch:
        for name, size in SIZES.items():
            patch.setattr(made, name, size)
        return made.save(folder, kind, made.random_weights(kind), **CHANGES)


def assert_alike(counted, planned):
    for field in fields(planned):
        expected = getattr(planned, field.name)
        if field.name == "tiles":
            expected = pytest.approx(expected, rel=0.25)  # such small matrices do not fill their tiles
        assert getattr(counted, field.name) == expected, field.name


@pytest.mark.parametrize("kind", ["eagle", "eagle3", "mistral"])
def test_eagle_heads_count_as_those_that_load(kind, tmp_path, target):
    folder, outline = saved(tmp_path, kind), checkpoint_outline(target, "tiny")
    assert_alike(stored_heads(folder, outline), heads_outline(open_heads(folder), target))
    for others in ({"hidden": outline.hidden * 2}, {"vocabulary": outline.vocabulary + 1}):
        assert stored_heads(folder, replace(outline, **others)) is None, "another target's"
    as_companion = stored_heads(folder, outline, is_companion=True) is not None
    assert as_companion == is_companion_of(open_heads(folder), target) == (kind != "eagle3")


@pytest.mark.parametrize(
    ("kind", "ordered", "form"), [(SMALL, True, "folder"), (LARGE, False, "folder"), (SMALL, True, "GGUF")]
)
def test_an_assistant_counts_as_one_that_loads(kind, ordered, form, tmp_path):
    module = tiny(kind)
    module.save_pretrained(tmp_path / "target")
    assistant = assistant_of(module, ordered)
    if form == "folder":
        assistant.save_pretrained(tmp_path / "target-assistant")
    else:
        (tmp_path / "target-assistant").mkdir()
        convert(assistant, tmp_path / "target-assistant/any.gguf")
    file = open_checkpoint(tmp_path / "target")
    pair = pair_of(checkpoint_outline(file, "tiny"), None)
    found = with_stored_heads(pair, str(tmp_path / "target"))
    planned = heads_outline(open_heads(tmp_path / "target-assistant"), file)
    assert found.optional_heads
    assert_alike(found.heads, planned)
    larger = replace(pair, target=replace(pair.target, vocabulary=1 << 20))
    assert with_stored_heads(larger, str(tmp_path / "target")).heads is None, "another target's"


def test_heads_of_the_program_count_beside_their_target_unless_it_has_a_draft_model():
    target = catalogued("smollm2")
    alone = pair_of(target, None)
    found = with_stored_heads(alone, "smollm2").heads
    assert found.weights > 1_000_000
    assert found.tiles == pytest.approx(found.weights * 8.5 / 8, rel=0.01)
    drafted = pair_of(target, target)
    assert with_stored_heads(drafted, "smollm2") is drafted
    assert with_stored_heads(pair_of(target, None), "coder").heads is None


def test_a_folder_of_anything_else_counts_as_none(tmp_path):
    outline = catalogued("smollm2")
    assert stored_heads(tmp_path, outline) is None
    (tmp_path / "model.safetensors").write_bytes(b"no header")
    assert stored_heads(tmp_path, outline) is None
    for name in ("fc.weight", "pre_projection.weight"):
        for shape in ((), (0, 4), (outline.hidden,)):
            save_file({name: np.zeros(shape, np.float32)}, tmp_path / "model.safetensors")
            assert stored_heads(tmp_path, outline) is None
