"""Tiny random models in float32, built by transformers, for tests."""

import copy

import torch
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedModel

from engine.model import ATTENTION, Model

VOCABULARY = 61
_COMMON = dict(
    vocab_size=VOCABULARY, hidden_size=32, intermediate_size=48, num_hidden_layers=3, num_attention_heads=4,
    num_key_value_heads=2, max_position_embeddings=512, bos_token_id=1, eos_token_id=2, pad_token_id=0,
)  # fmt: skip
CONFIGS = {
    "llama": dict(head_dim=8, tie_word_embeddings=True),
    "llama3_rope": dict(
        head_dim=16,
        rope_parameters=dict(
            rope_type="llama3",
            rope_theta=10000.0,
            factor=8.0,
            low_freq_factor=1.0,
            high_freq_factor=4.0,
            original_max_position_embeddings=64,
        ),
    ),
    "mistral": dict(sliding_window=12),
    "qwen2": dict(),
    "qwen2_window": dict(use_sliding_window=True, sliding_window=9, max_window_layers=1),
    "qwen3": dict(head_dim=16),
}


def reference(kind: str, seed: int = 0, **changes: object) -> PreTrainedModel:
    """transformers' own model. The head is made sharper than at random, so that a draft and a target can
    agree at all."""
    settings = {**_COMMON, **CONFIGS[kind], **changes}
    config = AutoConfig.for_model(kind.split("_")[0].replace("llama3", "llama"), **settings)
    config._attn_implementation = "eager"
    torch.manual_seed(seed)
    module = AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.mul_(6.0) if parameter.ndim == 2 else parameter.add_(torch.randn_like(parameter) * 0.1)
    return module


def ours(module: PreTrainedModel) -> Model:
    """The same weights behind `engine.model`."""
    config = copy.deepcopy(module.config)
    twin = AutoModelForCausalLM.from_config(config, dtype=torch.float32, attn_implementation=ATTENTION)
    twin.load_state_dict(module.state_dict())
    return Model(twin, config)


def disturbed(module: PreTrainedModel, amount: float, seed: int = 1) -> PreTrainedModel:
    """A model like `module` but for noise on its weights: the draft of a tiny pair that agrees now and
    then."""
    twin = AutoModelForCausalLM.from_config(module.config, dtype=torch.float32).eval()
    twin.load_state_dict(module.state_dict())
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in twin.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator) * parameter.std() * amount)
    return twin


def counted(model: Model) -> list[int]:
    """From now on notes how many rows each pass of `model` computes."""
    rows: list[int] = []
    forward = model.forward

    def counting(batch, *args, **kwargs):
        rows.append(len(batch))
        return forward(batch, *args, **kwargs)

    model.forward = counting
    return rows
