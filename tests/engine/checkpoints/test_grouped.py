"""GPTQ and AWQ folders: reading settings and headers, and refusing mismatches by name."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

from engine.checkpoints import Groups, open_checkpoint, read_span
from engine.checkpoints.grouped import without_plain_indices, without_zero_biases
from engine.errors import BadCheckpoint, UnsupportedModel
from tests.engine.checkpoints.files import named_errors_only, write_folder

MODULE = "model.layers.0.self_attn.q_proj"
ROWS, COLUMNS = 64, 96
Arrays = dict[str, NDArray[Any]]
GPTQ = {"quant_method": "gptq", "bits": 4, "group_size": 32, "desc_act": False, "sym": True}
AWQ = {"quant_method": "awq", "bits": 4, "group_size": 32, "zero_point": True, "version": "gemm"}


def gptq_parts(bits: int = 4, size: int = 32, columns: int = COLUMNS) -> Arrays:
    groups = -(-columns // size)
    return {
        "qweight": np.ones((columns * bits // 32, ROWS), np.int32),
        "qzeros": np.ones((groups, ROWS * bits // 32), np.int32),
        "scales": np.ones((groups, ROWS), np.float16),
        "g_idx": (np.arange(columns) // size).astype(np.int32),
    }


def awq_parts(size: int = 32) -> Arrays:
    return {
        "qweight": np.ones((COLUMNS, ROWS // 8), np.int32),
        "qzeros": np.ones((COLUMNS // size, ROWS // 8), np.int32),
        "scales": np.ones((COLUMNS // size, ROWS), np.float16),
    }


def write(
    folder: Path,
    parts: Arrays,
    config: Any,
    others: Arrays | None = None,
    files: dict[str, Any] | None = None,
    module: str = MODULE,
) -> Path:
    """Write a folder with one packed matrix. config: quantization_config; files: separate settings files."""
    write_folder(folder, {"quantization_config": config} if config is not None else None)
    plain = load_file(folder / "model.safetensors")
    tensors = plain | {f"{module}.{part}": array for part, array in parts.items()} | (others or {})
    save_file(tensors, folder / "model.safetensors")
    for name, text in (files or {}).items():
        (folder / name).write_text(json.dumps(text))
    return folder


# -- valid folders -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bits", [2, 3, 4, 8])
@pytest.mark.parametrize("size", [32, 64, -1])  # 64: the last group is shorter
@pytest.mark.parametrize(("layout", "offset"), [(None, 1), ("gptq", 1), ("gptq_v2", 0)])
def test_a_gptq_matrix_is_a_weight(tmp_path: Path, bits: int, size: int, layout: str, offset: int) -> None:
    parts = gptq_parts(bits, COLUMNS if size == -1 else size)
    config = GPTQ | {"bits": bits, "group_size": size, "checkpoint_format": layout}
    checkpoint = open_checkpoint(write(tmp_path, parts, config))
    weight = checkpoint.weights[f"{MODULE}.weight"]
    assert (weight.shape, weight.format) == ((ROWS, COLUMNS), "GPTQ")
    assert weight.groups == Groups(bits, COLUMNS if size == -1 else size, offset, indexed=True)
    assert [read_span(span).tobytes() for span in weight.spans] == [part.tobytes() for part in parts.values()]
    assert not any(name.endswith(("qweight", "qzeros", "scales", "g_idx")) for name in checkpoint.weights)
    assert checkpoint.weights["model.norm.weight"].format == "F32"
    assert "quantization_config" not in checkpoint.config


@pytest.mark.parametrize("size", [32, -1])
def test_an_awq_matrix_is_a_weight(tmp_path: Path, size: int) -> None:
    parts = awq_parts(COLUMNS if size == -1 else size)
    config = AWQ | {"group_size": size, "version": "GEMM"}
    weight = open_checkpoint(write(tmp_path, parts, config)).weights[f"{MODULE}.weight"]
    assert (weight.shape, weight.format) == ((ROWS, COLUMNS), "AWQ")
    assert weight.groups == Groups(4, COLUMNS if size == -1 else size, 0)
    assert [read_span(span).tobytes() for span in weight.spans] == [part.tobytes() for part in parts.values()]


@pytest.mark.parametrize(
    ("kind", "ending"), [(torch.float32, "_F32"), (torch.float16, ""), (torch.bfloat16, "_BF16")]
)
@pytest.mark.parametrize("method", ["gptq", "awq"])
def test_the_format_names_the_type_of_the_scales(
    tmp_path: Path, kind: torch.dtype, ending: str, method: str
) -> None:
    folder = write(tmp_path, *((gptq_parts(), GPTQ) if method == "gptq" else (awq_parts(), AWQ)))
    tensors = safetensors.torch.load_file(folder / "model.safetensors")
    tensors[f"{MODULE}.scales"] = tensors[f"{MODULE}.scales"].to(kind)
    safetensors.torch.save_file(tensors, folder / "model.safetensors")
    assert open_checkpoint(folder).weights[f"{MODULE}.weight"].format == method.upper() + ending


def test_older_folders_have_separate_settings_files(tmp_path: Path) -> None:
    config = {"bits": 4, "group_size": 32, "desc_act": False}
    folder = write(tmp_path / "a", gptq_parts(), None, files={"quantize_config.json": config})
    assert open_checkpoint(folder).weights[f"{MODULE}.weight"].format == "GPTQ"
    config = {"w_bit": 4, "q_group_size": 32, "zero_point": True, "version": "GEMM"}
    folder = write(tmp_path / "b", awq_parts(), None, files={"quant_config.json": config})
    assert open_checkpoint(folder).weights[f"{MODULE}.weight"].format == "AWQ"


def test_settings_of_an_unquantized_folder_are_ignored(tmp_path: Path) -> None:
    folder = write(tmp_path, {}, None, files={"quantize_config.json": {"bits": 5}})
    assert {weight.format for weight in open_checkpoint(folder).weights.values()} == {"F32"}


def test_settings_from_both_places_are_combined(tmp_path: Path) -> None:
    folder = write(
        tmp_path, gptq_parts(), GPTQ, files={"quantize_config.json": GPTQ | {"checkpoint_format": "gptq_v2"}}
    )
    assert open_checkpoint(folder).weights[f"{MODULE}.weight"].groups == Groups(4, 32, 0, indexed=True)


def test_a_settings_file_need_not_name_the_method(tmp_path: Path) -> None:
    files = {"quantize_config.json": {"w_bit": 4, "q_group_size": 32}}
    folder = write(tmp_path, awq_parts(), AWQ, files=files)
    assert open_checkpoint(folder).weights[f"{MODULE}.weight"].format == "AWQ"


def test_matrices_can_have_their_own_settings(tmp_path: Path) -> None:
    other = "model.layers.1.mlp.up_proj"
    others = {f"{other}.{part}": array for part, array in gptq_parts(8, 16).items()}
    config = GPTQ | {"dynamic": {"+:.*up_proj.*": {"bits": 8, "group_size": 16}, "-:.*lm_head.*": {}}}
    weights = open_checkpoint(write(tmp_path, gptq_parts(), config, others)).weights
    assert weights[f"{MODULE}.weight"].groups == Groups(4, 32, 1, indexed=True)
    assert weights[f"{other}.weight"].groups == Groups(8, 16, 1, indexed=True)


def test_a_quantized_head_is_read(tmp_path: Path) -> None:
    folder = write(tmp_path, gptq_parts(), GPTQ, module="lm_head")
    tensors = load_file(folder / "model.safetensors")
    del tensors["lm_head.weight"]
    save_file(tensors, folder / "model.safetensors")
    checkpoint = open_checkpoint(folder)
    assert checkpoint.weights["lm_head.weight"].format == "GPTQ"
    assert "tie_word_embeddings" not in checkpoint.config


@pytest.mark.parametrize("act_order", [False, True])
def test_g_idx_may_be_missing_where_columns_are_in_order(tmp_path: Path, act_order: bool) -> None:
    parts = gptq_parts()
    del parts["g_idx"]
    folder = write(tmp_path, parts, GPTQ | {"desc_act": act_order})
    if act_order:
        with pytest.raises(BadCheckpoint, match="g_idx is missing"):
            open_checkpoint(folder)
    else:
        weight = open_checkpoint(folder).weights[f"{MODULE}.weight"]
        assert len(weight.spans) == 3
        assert weight.groups == Groups(4, 32, 1)


def test_an_index_that_tells_what_the_size_tells_is_left_out(tmp_path: Path) -> None:
    parts = gptq_parts()
    plain = without_plain_indices(open_checkpoint(write(tmp_path / "a", parts, GPTQ)).weights)
    parts["g_idx"] = parts["g_idx"][::-1].copy()
    other = without_plain_indices(open_checkpoint(write(tmp_path / "b", parts, GPTQ)).weights)
    found = [weights[f"{MODULE}.weight"] for weights in (plain, other)]
    assert [(len(each.spans), each.groups) for each in found] == [
        (3, Groups(4, 32, 1)),
        (4, Groups(4, 32, 1, indexed=True)),
    ]


def test_zero_biases_are_dropped_where_the_model_has_none(tmp_path: Path) -> None:
    zeros, ones = np.zeros(ROWS, np.float16), np.ones(ROWS, np.float16)
    other = "model.layers.1.self_attn.q_proj"
    others: Arrays = {f"{other}.{part}": array for part, array in gptq_parts().items()}
    others |= {f"{MODULE}.bias": zeros, f"{other}.bias": ones, "model.norm.bias": zeros}
    weights = dict(open_checkpoint(write(tmp_path, gptq_parts(), GPTQ, others)).weights)
    kept = without_zero_biases(weights, ())
    assert weights.keys() - kept.keys() == {f"{MODULE}.bias"}
    assert without_zero_biases(weights, {f"{MODULE}.bias"}) == weights


# -- refusals ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ({"quant_method": "bitsandbytes", "load_in_4bit": True}, "bitsandbytes"),
        ({"quant_method": "quark"}, "quark"),
        ({"quant_method": "modelopt"}, "not named by ModelOpt"),
        ({"bits": 4}, "unknown"),
        (GPTQ | {"bits": 5}, "5 bits"),
        (AWQ | {"bits": 8}, "8 bits"),
        (GPTQ | {"checkpoint_format": "marlin"}, "marlin"),
        (GPTQ | {"is_marlin_format": True}, "marlin"),
        (GPTQ | {"checkpoint_format": "gptq_p"}, "gptq_p"),
        (GPTQ | {"format": "bitblas"}, "bitblas"),
        (AWQ | {"version": "gemv"}, "gemv"),
        (AWQ | {"version": "GEMV_FAST"}, "gemv_fast"),
        (AWQ | {"version": "exllama"}, "exllama"),
        (AWQ | {"backend": "llm-awq"}, "llm-awq"),
        (GPTQ | {"pack_dtype": "int16"}, "int16"),
        (GPTQ | {"dynamic": {"+:.*down.*": {"bits": 6}}}, "6 bits"),
    ],
)
def test_other_methods_and_layouts_are_refused_by_name(tmp_path: Path, config: Any, named: str) -> None:
    parts = awq_parts() if config.get("quant_method") == "awq" else gptq_parts()
    with pytest.raises(UnsupportedModel, match=named) as caught:
        open_checkpoint(write(tmp_path, parts, config))
    assert caught.value.hint


@pytest.mark.parametrize(
    "config",
    [
        GPTQ | {"bits": "4"},
        GPTQ | {"bits": True},
        GPTQ | {"group_size": 0},
        GPTQ | {"group_size": None},
        GPTQ | {"group_size": 32.0},
        GPTQ | {"dynamic": ["x"]},
        GPTQ | {"dynamic": {"x": {"bits": [4]}}},
        GPTQ | {"checkpoint_format": "gptq", "format": "gptq_v2"},
        ["gptq"],
        "gptq",
    ],
)
def test_invalid_settings_are_refused(tmp_path: Path, config: Any) -> None:
    with pytest.raises(BadCheckpoint) as caught:
        open_checkpoint(write(tmp_path, gptq_parts(), config))
    assert caught.value.hint


@pytest.mark.parametrize("change", [{"bits": 8}, {"group_size": 64}, {"checkpoint_format": "gptq_v2"}])
def test_contradictory_settings_are_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    config = GPTQ | {"checkpoint_format": "gptq"}
    folder = write(tmp_path, gptq_parts(), config, files={"quantize_config.json": config | change})
    with pytest.raises(BadCheckpoint, match="contradict"):
        open_checkpoint(folder)


def test_packed_weights_without_settings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadCheckpoint, match="no valid quantization settings"):
        open_checkpoint(write(tmp_path, gptq_parts(), None))


def test_settings_without_packed_weights_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadCheckpoint, match="none of its weights"):
        open_checkpoint(write(tmp_path, {}, GPTQ))


@pytest.mark.parametrize("missing", ["qweight", "qzeros", "scales"])
@pytest.mark.parametrize("method", ["gptq", "awq"])
def test_missing_parts_are_refused(tmp_path: Path, missing: str, method: str) -> None:
    parts, config = (gptq_parts(), GPTQ) if method == "gptq" else (awq_parts(), AWQ)
    others = {f"model.layers.1.mlp.up_proj.{part}": array for part, array in parts.items()}
    del parts[missing]
    with pytest.raises(BadCheckpoint, match=f"{MODULE}.*{missing} (is|are) missing"):
        open_checkpoint(write(tmp_path, parts, config, others))


WRONG: list[tuple[str, str, Any]] = [
    ("gptq", "qweight", np.ones((12, ROWS + 8), np.int32)),
    ("gptq", "qweight", np.ones((24, ROWS), np.int32)),
    ("gptq", "qweight", np.ones((12 * ROWS,), np.int32)),
    ("gptq", "qweight", np.ones((0, ROWS), np.int32)),
    ("gptq", "qzeros", np.ones((3, 16), np.int32)),
    ("gptq", "qzeros", np.ones((4, 8), np.int32)),
    ("gptq", "scales", np.ones((2, ROWS), np.float16)),
    ("gptq", "scales", np.ones((3, ROWS - 8), np.float16)),
    ("gptq", "scales", np.ones((3, 0), np.float16)),
    ("gptq", "g_idx", np.ones((COLUMNS - 1,), np.int32)),
    ("gptq", "g_idx", np.ones((1, COLUMNS), np.int32)),
    ("gptq", "weight", np.ones((ROWS, COLUMNS), np.float32)),
    ("awq", "qweight", np.ones((COLUMNS, 16), np.int32)),
    ("awq", "qweight", np.ones((COLUMNS + 32, 8), np.int32)),
    ("awq", "qzeros", np.ones((3, 4), np.int32)),
    ("awq", "scales", np.ones((6, ROWS), np.float16)),
    ("awq", "g_idx", np.zeros((COLUMNS,), np.int32)),
]


@pytest.mark.parametrize(("method", "part", "array"), WRONG)
def test_mismatched_parts_are_refused(tmp_path: Path, method: str, part: str, array: Any) -> None:
    parts, config = (gptq_parts(), GPTQ) if method == "gptq" else (awq_parts(), AWQ)
    parts[part] = array
    with pytest.raises(BadCheckpoint, match=MODULE) as caught:
        open_checkpoint(write(tmp_path, parts, config))
    assert caught.value.hint


@pytest.mark.parametrize(
    ("part", "kind"),
    [
        ("qweight", np.int64),
        ("qweight", np.int16),
        ("qzeros", np.float16),
        ("scales", np.float64),
        ("g_idx", np.int64),
    ],
)
def test_parts_of_other_types_are_refused_by_name(tmp_path: Path, part: str, kind: Any) -> None:
    parts = gptq_parts()
    parts[part] = parts[part].astype(kind)
    with pytest.raises(UnsupportedModel, match=f"{part} of {MODULE}"):
        open_checkpoint(write(tmp_path, parts, GPTQ))


def test_a_quantized_embedding_is_refused(tmp_path: Path) -> None:
    folder = write(tmp_path, gptq_parts(), GPTQ, module="model.embed_tokens")
    tensors = load_file(folder / "model.safetensors")
    del tensors["model.embed_tokens.weight"]
    save_file(tensors, folder / "model.safetensors")
    with pytest.raises(UnsupportedModel, match="embed_tokens"):
        open_checkpoint(folder)


def test_ambiguous_group_sizes_are_refused(tmp_path: Path) -> None:
    parts = gptq_parts(size=64)
    del parts["g_idx"]  # with a g_idx, the group size does not matter
    config = GPTQ | {"group_size": 64, "dynamic": {"+:.*up_proj.*": {"group_size": 48}}}
    with pytest.raises(BadCheckpoint, match="ambiguous"):
        open_checkpoint(write(tmp_path, parts, config))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 65) | st.floats() | st.sampled_from(["gptq", "awq", "int32"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(
    ["bits", "group_size", "format", "version", "pack_dtype", "dynamic", "desc_act", "backend"]
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(config=JSON | st.dictionaries(KEYS, JSON), method=st.sampled_from([GPTQ, AWQ, {}]), other=JSON)
def test_arbitrary_settings_raise_named_errors_only(
    tmp_path: Path, config: Any, method: Any, other: Any
) -> None:
    if not (tmp_path / "model.safetensors").exists():
        write(tmp_path, gptq_parts(), GPTQ)
    merged = {**method, **config} if isinstance(config, dict) else config
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "llama", "quantization_config": merged}))
    (tmp_path / "quantize_config.json").write_text(json.dumps(other))
    with named_errors_only():
        open_checkpoint(tmp_path)
