"""Tiny random assistants of Gemma 4, built by transformers."""

from unittest import mock

import torch
from transformers import Gemma4AssistantConfig, Gemma4AssistantForCausalLM, Gemma4TextConfig

from engine.model.rope_parameters import FULL, SLIDING

SMALL, LARGE = "gemma4_text", "gemma4_large"  # targets, whose last layers share keys and values or do not
ROWS = 128  # of an assistant's tables: more than its target has tokens
CLUSTERS, CHOSEN = 8, 3


def assistant_of(target, ordered=False, seed=5, **changes):
    """transformers' assistant for a target, transformers' too. ordered: whether its output head has clusters.
    changes: to the configuration of its layers."""
    of = target.config
    sliding, full = (of.per_layer_config[of.layer_types.index(kind)] for kind in (SLIDING, FULL))
    layers = dict(
        model_type="gemma4_text",
        vocab_size=ROWS,
        hidden_size=of.hidden_size // 2,
        intermediate_size=2 * of.hidden_size,
        num_hidden_layers=3,
        num_kv_shared_layers=3,
        layer_types=[SLIDING, SLIDING, FULL],
        num_attention_heads=4,
        num_key_value_heads=sliding.num_key_value_heads,
        head_dim=sliding.head_dim,
        global_head_dim=full.head_dim,
        num_global_key_value_heads=full.num_key_value_heads,
        attention_k_eq_v=of.attention_k_eq_v,
        sliding_window=of.sliding_window,
        max_position_embeddings=of.max_position_embeddings,
        hidden_size_per_layer_input=0,
        vocab_size_per_layer_input=0,
        pad_token_id=0,
    )
    config = Gemma4AssistantConfig(
        text_config=layers | changes,
        backbone_hidden_size=of.hidden_size,
        use_ordered_embeddings=ordered,
        num_centroids=CLUSTERS,
        centroid_intermediate_top_k=CHOSEN,
    )
    config._attn_implementation = config.text_config._attn_implementation = "eager"
    torch.manual_seed(seed)
    with sharing_all():
        module = Gemma4AssistantForCausalLM(config).eval()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.mul_(8.0) if parameter.ndim == 2 else parameter.add_(torch.randn_like(parameter) * 0.1)
        for name, buffer in module.named_buffers():
            if name.endswith("layer_scalar"):
                buffer.mul_(0.7)
            elif name.endswith("token_ordering"):
                buffer.copy_(torch.randperm(ROWS))
    return module


def sharing_all():
    """Let a model be built all of whose layers share keys and values: transformers 5.23 refuses that, even
    for assistants."""
    modes = Gemma4TextConfig.kv_sharing_modes

    def shared(config):
        every = config.num_kv_shared_layers == config.num_hidden_layers
        return ["reuse"] * config.num_hidden_layers if every else modes.fget(config)

    return mock.patch.object(Gemma4TextConfig, "kv_sharing_modes", property(shared))


@torch.inference_mode()
def guessed(module, embedded, state, rows):
    """The logits [ROWS] that transformers' assistant gives, and the state [1, width] that it hands on.

    embedded: the token's embedding [1, width], as the target has it; state: the one before it; rows: by type
    of layer, the target's keys and values before the root, [2, kv_heads, length, head_dim].
    """
    shared = {kind: (each[0][None], each[1][None]) for kind, each in rows.items()}
    output = module(
        inputs_embeds=torch.cat([embedded, state], dim=-1)[None],
        position_ids=torch.tensor([[rows[FULL].shape[2]]]),
        shared_kv_states=shared,
    )
    return output.logits[0, 0], output.last_hidden_state[0]


def likely(module, logits, vocabulary):
    """The log-probabilities of the target's tokens, float32 [vocabulary], -inf for those in clusters that
    were not chosen."""
    logits = logits.clone()
    if module.config.use_ordered_embeddings:
        logits[logits == logits.min()] = -torch.inf
    return logits[:vocabulary].log_softmax(-1)
