"""The kernels that are checked on a card are those that its models and their heads run."""

from dataclasses import replace

import pytest

from engine.checkpoints import Groups, open_checkpoint, packing_name
from engine.formats import FORMATS
from engine.heads import open_heads
from engine.proof.kernels import GENERAL, every, needed
from tests.engine.heads import made
from tests.engine.heads.test_service import write_target
from tests.engine.models import reference


@pytest.fixture(scope="module")
def target(tmp_path_factory):
    return open_checkpoint(write_target(tmp_path_factory.mktemp("target")))


def stored_as(file, form, groups=None):
    """Return the file as if its matrices were in another format."""
    weights = {
        name: replace(each, format=form, groups=groups) if len(each.shape) == 2 else each
        for name, each in file.weights.items()
    }
    return replace(file, weights=weights)


def of_formats(names):
    return {name for name in names if name.split()[0] in ("unpack", "product")}


@pytest.mark.parametrize(
    ("form", "groups", "kernels"),
    [
        ("BF16", None, None),
        ("Q4_K", None, "Q4_K"),
        ("AWQ", Groups(4, 8, 0), "AWQ-4-8-0"),
        ("AWQ", Groups(4, 4096, 0), "AWQ-4-row-0"),
        ("GPTQ", Groups(4, 8, 1), "GPTQ-4-8-1"),
        ("GPTQ_BF16", Groups(3, 8, 0, indexed=True), "GPTQ_BF16-3-8-0-index"),
        ("FP8_BLOCK", None, "FP8_BLOCK"),
        ("W4_ZEROS_BF16", Groups(4, 8, 0), "W4_ZEROS_BF16-4-8-0"),
        ("W4", Groups(4, 4096, 0), "W4-4-row-0"),
        ("NVFP4_SCALED", None, "NVFP4_SCALED"),
        ("NVFP4_FACTORED", None, "NVFP4"),
    ],
)
def test_every_format_that_is_packed_is_checked(target, form, groups, kernels):
    names = needed([(stored_as(target, form, groups), "bfloat16")])
    expected = {f"{kind} {kernels} bfloat16" for kind in ("unpack", "product")} if kernels else set()
    assert of_formats(names) == expected
    assert {*GENERAL, "dense bfloat16"} < {*names}


def test_products_by_experts_are_those_of_their_format(tmp_path):
    """No kernel multiplies by several experts at once."""
    reference("qwen3_moe").save_pretrained(tmp_path)
    file = open_checkpoint(tmp_path)
    weights = {
        name: replace(each, format="MXFP4") if ".experts." in name else each
        for name, each in file.weights.items()
    }
    kernels = {"unpack MXFP4 bfloat16", "product MXFP4 bfloat16"}
    assert of_formats(needed([(file, "bfloat16")])) == set()
    assert of_formats(needed([(replace(file, weights=weights), "bfloat16")])) == kernels


def test_products_in_float16_of_numbers_in_float32_are_checked(target):
    names = {*needed([(target, "float16")])}
    assert {"halves", "dense float32"} < names
    assert not {"halves", "dense float32", "dense float16"} & {*needed([(target, "bfloat16")])}


def test_a_report_has_every_format_with_kernels():
    subjects = {name.split()[1].partition("-")[0] for name in of_formats(every("float16"))}
    assert subjects == FORMATS.keys() - {"F64", "F32", "F16", "BF16", "NVFP4_FACTORED"}


def test_a_report_has_gptq_with_an_index_and_without_and_others_as_files_have_them():
    names = of_formats(every("float16"))
    assert {"unpack GPTQ-4-128-1 float16", "product GPTQ-4-128-1-index float16"} <= names
    assert {"product AWQ-4-128-0 float16", "product W4_ZEROS-4-128-0 float16"} <= names


@pytest.mark.parametrize("size", [8, 4096])
@pytest.mark.parametrize("indexed", [False, True])
def test_a_name_tells_the_groups_that_it_was_made_of(size, indexed):
    groups = Groups(4, size, 1, indexed)
    found = Groups.named(packing_name("GPTQ", groups, 96), 96)
    assert found == replace(groups, size=min(size, 96))


def widths(names):
    return {int(name.split()[1]) for name in names if name.startswith("attention")}


def test_layers_of_other_widths_are_checked_too(tmp_path):
    reference("gemma4_text").save_pretrained(tmp_path)
    file = open_checkpoint(tmp_path)
    assert widths(needed([(file, "float32")])) == {8, 16}, "those with a window, and the others"


@pytest.mark.parametrize("kind", ["eagle3", "dflash", "p-eagle"])
def test_heads_of_another_width_than_the_target_are_checked(target, kind, tmp_path):
    folder = made.save(tmp_path, kind, made.random_weights(kind), head_dim=24)
    heads = open_heads(folder)
    own = widths(needed([(target, "float16")]))
    assert widths(needed([(target, "float16")], [(heads, "float16")])) == own | {24}
    assert 24 not in own


def test_heads_attend_in_the_dtype_of_their_targets_rows(target, tmp_path):
    heads = open_heads(made.save(tmp_path, "eagle3", made.random_weights("eagle3"), head_dim=24))
    names = needed([(target, "float16")], [(heads, "float16")])
    assert "attention 24 float16" in names
    assert "attention 24 float32" not in names


def test_medusa_heads_attend_to_nothing(target, tmp_path):
    heads = open_heads(made.save(tmp_path, "medusa_2", made.random_weights("medusa_2")))
    models = [(target, "float16")]
    assert needed(models, [(heads, "float16")]) == needed(models)


@pytest.mark.parametrize(
    ("kind", "kernels"),
    [
        ("llama", set()),
        ("gemma2", {"scores 16 bfloat16"}),
        ("qwen3_5_text", {"states"}),
        ("lfm2", {"states"}),
    ],
)
def test_written_out_attention_and_layers_with_states_are_checked(kind, kernels, tmp_path):
    reference(kind).save_pretrained(tmp_path)
    names = needed([(open_checkpoint(tmp_path), "bfloat16")])
    assert {name for name in names if name.split()[0] in ("scores", "states")} == kernels
    assert {"states", "scores 128 bfloat16"} <= {*every("bfloat16")}


def test_attention_with_sinks_is_checked(target):
    sinks = {"model.layers.0.self_attn.sinks": next(iter(target.weights.values()))}
    (width,) = widths(names := needed([(target, "float32")]))
    with_sinks = needed([(replace(target, weights=target.weights | sinks), "float32")])
    assert {*with_sinks} - {*names} == {f"scores {width} float32"}
