"""Compiled passes of the small Gemma 4 models: inputs of each layer, whose table stays as it is stored, and
layers that read the rows of earlier ones."""

import numpy as np
import pytest
import torch

from engine.checkpoints import open_checkpoint
from engine.model.interface import no_progress
from engine.model.loader import load_compiled
from engine.model.sequence import Sequence
from engine.model.weight_names import INPUT_TABLE
from engine.streaming import DiskTable, StoredTable, WeightLimits
from tests.engine.checkpoints.gguf_converter import convert
from tests.engine.model.compiled_models import (
    CONTEXT,
    TEXT,
    TOLERANCE,
    Branches,
    all_logits,
    assert_close,
    difference,
    saved,
    tiny,
)
from tests.engine.models import VOCABULARY, ours

KIND = "gemma4_text"
LITTLE = 300 << 10  # bytes: some matrices are streamed


@pytest.mark.parametrize(
    "changes",
    [
        dict(use_double_wide_mlp=False),  # as E4B
        dict(hidden_size_per_layer_input=0),
        dict(num_kv_shared_layers=0),
        dict(num_kv_shared_layers=4),
        dict(attention_k_eq_v=True, num_global_key_value_heads=1),
        dict(
            layer_types=[*["sliding_attention"] * 3, "full_attention", "sliding_attention", "full_attention"]
        ),
    ],
    ids=str,
)
def test_other_settings_have_the_logits_of_transformers(changes):
    module = tiny(KIND, **changes)
    model = saved(module)
    with torch.inference_mode():
        # Asked for all states, transformers leaves out no rows, which it cannot without inputs.
        expected = module(torch.tensor([TEXT]), output_hidden_states=True).logits[0]
    assert_close(all_logits(model, TEXT), expected)


@pytest.mark.parametrize(
    "name",
    [
        "embed_tokens_per_layer.weight",
        "per_layer_model_projection.weight",
        "per_layer_projection_norm.weight",
        "layers.1.per_layer_input_gate.weight",
        "layers.5.post_per_layer_input_norm.weight",
        "layers.2.self_attn.k_proj.weight",  # which layer 4 reads
    ],
)
def test_the_tolerance_notices_another_weight(name):
    module = tiny(KIND)
    model = saved(module)
    with torch.no_grad():
        weight = module.get_parameter(f"model.{name}")
        noise = torch.randn(weight.shape, generator=torch.Generator().manual_seed(2))
        weight += noise * (0.5 if weight.ndim == 1 else 0.3 * weight.std())
    assert difference(all_logits(model, TEXT), all_logits(ours(module), TEXT)) > 2 * TOLERANCE


@pytest.mark.parametrize("storage", ["F32", "Q8_0", "Q4_0"])
def test_the_table_of_inputs_stays_as_it_is_stored(storage, tmp_path):
    file = open_checkpoint(convert(tiny(KIND), tmp_path / "model.gguf", storage=storage))
    table = file.weights[INPUT_TABLE]
    assert table.format == storage
    resident = load_compiled(file, no_progress, CONTEXT)
    assert isinstance(resident.weights.inputs, StoredTable)
    assert resident.weights.inputs.nbytes == table.nbytes
    streamed = load_compiled(file, no_progress, CONTEXT, limits=WeightLimits(LITTLE))
    assert isinstance(streamed.weights.inputs, DiskTable)
    tree = Branches.grown(12, 1)
    outputs = []
    for model in (resident, streamed):
        sequence = Sequence(model, CONTEXT)
        sequence.extend(TEXT[:20])
        outputs.append([logits for logits, _ in tree.consider(sequence, (5, 7))])
    assert all(np.array_equal(*each) for each in zip(*outputs, strict=True))
    streamed.close()


def test_rows_of_the_table_are_those_of_the_tokens(tmp_path):
    module = tiny(KIND)
    module.save_pretrained(tmp_path)
    model = load_compiled(open_checkpoint(tmp_path), no_progress, CONTEXT)
    tokens = np.array([5, 3, 5, VOCABULARY - 1])
    expected = module.model.embed_tokens_per_layer.weight.detach().numpy()[tokens]
    found = np.empty_like(expected)
    model.weights.inputs_into(tokens, found)
    assert np.array_equal(found, expected)


def test_only_layers_with_rows_of_their_own_take_room_in_the_cache():
    model = saved(tiny(KIND))
    cache = model.new_cache(CONTEXT)
    assert (model.layers, len(cache.layers)) == (6, 4)


def test_tokens_without_inputs_are_left_to_torch():
    assert saved(tiny(KIND, vocab_size_per_layer_input=VOCABULARY - 1)) is None
