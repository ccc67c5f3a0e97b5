"""Refuses a configuration whose fields ask for something that is not computed here: nothing unknown passes
silently. A field is understood (`Family`), or has no effect on the logits, or says nothing; else it is
refused by its name."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from engine.errors import UnsupportedModel
from engine.model.architectures import is_listed, unsupported
from engine.model.family import Family

# Fields of transformers' configurations that do not change logits: token ids, training, what is returned,
# and what other programs note. Dropout is off when a model answers.
# fmt: off
WITHOUT_EFFECT = frozenset({
    "architectures", "attention_dropout", "bos_token_id", "cache_implementation", "chunk_size_feed_forward",
    "dtype", "embd_pdrop", "eos_token_id", "id2label", "initializer_range", "is_decoder",
    "is_encoder_decoder", "is_llama_config", "label2id", "num_labels", "output_attentions",
    "output_hidden_states", "output_router_logits", "pad_token_id", "pretraining_tp", "problem_type",
    "quantization_config", "resid_pdrop", "residual_dropout", "return_dict", "return_dict_in_generate",
    "router_aux_loss_coef", "router_jitter_noise", "tokenizer_class", "torch_dtype",
    "transformers_version", "use_cache",
})
# Fields that describe every decoder here, and the older names of rotary parameters. Where an architecture has
# no biases or windows, transformers reads neither field; tensors of biases would be refused by their names.
_DESCRIBED = frozenset({
    "attention_bias", "head_dim", "hidden_act", "hidden_size", "intermediate_size", "layer_types",
    "max_position_embeddings", "mlp_bias", "model_type", "num_attention_heads", "num_hidden_layers",
    "num_key_value_heads",
    "original_max_position_embeddings", "partial_rotary_factor", "per_layer_config", "rms_norm_eps",
    "rope_local_base_freq", "rope_parameters", "rope_scaling", "rope_theta", "sliding_window",
    "tie_word_embeddings", "use_bidirectional_attention", "vocab_size",
})
# Parameters of rotary positions that are read, or that their type does not have; those that change nothing.
_ROTARY = frozenset({
    "attention_factor", "beta_fast", "beta_slow", "factor", "high_freq_factor", "long_factor",
    "low_freq_factor", "mscale", "mscale_all_dim", "original_max_position_embeddings",
    "partial_rotary_factor", "rope_theta", "rope_type", "short_factor", "truncate", "type",
    "finetuned", "max_position_embeddings", "long_mscale", "short_mscale",
})
# fmt: on
# Words in the names of fields by which other architectures, or programs other than transformers, compute
# otherwise. A field that transformers' class of the architecture lacks is looked at only by these words:
# fine-tuned models carry notes of any name.
_COMPUTES = re.compile(
    r"multiplier|scal(e|ing)|cap(ping)?$|softcap|window|sink|norm|rope|rotary|bias|alibi|expert|moe|router"
    r"|activation|_act$|act_fn|attention|attn_(?!implementation)|residual|gated?(_|$)|lora|rank$|mla|conv_"
    r"|ssm|mamba|state_size|recurrent|chunk|layer_(?!types)|layers$|per_layer|shared|latent|mtp|nextn|mup"
)


def understood(family: Family) -> frozenset[str]:
    """Return the fields that the description of this family's models reads, or that it knows to be
    ineffective."""
    return _DESCRIBED | WITHOUT_EFFECT | family.defaults.keys() | {*family.options, *family.others}


def refuse_unknown_fields(architecture: str, known: Iterable[str], values: Mapping[str, Any]) -> None:
    """Raise UnsupportedModel if a field that is not known asks for something: if its value is not null, false
    or empty, and its name speaks of computing."""
    for name in sorted(values.keys() - set(known)):
        if _asks(values[name]) and _COMPUTES.search(name):
            raise _refused(architecture, name)


def refuse_changed_fields(
    architecture: str, known: Iterable[str], values: Mapping[str, Any], defaults: Mapping[str, Any]
) -> None:
    """Raise UnsupportedModel if a field of transformers' configuration class that is not known has another
    value than that class assumes. defaults: what the class assumes."""
    for name in sorted((values.keys() & defaults.keys()) - set(known)):
        if values[name] != defaults[name]:
            raise _refused(architecture, name)


def refuse_rotary_fields(parameters: Mapping[str, Any], others: Iterable[str] = ()) -> None:
    """Raise UnsupportedModel if the parameters of rotary positions have a name that is not known, and a value
    that asks for something. others: names that are known besides."""
    for name in sorted(map(str, parameters.keys() - _ROTARY - set(others))):
        if _asks(parameters[name]):
            raise UnsupportedModel(
                f"Rotary positions with “{name[:40]}” are not supported.", "Choose another model."
            )


def _asks(value: Any) -> bool:
    return value is not None and value is not False and value not in ([], {}, "")


def _refused(architecture: str, name: str) -> UnsupportedModel:
    if not is_listed(architecture):
        return unsupported(architecture, f"the configuration has “{name[:60]}”, which is not known")
    return UnsupportedModel(
        f"The configuration of this {architecture[:40]} model has “{name[:60]}”, which is not supported.",
        "Choose another model. If you made the configuration, remove the field only if it changes nothing.",
    )
