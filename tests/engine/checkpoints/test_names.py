"""Translating the tensor names of checkpoints to the parameter names of text models."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file
from transformers import AutoConfig, AutoModelForCausalLM

from engine.checkpoints import open_checkpoint, read_span
from engine.checkpoints.names import hub_name
from engine.errors import BadCheckpoint, UnsupportedModel
from tests.engine.checkpoints.files import write_folder
from tests.engine.models import reference

SIZES = dict(
    vocab_size=40, hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=2,
    num_key_value_heads=1, head_dim=8,
)  # fmt: skip


def write(folder: Path, config: dict[str, Any], tensors: dict[str, NDArray[Any]]) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    save_file(tensors, folder / "model.safetensors")
    return folder


def numbers(folder: Path) -> dict[str, bytes]:
    return {
        name: b"".join(read_span(span).tobytes() for span in weight.spans)
        for name, weight in open_checkpoint(folder).weights.items()
    }


# -- wrappers ------------------------------------------------------------------------------------------------

WRAPPED = {
    "gemma3": {"model_type": "gemma3_text", **SIZES},
    "mistral3": {"model_type": "mistral", **SIZES, "sliding_window": None, "rope_theta": 1e6},
}


@pytest.mark.parametrize("wrapper", ["gemma3", "mistral3"])
@pytest.mark.parametrize("newer", [False, True])
def test_the_text_model_inside_a_wrapper_is_read(tmp_path: Path, wrapper: str, newer: bool) -> None:
    inner, outer = ("model.language_model.", "model.") if newer else ("language_model.model.", "")
    plain = load_file(write_folder(tmp_path / "plain") / "model.safetensors")
    head = plain.pop("lm_head.weight")
    tensors = {name.replace("model.", inner, 1): array for name, array in plain.items()}
    tensors["lm_head.weight" if newer else "language_model.lm_head.weight"] = head
    tensors |= {
        f"{outer}vision_tower.vision_model.embeddings.patch_embedding.weight": np.ones(4, np.float32),
        f"{outer}multi_modal_projector.mm_input_projection_weight": np.ones(4, np.float32),
    }
    config = {
        "model_type": wrapper,
        "text_config": WRAPPED[wrapper],
        "vision_config": {"hidden_size": 4},
        "eos_token_id": [1, 106],
        "tie_word_embeddings": False,
    }
    folder = write(tmp_path / "wrapped", config, tensors)
    checkpoint = open_checkpoint(folder)
    assert checkpoint.architecture == WRAPPED[wrapper]["model_type"]
    assert checkpoint.generation.eos_token_ids == (1, 106)
    assert numbers(folder) == numbers(tmp_path / "plain")
    ours = AutoConfig.for_model(checkpoint.architecture, **checkpoint.config)
    theirs = AutoConfig.from_pretrained(folder, local_files_only=True).text_config
    for key in (*SIZES, "rope_parameters", "sliding_window"):
        assert getattr(ours, key) == getattr(theirs, key)
    assert ours.tie_word_embeddings is False


@pytest.mark.parametrize("wrapper", ["gemma3", "mistral3"])
def test_a_text_configuration_need_not_name_its_type(tmp_path: Path, wrapper: str) -> None:
    plain = load_file(write_folder(tmp_path / "plain") / "model.safetensors")
    config = {"model_type": wrapper, "text_config": SIZES}
    folder = write(tmp_path / "wrapped", config, {f"language_model.{name}": x for name, x in plain.items()})
    assert open_checkpoint(folder).architecture == WRAPPED[wrapper]["model_type"]


def test_quantization_settings_of_a_wrapper_apply_to_the_text_model(tmp_path: Path) -> None:
    config = {
        "model_type": "gemma3",
        "text_config": WRAPPED["gemma3"],
        "quantization_config": {"quant_method": "quark"},
    }
    with pytest.raises(UnsupportedModel, match="quark"):
        open_checkpoint(write(tmp_path, config, {}))


def test_a_text_model_with_a_text_config_is_no_wrapper(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, {"text_config": {"model_type": "gemma3_text"}})
    assert open_checkpoint(folder).architecture == "llama"


@pytest.mark.parametrize("broken", [None, 3, [], {"model_type": None}, {"model_type": []}])
def test_a_wrapper_without_a_text_model_is_refused(tmp_path: Path, broken: Any) -> None:
    with pytest.raises(BadCheckpoint) as caught:
        open_checkpoint(write(tmp_path, {"model_type": "gemma3", "text_config": broken}, {}))
    assert caught.value.hint


# -- experts -------------------------------------------------------------------------------------------------

MIXTURE = dict(SIZES, num_local_experts=3, num_experts_per_tok=2, model_type="mixtral")


def mixture(folder: Path, original: bool) -> dict[str, torch.Tensor]:
    """Write a Mixtral, in its original form or with 3-D parameters, and return its parameters."""
    torch.manual_seed(0)
    config = AutoConfig.for_model(**MIXTURE)
    module = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    module.save_pretrained(folder, save_original_format=original)
    return dict(module.state_dict())


@pytest.mark.parametrize("original", [True, False])
def test_each_expert_has_three_matrices(tmp_path: Path, original: bool) -> None:
    parameters = mixture(tmp_path, original)
    assert any("block_sparse_moe" in name for name in load_file(tmp_path / "model.safetensors")) is original
    weights = open_checkpoint(tmp_path).weights
    for layer in range(2):
        mlp = f"model.layers.{layer}.mlp"
        gate_up, down = parameters[f"{mlp}.experts.gate_up_proj"], parameters[f"{mlp}.experts.down_proj"]
        expected = {f"{mlp}.gate.weight": parameters[f"{mlp}.gate.weight"]}
        for expert in range(3):
            gate, up = gate_up[expert].chunk(2)
            name = f"{mlp}.experts.{expert}"
            expected |= {
                f"{name}.gate_proj.weight": gate,
                f"{name}.up_proj.weight": up,
                f"{name}.down_proj.weight": down[expert],
            }
        for name, numbers in expected.items():
            assert weights[name].shape == numbers.shape
            assert read_span(weights[name].spans[0]).tobytes() == numbers.contiguous().numpy().tobytes()
    names = {name for name in parameters if "mlp.experts" not in name}
    assert weights.keys() - {name for name in weights if ".experts." in name} == names


def test_packed_experts_are_renamed_too(tmp_path: Path) -> None:
    parts = {
        "qweight": np.ones((8, 64), np.int32),
        "qzeros": np.ones((2, 8), np.int32),
        "scales": np.ones((2, 64), np.float16),
    }
    tensors = {
        f"model.layers.0.block_sparse_moe.experts.1.{matrix}.{part}": array
        for matrix in ("w1", "w2", "w3")
        for part, array in parts.items()
    }
    settings = {"quant_method": "gptq", "bits": 4, "group_size": 32}
    folder = write(tmp_path, {"model_type": "mixtral", "quantization_config": settings}, tensors)
    weights = open_checkpoint(folder).weights
    assert weights.keys() == {
        f"model.layers.0.mlp.experts.1.{projection}_proj.weight" for projection in ("gate", "up", "down")
    }
    assert {weight.format for weight in weights.values()} == {"GPTQ"}


def test_hub_names_are_those_of_the_original_form(tmp_path: Path) -> None:
    mixture(tmp_path, original=True)
    names = load_file(tmp_path / "model.safetensors").keys()
    assert {hub_name("mixtral", name) for name in open_checkpoint(tmp_path).weights} == names
    assert hub_name("qwen3_moe", "model.layers.0.mlp.gate.weight") == "model.layers.0.mlp.gate.weight"
    assert hub_name("nemotron_h", "model.norm_f.weight") == "backbone.norm_f.weight"
    assert hub_name("nemotron_h", "lm_head.weight") == "lm_head.weight"
    expert = "layers.1.mixer.experts.3.up_proj.weight"
    assert hub_name("nemotron_h", f"model.{expert}") == f"backbone.{expert}"


def test_experts_of_lfm2_are_renamed_and_have_the_names_of_the_hub(tmp_path: Path) -> None:
    module = reference("lfm2_moe")
    module.save_pretrained(tmp_path)
    names = load_file(tmp_path / "model.safetensors").keys()
    owner = "model.layers.1.feed_forward"
    assert f"{owner}.experts.5.w3.weight" in names
    weights = open_checkpoint(tmp_path).weights
    assert {hub_name("lfm2_moe", name) for name in weights} == names
    up = module.get_parameter(f"{owner}.experts.gate_up_proj")[5].chunk(2)[1]
    (span,) = weights[f"{owner}.experts.5.up_proj.weight"].spans
    assert read_span(span).tobytes() == up.detach().contiguous().numpy().tobytes()


@pytest.mark.parametrize("shape", [(4,), (4, 6), (2, 3, 4), (2, 0, 4), (0, 4, 4)])
def test_stacks_that_cannot_be_split_are_refused(tmp_path: Path, shape: tuple[int, ...]) -> None:
    tensors = {"model.layers.0.mlp.experts.gate_up_proj": np.ones(shape, np.float32)}
    with pytest.raises(BadCheckpoint, match="not a stack of matrices"):
        open_checkpoint(write(tmp_path, {"model_type": "mixtral"}, tensors))


def test_two_names_for_one_weight_are_refused(tmp_path: Path) -> None:
    names = ("model.layers.0.block_sparse_moe.gate.weight", "model.layers.0.mlp.gate.weight")
    with pytest.raises(BadCheckpoint, match="twice"):
        open_checkpoint(
            write(tmp_path, {"model_type": "mixtral"}, {name: np.ones((2, 2), np.float32) for name in names})
        )
