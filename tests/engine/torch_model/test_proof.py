"""An architecture that is not declared runs if a small random model of it equals transformers', and only
then."""

import json

import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM

from engine.checkpoints import open_checkpoint
from engine.errors import UnsupportedModel
from engine.model.architectures import is_listed
from engine.model.interface import no_progress
from engine.model.loader import load_compiled
from engine.model.sequence import Sequence
from engine.streaming import WeightLimits
from engine.torch_model import attention, proof
from engine.torch_model.forward import TorchModel
from engine.torch_model.loader import load_model
from engine.torch_model.small import ORIGINAL, WINDOW, small_config
from engine.torch_model.visibility import Visibility
from tests.engine.models import COMMON, CONTEXT

TEXT = [1, 5, 9, 30, 2, 44, 17, 8, 60, 3, 3, 21, 33, 52, 11, 40, 6, 28, 19, 55]
GRANITE = dict(
    model_type="granite",
    embedding_multiplier=3.0,
    residual_multiplier=0.4,
    attention_multiplier=0.2,
    logits_scaling=2.0,
)
UNLISTED = {
    "cohere2": dict(sliding_window=9, logit_scale=0.25, head_dim=8),
    "starcoder2": dict(sliding_window=9),
    "exaone4": dict(sliding_window=9, sliding_window_pattern=3, head_dim=8),
    "stablelm": {},
    "arcee": {},
}


@pytest.fixture(autouse=True)
def stored(tmp_path, monkeypatch):
    """The file of outcomes, empty at first."""
    file = tmp_path / "outcomes" / "architectures.json"
    monkeypatch.setattr(proof, "_file", lambda: file)
    return file


def config(**values):
    values = {**COMMON, "num_hidden_layers": 4, **values}
    return AutoConfig.for_model(values.pop("model_type"), **values)


def saved(folder, architecture, **changes):
    torch.manual_seed(0)
    made = config(model_type=architecture, **UNLISTED[architecture], **changes)
    module = AutoModelForCausalLM.from_config(made, dtype=torch.float32, attn_implementation="eager").eval()
    with torch.no_grad():
        for weight in module.parameters():
            weight.mul_(6.0) if weight.ndim == 2 else weight.add_(torch.randn_like(weight) * 0.1)
    module.save_pretrained(folder)
    return module


def change(folder, **settings):
    file = folder / "config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **settings}))


def load(path, **kwargs):
    return load_model(open_checkpoint(path), torch.float32, "cpu", no_progress, context=CONTEXT, **kwargs)


@pytest.mark.parametrize("architecture", UNLISTED)
def test_an_architecture_that_is_not_declared_runs_after_a_proof(tmp_path, stored, architecture):
    module = saved(tmp_path / "model", architecture)
    assert not is_listed(architecture)
    for how in ({}, {"packed": True}, {"limits": WeightLimits(200_000)}):
        model = load(tmp_path / "model", **how)
        with torch.inference_mode():
            expected = module(torch.tensor([TEXT])).logits[0, -1]
        torch.testing.assert_close(Sequence(model, CONTEXT).extend(TEXT), expected, rtol=1e-4, atol=1e-4)
        model.close()
    assert [*json.loads(stored.read_text()).values()] == [""]


def test_compiled_steps_leave_an_architecture_that_is_not_declared_to_torch(tmp_path):
    saved(tmp_path, "arcee", hidden_size=64, intermediate_size=96, head_dim=32)
    assert load_compiled(open_checkpoint(tmp_path), no_progress, CONTEXT) is None


# What a proof notices


def without(monkeypatch, name, value):
    """Compute a model with the keyword `name` of attention replaced by `value`."""
    attend = attention.attend

    def forgetting(*args, **kwargs):
        return attend(*args, **{**kwargs, name: value} if name in kwargs else kwargs)

    monkeypatch.setitem(attention.AttentionInterface()._global_mapping, attention.ATTENTION, forgetting)


def test_a_model_that_is_computed_as_transformers_does_is_equal():
    assert proof.difference(small_config(config(**GRANITE))) == ""


@pytest.mark.parametrize("factor", ["embedding_multiplier", "logits_scaling"])
def test_a_forgotten_factor_is_noticed(monkeypatch, factor):
    made, init = small_config(config(**GRANITE)), TorchModel.__init__

    def forgetting(self, module, own, *args, **kwargs):
        setattr(own, factor, 1.0)
        init(self, module, own, *args, **kwargs)

    monkeypatch.setattr(TorchModel, "__init__", forgetting)
    assert "log-probabilities of a plain text differ" in proof.difference(made)


@pytest.mark.parametrize(
    ("settings", "keyword", "value"),
    [
        (dict(model_type="starcoder2", sliding_window=4096), "sliding_window", None),
        (dict(model_type="granite_swa", head_dim=8), "s_aux", None),
        (dict(model_type="vaultgemma", head_dim=16, attn_logit_softcapping=2.0), "softcap", None),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_forgotten_keyword_of_attention_is_noticed(monkeypatch, settings, keyword, value):
    made = small_config(config(**settings))
    assert proof.difference(made) == ""
    without(monkeypatch, keyword, value)
    assert "differ" in proof.difference(made)


def test_frequencies_that_are_wrong_only_beyond_the_original_context_are_noticed(monkeypatch):
    stretch = {"short_factor": [1.0] * 4, "long_factor": [1.0, 2.0, 3.0, 4.0]}
    rotary = {"rope_type": "longrope", "rope_theta": 1e4, "original_max_position_embeddings": 128, **stretch}
    made = small_config(config(model_type="arcee", head_dim=8, rope_parameters=rotary))
    assert proof.difference(made) == ""
    monkeypatch.setattr(proof, "_CONTEXT", ORIGINAL)  # the context frequencies are fixed for
    monkeypatch.setattr(TorchModel, "new_cache", lambda self, most, new=TorchModel.new_cache: new(self, 64))
    assert "differ" in proof.difference(made)


def test_a_tree_that_is_computed_otherwise_than_its_paths_is_noticed(monkeypatch):
    seen = Visibility._seen

    def all_rows(self, start, stop, window):
        found = seen(self, start, stop, window)
        return found if self.rows.visible is None else found | (window is None)

    made = small_config(config(model_type="arcee"))
    monkeypatch.setattr(Visibility, "_seen", all_rows)
    assert "log-probabilities of a tree differ" in proof.difference(made)


# What is refused


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"num_experts": 4}, "mixture of experts"),
        ({"layer_types": ["linear_attention", "full_attention"] * 2}, "linear_attention"),
        ({"residual_scaling": 0.5}, "residual_scaling"),
        ({"model_type": "no_such_model"}, "no_such_model"),
        ({"intermediate_size": None}, "intermediate_size is None"),
        ({"hidden_act": "no_such_function"}, "no_such_function"),
        ({"rope_parameters": {"rope_type": "spiral", "rope_theta": 1e4}}, "spiral"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_what_cannot_run_is_refused_by_its_name(tmp_path, settings, reason):
    saved(tmp_path, "arcee")
    change(tmp_path, **settings)
    with pytest.raises(Exception, match=reason) as refused:
        load(tmp_path)
    assert refused.value.kind in ("unsupported_model", "bad_checkpoint")
    assert refused.value.hint


def test_a_module_of_another_make_is_refused_with_what_fails(tmp_path):
    made = config(model_type="gpt_neox")
    AutoModelForCausalLM.from_config(made).save_pretrained(tmp_path)
    with pytest.raises(UnsupportedModel, match=r"“gpt_neox” are not supported: a pass fails .*'model'"):
        proof.prove(made)


# Stored outcomes


@pytest.fixture
def compared(monkeypatch):
    """The configurations that were compared, in this order."""
    made = []

    def difference(config, compare=proof.difference):
        made.append(config)
        return compare(config)

    monkeypatch.setattr(proof, "difference", difference)
    return made


def test_a_proof_is_made_once_for_a_version_of_transformers_and_for_the_same_settings(monkeypatch, compared):
    proof.prove(config(model_type="arcee"))
    proof.prove(config(model_type="arcee", hidden_size=64, num_hidden_layers=12, vocab_size=500, head_dim=8))
    assert len(compared) == 1, "sizes do not matter"
    proof.prove(config(model_type="arcee", hidden_act="silu"))
    assert len(compared) == 2
    monkeypatch.setattr(proof.transformers, "__version__", "5.99.0")
    proof.prove(config(model_type="arcee"))
    assert len(compared) == 3


def test_a_refusal_is_stored_too_and_a_damaged_file_is_not_believed(stored, compared):
    for _ in range(2):
        with pytest.raises(UnsupportedModel, match="a pass fails"):
            proof.prove(config(model_type="gpt_neox"))
    assert len(compared) == 1
    stored.write_text("{")
    with pytest.raises(UnsupportedModel, match="a pass fails"):
        proof.prove(config(model_type="gpt_neox"))
    assert len(compared) == 2


# The small configuration


def test_a_small_configuration_keeps_patterns_windows_and_scalings():
    yarn = {"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 4096, "rope_theta": 1e6}
    types = ["full_attention"] * 20 + ["sliding_attention"] * 2
    made = small_config(
        config(
            model_type="smollm3",
            hidden_size=4096,
            num_attention_heads=32,
            num_key_value_heads=8,
            num_hidden_layers=22,
            no_rope_layers=[1, 1, 1, 0] * 5 + [1, 1],
            layer_types=types,
            sliding_window=4096,
            max_position_embeddings=32768,
            rope_parameters=yarn,
        )
    )
    assert made.no_rope_layers == [1, 1, 1, 0, 1, 1]
    assert made.layer_types == ["full_attention"] * 5 + ["sliding_attention"]
    assert (made.sliding_window, made.max_position_embeddings) == (WINDOW, 8 * ORIGINAL)
    assert made.rope_parameters["original_max_position_embeddings"] == ORIGINAL
    assert made.rope_parameters["factor"] == 8.0
    assert made.num_attention_heads // made.num_key_value_heads == 2
    assert made.hidden_size // made.num_attention_heads == 128


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory")])
@pytest.mark.parametrize("place", ["small_config", "_random_model"])
def test_missing_memory_says_nothing_about_an_architecture(monkeypatch, stored, error, place):
    def fail(*args):
        raise error

    with monkeypatch.context() as full:
        full.setattr(proof, place, fail)
        with pytest.raises(type(error)):
            proof.prove(config(model_type="arcee"))
    assert not stored.exists()
    proof.prove(config(model_type="arcee"))
