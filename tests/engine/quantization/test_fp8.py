"""FP8: every byte, blocks that end early, whole folders beside transformers, and what is refused."""

import copy
import json

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch.nn.functional import pad
from transformers import AutoModelForCausalLM

from engine.checkpoints import open_checkpoint
from engine.drafting import DrafterParts, make_drafter
from engine.drafting.none import NoDrafter
from engine.errors import BadCheckpoint, UnsupportedModel
from engine.model.interface import no_progress
from engine.model.sequence import Sequence
from engine.planner.outline import checkpoint_outline
from engine.quantization import operations
from engine.quantization.random_matrix import random_packed
from engine.sampling import Sampler
from engine.streaming import WeightLimits
from engine.torch_model.loader import load_model
from tests.engine.decoding.test_iteration import assert_same, run
from tests.engine.models import CONTEXT, reference

TEXT = [1, 5, 9, 30, 2, 44]
SIZES = dict(
    hidden_size=128, intermediate_size=384, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=1,
    head_dim=128,
)  # fmt: skip
BLOCK, TENSOR = {"weight_block_size": [128, 128]}, {"weight_block_size": None}
STATIC = TENSOR | {"activation_scheme": "static", "modules_to_not_convert": ["lm_head"]}
MATRIX = "model.layers.0.mlp.up_proj"
GROUP = {"weights": {"num_bits": 8, "type": "float", "strategy": "channel", "symmetric": True}}
IN_GROUPS = {"weights": GROUP["weights"] | {"strategy": "group"}}
IN_BLOCKS = {"weights": GROUP["weights"] | {"strategy": "block", "block_structure": [64, 64]}}
WAYS = {  # name: method, how many numbers share a scale, type of the scales, settings
    "block": ("fp8", "block", torch.float32, BLOCK | {"activation_scheme": "dynamic"}),
    "tensor": ("fp8", "matrix", torch.bfloat16, STATIC),
    "channel": ("compressed-tensors", "row", torch.bfloat16, {"config_groups": {"group_0": GROUP}}),
    "fbgemm": ("fbgemm_fp8", "row", torch.float32, {}),
}


def scaled(numbers, share, dtype):
    """Return scales for a matrix, and for each of its numbers the scale that applies to it."""
    rows, columns = numbers.shape
    if share == "block":
        whole = pad(numbers, (0, -columns % 128, 0, -rows % 128))
        scales = whole.view(-(-rows // 128), 128, -(-columns // 128), 128).abs().amax((1, 3))
        scales = (scales / 448).to(dtype)
        return scales, scales.float().repeat_interleave(128, 0).repeat_interleave(128, 1)[:rows, :columns]
    scales = numbers.abs().amax(1, keepdim=True) if share == "row" else numbers.abs().max()
    scales = (scales / 448).to(dtype)
    return scales, scales.float()


def write(folder, module, way):
    """Write the module as a folder in FP8, and set its weights to the numbers that are stored."""
    method, share, dtype, settings = WAYS[way]
    leaf = "weight_scale_inv" if method == "fp8" else "weight_scale"
    tensors = {}
    for name, parameter in module.named_parameters():
        tensors[name] = parameter.detach().clone()
        if not name.endswith("_proj.weight"):
            continue
        scales, spread = scaled(tensors[name], share, dtype)
        tensors[name] = (tensors[name] / spread).clamp(-448, 448).to(torch.float8_e4m3fn)
        with torch.no_grad():
            parameter.copy_(tensors[name].float() * spread)
        owner = name.removesuffix("weight")
        tensors[owner + leaf] = scales
        if settings.get("activation_scheme") == "static":
            tensors[f"{owner}activation_scale"] = torch.tensor(0.5)
    if module.config.tie_word_embeddings:
        tensors.pop("lm_head.weight", None)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    config = json.loads(module.config.to_json_string(use_diff=False))
    config["quantization_config"] = {"quant_method": method, **settings}
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def load(folder, **how):
    return load_model(open_checkpoint(folder), torch.float32, "cpu", no_progress, CONTEXT, **how)


# -- numbers -------------------------------------------------------------------------------------------------


def test_every_byte_is_the_number_that_torch_makes_of_it():
    every = torch.arange(256, dtype=torch.uint8)
    expected = every.view(torch.float8_e4m3fn).float()
    finite = every[expected.isfinite()]
    form = random_packed("FP8_MATRIX", (2, 4), "cpu", torch.float32).format
    parts, shape = (finite, torch.ones(1).view(torch.uint8)), (2, len(finite) // 2)
    found = operations.unpack(form, parts, shape, 0, 2, torch.empty(len(finite)))
    assert torch.equal(found.flatten().view(torch.int32), expected[finite.long()].view(torch.int32))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("share", ["BLOCK", "ROW", "MATRIX"])
def test_rows_from_the_middle_and_blocks_that_end_early(share, dtype):
    rows, columns, first, count = 200, 300, 64, 136
    packed = random_packed(f"FP8_{share}", (rows, columns), "cpu", dtype)
    scales = packed.parts[1].view(torch.float32)
    if share == "BLOCK":
        scales = scales.view(2, 3).repeat_interleave(128, 0)[:rows].repeat_interleave(128, 1)[:, :columns]
    numbers = packed.parts[0].view(rows, columns).view(torch.float8_e4m3fn).float()
    expected = (numbers * scales.view(-1, columns if share == "BLOCK" else 1)).to(dtype)
    out = torch.empty(count * columns, dtype=dtype)
    found = operations.unpack(packed.format, packed.parts, packed.shape, first, count, out)
    assert torch.equal(found, expected[first : first + count])


@pytest.mark.parametrize("byte", [0x7F, 0xFF])
def test_a_nan_among_the_numbers_is_found(byte):
    form = random_packed("FP8_ROW", (2, 4), "cpu", torch.float32).format
    data, scales = torch.zeros(8, dtype=torch.uint8), torch.ones(2).view(torch.uint8)
    assert form.valid([data.numpy(), scales.numpy()])
    data[5] = byte
    assert not form.valid([data.numpy(), scales.numpy()])


@pytest.mark.parametrize("scale", [float("nan"), float("inf"), 3e38])
def test_a_scale_that_leads_beyond_all_numbers_is_found(scale):
    form = random_packed("FP8_MATRIX", (2, 4), "cpu", torch.float32).format
    scales = torch.tensor([scale]).view(torch.uint8)
    assert not form.valid([torch.zeros(8, dtype=torch.uint8).numpy(), scales.numpy()])


# -- folders -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["qwen3", "ministral3"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("packed", [False, True])
def test_a_folder_gives_the_logits_of_the_numbers_it_stores(tmp_path, kind, way, packed):
    module = reference(kind, **SIZES)
    model = load(write(tmp_path, module, way), packed=packed)
    with torch.inference_mode():
        expected = module(torch.tensor([TEXT])).logits[0, -1]
    torch.testing.assert_close(Sequence(model, 32).extend(TEXT), expected, rtol=1e-4, atol=1e-4)


def test_matrices_whose_sizes_are_no_multiples_of_a_block(tmp_path):
    module = reference("llama", hidden_size=192, intermediate_size=200, num_hidden_layers=1, head_dim=48)
    model = load(write(tmp_path, module, "block"), packed=True)
    with torch.inference_mode():
        expected = module(torch.tensor([TEXT])).logits[0, -1]
    torch.testing.assert_close(Sequence(model, 32).extend(TEXT), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("limits", [None, WeightLimits(400_000)], ids=["resident", "streamed"])
def test_trees_give_the_text_of_plain_decoding(tmp_path, limits):
    model = load(write(tmp_path, reference("qwen3", **SIZES), "block"), packed=True, limits=limits)
    plain = run(model, NoDrafter(), TEXT, Sampler(), max_new_tokens=24)
    drafter = make_drafter("recycling", DrafterParts(model.vocabulary))
    tree = run(model, drafter, TEXT, Sampler(), 8, max_new_tokens=24)
    assert_same(tree.tokens, plain.tokens, model, Sampler(), TEXT)
    model.close()


def test_a_scale_that_is_no_number_is_refused_with_the_name_of_its_matrix(tmp_path):
    write(tmp_path, reference("qwen3", **SIZES), "block")
    tensors = load_file(tmp_path / "model.safetensors")
    tensors[f"{MATRIX}.weight_scale_inv"][1, 0] = float("nan")
    save_file(tensors, tmp_path / "model.safetensors")
    with pytest.raises(BadCheckpoint, match=r"up_proj.*contains NaN"):
        load(tmp_path, packed=True)


def test_transformers_reads_the_same_numbers_from_the_same_folder(tmp_path):
    module = reference("qwen3", **SIZES)
    write(tmp_path, module, "block")
    theirs = AutoModelForCausalLM.from_pretrained(tmp_path, dtype=torch.float32)
    with torch.inference_mode():
        expected = theirs(torch.tensor([TEXT])).logits[0, -1]
    found = Sequence(load(tmp_path, packed=True), 32).extend(TEXT)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


def test_streamed_from_the_disk_it_gives_the_same_bits(tmp_path):
    write(tmp_path, reference("qwen3", **SIZES), "block")
    resident, streamed = load(tmp_path, packed=True), load(tmp_path, limits=WeightLimits(400_000))
    one, other = Sequence(resident, CONTEXT), Sequence(streamed, CONTEXT)
    for rows in (TEXT, [7], [3, 9, 12]):
        assert torch.equal(one.extend(rows), other.extend(rows))
    assert streamed.moved > 0
    streamed.close()


def test_plans_count_a_byte_for_each_number(tmp_path):
    module = reference("qwen3", **SIZES)
    outline = checkpoint_outline(open_checkpoint(write(tmp_path, module, "block")), "x")
    numbers = sum(p.numel() for name, p in module.named_parameters() if name.endswith("_proj.weight"))
    assert outline.packed
    assert outline.compiled
    assert numbers < sum(outline.layers) < numbers * 1.02
    assert outline.uncut == 128 * 384 + 3 * 4


# -- what is refused -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """The tensors and the configuration of a folder in blocks."""
    folder = write(tmp_path_factory.mktemp("fp8"), reference("qwen3", **SIZES), "block")
    return load_file(folder / "model.safetensors"), json.loads((folder / "config.json").read_text())


def opened(folder, tensors, config):
    save_file(tensors, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(config))
    return open_checkpoint(folder)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({f"{MATRIX}.weight_scale_inv": None}, "its weight_scale_inv is missing"),
        ({f"{MATRIX}.weight_scale_inv": torch.ones(2, 1)}, "do not fit"),
        ({f"{MATRIX}.weight_scale_inv": torch.ones(3, 1).double()}, "scales in F64"),
        ({f"{MATRIX}.weight": None}, "belongs to no weight"),
        ({f"{MATRIX}.weight": torch.ones(384, 128)}, "is not stored in FP8"),
        ({f"{MATRIX}.weight": torch.zeros(384, 128, 1).to(torch.float8_e4m3fn)}, "in FP8 in 3 dimensions"),
        ({f"{MATRIX}.weight": torch.zeros(0, 128).to(torch.float8_e4m3fn)}, "its shape is"),
        ({f"{MATRIX}.weight": torch.zeros(384, 128).to(torch.float8_e5m2)}, "is not stored in FP8"),
        ({f"{MATRIX}.bias": torch.zeros(384).to(torch.float8_e4m3fn)}, "its weight_scale_inv is missing"),
    ],
)
def test_parts_that_do_not_fit_are_named(tmp_path, sound, change, message):
    tensors, config = sound
    changed = {name: tensor for name, tensor in {**tensors, **change}.items() if tensor is not None}
    with pytest.raises((BadCheckpoint, UnsupportedModel), match=message) as caught:
        opened(tmp_path, changed, config)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"weight_block_size": [64, 64]}, "blocks of .64, 64."),
        ({"expert_dtype": "fp4"}, "experts in fp4"),
        ({"quant_method": "compressed-tensors"}, "no config_groups"),
        ({"quant_method": "compressed-tensors", "config_groups": {"a": {}}}, "has no weights"),
        (
            {
                "quant_method": "compressed-tensors",
                "config_groups": {"a": {"weights": {"num_bits": 4, "type": "int"}}},
            },
            "as int4",
        ),
        (
            {
                "quant_method": "compressed-tensors",
                "config_groups": {"a": GROUP},
                "transform_config": {"b": 1},
            },
            "rotated",
        ),
        (
            {
                "quant_method": "compressed-tensors",
                "config_groups": {"a": GROUP},
                "sparsity_config": {"format": "sparse-24-bitmask"},
            },
            "zeros left out",
        ),
        ({"quant_method": "compressed-tensors", "config_groups": {"a": IN_GROUPS}}, "the strategy group"),
        ({"quant_method": "compressed-tensors", "config_groups": {"a": IN_BLOCKS}}, "in blocks of .64, 64."),
        ({"quant_method": "quark"}, "quark"),
    ],
)
def test_settings_that_ask_for_more_are_refused_by_name(tmp_path, sound, settings, message):
    tensors, config = sound
    changed = copy.deepcopy(config)
    changed["quantization_config"] |= settings
    with pytest.raises((BadCheckpoint, UnsupportedModel), match=message) as caught:
        opened(tmp_path, tensors, changed)
    assert caught.value.hint


def test_settings_without_weights_in_fp8_are_refused(tmp_path, sound):
    tensors, config = sound
    plain = {name: each.float() for name, each in tensors.items() if not name.endswith("_inv")}
    with pytest.raises(BadCheckpoint, match="none of the weights are in FP8"):
        opened(tmp_path, plain, config)
