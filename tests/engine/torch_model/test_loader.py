"""Loading of valid and invalid safetensors folders."""

import json
from bisect import bisect_left

import pytest
import torch
from safetensors.torch import load_file, save_file

from engine.checkpoints import open_checkpoint
from engine.checkpoints.recurrent import state_row_nbytes, states_nbytes
from engine.errors import BadCheckpoint, OutOfMemory, SpecExecError, UnsupportedModel
from engine.model import devices
from engine.model.interface import no_progress
from engine.model.sequence import Sequence
from engine.planner import node_records
from engine.planner.run_rows import DROPPED_RECORDS
from engine.quantization import half_split
from engine.torch_model.loader import choose_dtype, load_model
from tests.engine.models import VOCABULARY, reference

TEXT = [1, 5, 9, 30, 2, 44]


@pytest.fixture
def folder(tmp_path):
    """A tiny model in the Hub's layout (without a tokenizer, which the loader does not need)."""
    module = reference("qwen2")
    save_file(
        {name: t.contiguous() for name, t in module.state_dict().items()}, tmp_path / "model.safetensors"
    )
    (tmp_path / "config.json").write_text(module.config.to_json_string(use_diff=False))
    tmp_path.joinpath("tokenizer.json").write_text("{}")
    return tmp_path


def load(folder, **kwargs):
    cpu = "cpu"
    return load_model(open_checkpoint(folder), torch.float32, cpu, no_progress, context=64, **kwargs)


def change(folder, **settings):
    file = folder / "config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **settings}))


def test_a_loaded_folder_gives_the_logits_of_transformers(folder):
    logits = Sequence(load(folder), 32).extend(TEXT)
    with torch.inference_mode():
        expected = reference("qwen2")(torch.tensor([TEXT])).logits[0, -1]
    torch.testing.assert_close(logits, expected, rtol=1e-4, atol=1e-4)


def test_padding_of_the_head_gets_no_logits(folder):
    model = load(folder, vocabulary=VOCABULARY - 5)
    assert model.vocabulary == VOCABULARY - 5
    assert Sequence(model, 32).extend(TEXT).shape == (VOCABULARY - 5,)


@pytest.mark.parametrize(
    "settings",
    [
        dict(hidden_size=64),
        dict(vocab_size=VOCABULARY + 3),
        dict(hidden_size="abc"),
        dict(num_attention_heads=5),
        dict(hidden_act="no such function"),
        dict(rope_parameters={"rope_type": "no such rope", "rope_theta": 1e4}),
        dict(rope_parameters={"rope_type": "default", "rope_theta": 0.0}),
        dict(rms_norm_eps=1e9),
        dict(num_hidden_layers=4),
    ],
    ids=lambda settings: next(iter(settings)),
)
def test_a_configuration_that_does_not_fit_is_a_named_error(folder, settings):
    change(folder, **settings)
    with pytest.raises((BadCheckpoint, UnsupportedModel)) as refused:
        load(folder)
    assert refused.value.hint


def test_an_unsupported_architecture_is_refused_with_the_supported_ones(folder):
    change(folder, model_type="opt", architectures=["OPTForCausalLM"])
    with pytest.raises(SpecExecError) as refused:
        load(folder)
    assert "qwen2" in refused.value.hint


def test_half_split_undoes_the_interleaving():
    heads, width = 3, 8
    weight = torch.arange(heads * width * 2.0).view(heads * width, 2)
    interleaved = weight.view(heads, 2, width // 2, 2).transpose(1, 2).reshape(heads * width, 2)
    assert torch.equal(half_split(interleaved, heads), weight)


def test_layer_progress_counts_complete_layers(folder):
    told = []
    model = load(folder, layer_progress=lambda *progress: told.append(progress))
    assert {layers for _, layers in told} == {model.layers}
    done = [layer for layer, _ in told]
    assert done == sorted(done)
    assert (done[0], done[-1]) == (0, model.layers)


def test_loading_can_be_ended_between_tensors(folder):
    class Ended(Exception):
        pass

    def progress(done, total):
        if done > total // 2:
            raise Ended

    with pytest.raises(Ended):
        load_model(open_checkpoint(folder), torch.float32, "cpu", progress, context=64)


def test_a_context_whose_keys_do_not_fit_is_refused_with_the_largest_that_does(folder, monkeypatch):
    checkpoint, cpu = open_checkpoint(folder), "cpu"
    row = 2 * 3 * 2 * 8 * 4  # keys and values, layers, heads, width, bytes
    monkeypatch.setattr(devices, "free_nbytes", lambda device: 100 * row)
    devices.check_context([checkpoint], 100, "F32", cpu, compiles=False)
    with pytest.raises(OutOfMemory, match="101 tokens") as refused:
        devices.check_context([checkpoint], 101, "F32", cpu, compiles=False)
    assert " 90 tokens" in refused.value.hint
    devices.check_context([checkpoint], 200, "F16", cpu, compiles=False)


@pytest.fixture
def needed(tmp_path, monkeypatch):
    """Return a function that says how much memory has to be free for 16 tokens with some models."""

    def nbytes(kinds, device, compiles=False):
        folders = [tmp_path / kind for kind in kinds]
        for kind, path in zip(kinds, folders, strict=True):
            if not path.exists():
                reference(kind).save_pretrained(path)
        checkpoints = [open_checkpoint(path) for path in folders]

        def is_enough(free):
            monkeypatch.setattr(devices, "free_nbytes", lambda device: free)
            try:
                devices.check_context(checkpoints, 16, "F32", device, compiles)
            except OutOfMemory:
                return False
            return True

        return bisect_left(range(1 << 32), True, key=is_enough), checkpoints

    return nbytes


STATEFUL = "qwen3_5_text"


@pytest.mark.parametrize(
    ("device", "compiles", "copies", "at_once"),
    [("cpu", True, 8, 1), ("cpu", False, 8, 2), ("cuda", False, 2, 2)],
)
def test_a_context_needs_memory_for_the_states_and_records_on_the_device(
    device, compiles, copies, at_once, needed
):
    nbytes, [checkpoint] = needed([STATEFUL], device, compiles)
    rows = 16 * 2 * 1 * 2 * 16 * 4  # of one layer
    records = at_once * 2 * state_row_nbytes(checkpoint)  # of the root and one node
    assert nbytes == copies * states_nbytes(checkpoint) + rows + records


@pytest.mark.parametrize(
    ("target", "device", "compiles", "at_once", "grows_ahead"),
    [
        ("qwen2", "cpu", True, 1, True),
        ("qwen2", "cpu", False, 2, True),
        ("qwen2", "cuda", False, 2, True),
        (STATEFUL, "cpu", True, 1, True),
        pytest.param(STATEFUL, "cuda", False, 2, False, id="target and draft take turns"),
    ],
)
def test_a_context_leaves_memory_for_the_nodes_of_a_draft_and_those_that_grow_ahead(
    target, device, compiles, at_once, grows_ahead, needed, monkeypatch
):
    monkeypatch.setattr(node_records, "AHEAD_RECORDS_NBYTES", 1000)
    both, (_, draft) = needed([target, STATEFUL], device, compiles)
    apart = sum(needed([kind], device, compiles)[0] for kind in (target, STATEFUL))
    dropped = at_once * (DROPPED_RECORDS - 1) * state_row_nbytes(draft)  # in place of the root's
    assert both - apart == dropped + (at_once * 1000 if grows_ahead else 0)


def test_beside_a_target_that_is_not_streamed_no_nodes_grow_ahead(needed):
    """A tiny target takes fewer bytes than the records of such nodes would."""
    both, (target, draft) = needed(["qwen2", STATEFUL], "cpu")
    apart = sum(needed([kind], "cpu")[0] for kind in ("qwen2", STATEFUL))
    weights = sum(weight.nbytes for weight in target.weights.values())
    assert both - apart == 2 * (DROPPED_RECORDS - 1) * state_row_nbytes(draft) + weights


@pytest.mark.parametrize("ampere", [True, False])
def test_cards_without_bfloat16_multiply_in_float16(monkeypatch, ampere):
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: ampere)
    assert choose_dtype("auto", "cuda") == (torch.bfloat16 if ampere else torch.float16)
    assert choose_dtype("float32", "cuda") == torch.float32


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        (dict(hidden_act="no_such_function"), "activation function “no_such_function”"),
        (dict(residual_multiplier=0.3), "residual_multiplier"),
        (dict(rope_parameters={"rope_type": "default", "rope_theta": 1e4, "mrope_section": [1]}), "mrope"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_what_a_configuration_asks_for_in_vain_is_named(folder, settings, name):
    change(folder, **settings)
    with pytest.raises(UnsupportedModel, match=name):
        load(folder)


def test_a_field_that_only_a_newer_transformers_knows_is_refused(folder, monkeypatch):
    from engine.torch_model import loader

    monkeypatch.setattr(loader, "understood", lambda family: frozenset({"num_hidden_layers"}))
    change(folder, max_window_layers=27)
    with pytest.raises(UnsupportedModel, match="has “"):
        load(folder)


@pytest.mark.parametrize("name", ["mtp.layers.0.input_proj.weight", "model.layers.0.self_attn.sinks"])
def test_a_tensor_that_the_module_lacks_is_refused_by_its_name(folder, name):
    file = folder / "model.safetensors"
    save_file({**load_file(file), name: torch.ones(4)}, file)
    with pytest.raises(BadCheckpoint, match=name.replace(".", r"\.")):
        load(folder)
