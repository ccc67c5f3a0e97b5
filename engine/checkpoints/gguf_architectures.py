"""Find the Hugging Face architecture and configuration that belong to a GGUF file's `general.architecture`.

Supporting a new architecture takes one entry in `ARCHITECTURES`, and perhaps a function of `gguf_settings`.
Sources, all in ggml-org/llama.cpp: convert_hf_to_gguf.py, llama-model.cpp and gguf-py's constants.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from engine.checkpoints import (
    gguf_assistant,
    gguf_gemma,
    gguf_granite,
    gguf_lfm2,
    gguf_nemotron,
    gguf_settings,
)
from engine.checkpoints.checkpoint import GgufVocabulary
from engine.checkpoints.gguf_header import DAMAGED, Value
from engine.checkpoints.gguf_keys import Keys
from engine.checkpoints.gguf_places import TensorPlace
from engine.checkpoints.gguf_settings import Config
from engine.checkpoints.limits import COUNT_LIMIT, LAYERS_LIMIT, WIDTH_LIMIT
from engine.errors import BadCheckpoint, UnsupportedModel

INNER_NORMS = {"attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm"}
OUTER_NORMS = {
    "post_attention_norm": "post_attention_layernorm",
    "post_ffw_norm": "post_feedforward_layernorm",
}


@dataclass(frozen=True, slots=True)
class Architecture:
    """An architecture: its names in HF, and how it differs from the layers that most architectures have.

    Attributes: `model_type` and `class_name`, HF's names; `settings`, a function that returns the entries of
    the configuration that only this architecture has; `maths`, the keys besides `UNDERSTOOD` that `settings`
    takes care of; `interleaved`, whether the rows of Q and K are permuted for llama.cpp's rotary layout;
    `qkv_bias`, whether Q, K and V have biases; `qk_norm`, whether queries and keys are normalized;
    `whole_qk_norm`, whether they are over all heads together; `fused_qkv`, whether Q, K and V are one matrix;
    `fused_gate`, whether gate and up are one; `plain_output`, whether the output of attention has no bias,
    even if Q, K and V have; `gated`, whether gates of a head's output follow its queries; `shared`, whether
    all layers are mixtures with an expert that every token uses, and none has an MLP; `sinks`, whether each
    head has a sink; `biased_experts`, whether router and experts have biases; `corrected_router`, whether the
    router has biases by which it chooses only, and there are shared experts without a gate; `delta_inputs`,
    the matrices before gated DeltaNet, as in `engine.model.family`, unless the settings have `_delta_inputs`;
    `mixture` and `router`, HF's names of a layer's mixture of experts and of the router in it; `norms`, a
    layer's norms: GGUF's name -> HF's name; `norm_plus`, a number to add to stored norms; `places`, a
    function of the configuration that yields the name and the place of each tensor, if layers may differ in
    their heads or MLPs: `settings` reads these sizes then.
    """

    model_type: str
    class_name: str
    settings: Callable[[Keys, Config], Config]
    maths: tuple[str, ...] = ()
    interleaved: bool = False
    qkv_bias: bool = False
    qk_norm: bool = False
    whole_qk_norm: bool = False
    fused_qkv: bool = False
    fused_gate: bool = False
    plain_output: bool = False
    gated: bool = False
    shared: bool = False
    sinks: bool = False
    biased_experts: bool = False
    corrected_router: bool = False
    delta_inputs: tuple[str, ...] = ("qkv", "z", "b", "a")
    mixture: str = "mlp"
    router: str = "gate"
    norms: Mapping[str, str] = field(default_factory=lambda: INNER_NORMS)
    norm_plus: float = 0.0
    places: Callable[[Config], Iterator[tuple[str, TensorPlace]]] | None = None


# Metadata keys of every architecture that are read here or by `gguf_rope`, or that change no computation. A
# file with another key of its architecture is refused unless the architecture handles it: converters also use
# the names of these architectures for relatives (Granite, MiniCPM, ...).
UNDERSTOOD = frozenset(
    {
        *("vocab_size", "context_length", "embedding_length", "feed_forward_length", "block_count"),
        *("tensor_data_layout", "attention.head_count", "attention.head_count_kv", "attention.key_length"),
        *("attention.value_length", "attention.layer_norm_rms_epsilon", "rope.dimension_count"),
        *("rope.freq_base", "rope.scale_linear", "rope.scaling.type", "rope.scaling.factor"),
        *("rope.scaling.attn_factor", "rope.scaling.original_context_length", "rope.scaling.finetuned"),
        *("rope.scaling.yarn_attn_factor", "rope.scaling.yarn_beta_fast", "rope.scaling.yarn_beta_slow"),
        *("rope.scaling.yarn_ext_factor", "rope.scaling.yarn_log_multiplier"),
    }
)


def architecture_of(keys: Keys) -> Architecture:
    """Return the file's architecture, and set `keys.prefix` to its GGUF name.

    Raises `UnsupportedModel` if the architecture is unknown, or an assistant's.
    """
    name = keys.text("general.architecture")
    if name == gguf_assistant.NAME:
        raise UnsupportedModel(
            f"{keys.path.name} is an assistant of Gemma 4, which drafts for a model and cannot answer.",
            "Choose its model as the target, and this file as the draft (--draft).",
        )
    if name not in ARCHITECTURES:
        raise UnsupportedModel(
            f"{keys.path.name} contains a model of the unsupported architecture {name[:40]!r}.",
            f"Supported in GGUF files: {', '.join(sorted(ARCHITECTURES))}.",
        )
    keys.prefix = name
    if name == "llama" and keys.number("{arch}.expert_count", 0):
        return MIXTRAL
    if name == "olmo2" and keys.number("{arch}." + WINDOW, 0):
        return OLMO3
    return ARCHITECTURES[name]


def configuration(keys: Keys, architecture: Architecture, vocabulary: GgufVocabulary) -> Config:
    """Return the arguments for `AutoConfig.for_model`.

    Raises `BadCheckpoint` if the metadata are contradictory; `UnsupportedModel` if they ask for something
    that is not supported.
    """
    _refuse_different_maths(keys, architecture)
    tensors = keys.header.tensors
    hidden = keys.number("{arch}.embedding_length", least=1, most=WIDTH_LIMIT)
    rows = tensors["token_embd.weight"].shape[0] if "token_embd.weight" in tensors else len(vocabulary.tokens)
    if len(vocabulary.tokens) > rows:
        raise BadCheckpoint(
            f"{keys.path.name} is invalid: {len(vocabulary.tokens)} tokens, but only {rows} embeddings.",
            DAMAGED,
        )
    config: Config = {
        "architectures": [architecture.class_name],
        "vocab_size": rows,
        "hidden_size": hidden,
        "num_hidden_layers": keys.number("{arch}.block_count", least=1, most=LAYERS_LIMIT),
        "num_attention_heads": keys.number("{arch}.attention.head_count", least=1, most=COUNT_LIMIT),
        "max_position_embeddings": keys.number("{arch}.context_length", least=1),
        "rms_norm_eps": keys.real("{arch}.attention.layer_norm_rms_epsilon"),
        "tie_word_embeddings": "output.weight" not in tensors,
        "bos_token_id": vocabulary.bos_id,
        "eos_token_id": vocabulary.eos_id,
        "pad_token_id": keys.token_id("tokenizer.ggml.padding_token_id", len(vocabulary.tokens)),
    }
    if not architecture.places:
        config |= gguf_settings.heads(keys, config)
    if not (architecture.shared or architecture.places):
        width = keys.number("{arch}.feed_forward_length", least=1, most=WIDTH_LIMIT)
        config["intermediate_size"] = width
    return config | architecture.settings(keys, config)


def _refuse_different_maths(keys: Keys, architecture: Architecture) -> None:
    """Raise `UnsupportedModel` for a key of the architecture that is not understood. A zero or false value
    asks for nothing, but for causal attention that is off."""
    known = UNDERSTOOD | {*architecture.maths}
    for full, value in keys.metadata.items():
        prefix, _, key = full.partition(".")
        if prefix != keys.prefix or key in known or not _asks(key, value):
            continue
        wide_window = isinstance(value, int) and value >= keys.number("{arch}.context_length")
        if key == WINDOW and wide_window:
            continue
        raise UnsupportedModel(
            f"{keys.path.name} needs a computation that is not supported ({full[:80]}).",
            "Choose another model.",
        )


def _asks(key: str, value: Value) -> bool:
    if key == "attention.causal":
        return value is not True
    return not isinstance(value, (bool, int, float)) or bool(value)


WINDOW, CAP, LAST_CAP = "attention.sliding_window", "attn_logit_softcapping", "final_logit_softcapping"
PATTERN, LOCAL_BASE = "attention.sliding_window_pattern", "rope.freq_base_swa"
EXPERTS = ("expert_count", "expert_used_count")
WIDTHS = ("expert_feed_forward_length", "expert_shared_feed_forward_length")
FACTORS = ("attention.scale", "embedding_scale", "residual_scale", "logit_scale")
MIXTRAL = Architecture("mixtral", "MixtralForCausalLM", gguf_settings.mixtral, EXPERTS, interleaved=True)
OLMO3 = Architecture(  # under the name of OLMo 2
    "olmo3",
    "Olmo3ForCausalLM",
    gguf_settings.olmo3,
    (WINDOW, PATTERN),
    whole_qk_norm=True,
    norms=OUTER_NORMS,
)
QWEN35 = Architecture(
    "qwen3_5_text",
    "Qwen3_5ForCausalLM",
    gguf_settings.qwen35,
    gguf_settings.DELTA,
    qk_norm=True,
    gated=True,
    norms={"attn_norm": "input_layernorm", "post_attention_norm": "post_attention_layernorm"},
    norm_plus=-1.0,
)
ARCHITECTURES = {
    "llama": Architecture("llama", "LlamaForCausalLM", gguf_settings.llama, interleaved=True),
    "mistral": Architecture("mistral", "MistralForCausalLM", gguf_settings.mistral, interleaved=True),
    "mistral3": Architecture(
        "ministral3",
        "Ministral3ForCausalLM",
        gguf_settings.ministral3,
        ("attention.temperature_scale",),
        interleaved=True,
    ),
    "qwen2": Architecture("qwen2", "Qwen2ForCausalLM", gguf_settings.qwen, qkv_bias=True),
    "qwen3": Architecture("qwen3", "Qwen3ForCausalLM", gguf_settings.qwen, qk_norm=True),
    "seed_oss": Architecture(
        "seed_oss",
        "SeedOssForCausalLM",
        gguf_settings.seed_oss,
        norms={"attn_norm": "input_layernorm", "post_attention_norm": "post_attention_layernorm"},
    ),
    "smollm3": Architecture("smollm3", "SmolLM3ForCausalLM", gguf_settings.smollm3, interleaved=True),
    "qwen3moe": Architecture(
        "qwen3_moe",
        "Qwen3MoeForCausalLM",
        gguf_settings.qwen3_moe,
        (*EXPERTS, "expert_feed_forward_length"),
        qk_norm=True,
    ),
    "olmoe": Architecture("olmoe", "OlmoeForCausalLM", gguf_settings.olmoe, EXPERTS, whole_qk_norm=True),
    "gpt-oss": Architecture(
        "gpt_oss",
        "GptOssForCausalLM",
        gguf_settings.gpt_oss,
        (*EXPERTS, WINDOW, "expert_feed_forward_length"),
        sinks=True,
        biased_experts=True,
        router="router",
        norms={"attn_norm": "input_layernorm", "post_attention_norm": "post_attention_layernorm"},
    ),
    "granitemoe": Architecture(
        "granitemoe",
        "GraniteMoeForCausalLM",
        gguf_settings.granite_moe,
        (*EXPERTS, *FACTORS),
        interleaved=True,
        mixture="block_sparse_moe",
        router="router",
    ),
    "granite": Architecture(
        "granite", "GraniteForCausalLM", gguf_settings.granite, FACTORS, interleaved=True
    ),
    "granitehybrid": Architecture(
        "granitemoehybrid",
        "GraniteMoeHybridForCausalLM",
        gguf_granite.granite_hybrid,
        (*EXPERTS, *FACTORS, *gguf_granite.KEYS),
        places=gguf_granite.places_of_granite_hybrid,
    ),
    "olmo2": Architecture(
        "olmo2", "Olmo2ForCausalLM", gguf_settings.swish, whole_qk_norm=True, norms=OUTER_NORMS
    ),
    "phi3": Architecture(
        "phi3", "Phi3ForCausalLM", gguf_settings.phi3, (WINDOW,), fused_qkv=True, fused_gate=True
    ),
    "glm4": Architecture(
        "glm4",
        "Glm4ForCausalLM",
        gguf_settings.glm4,
        fused_gate=True,
        plain_output=True,
        norms=INNER_NORMS
        | {"post_attention_norm": "post_self_attn_layernorm", "post_ffw_norm": "post_mlp_layernorm"},
    ),
    "glm4moe": Architecture(
        "glm4_moe",
        "Glm4MoeForCausalLM",
        gguf_settings.glm4_moe,
        (*EXPERTS, *gguf_settings.SIGMOID_MIXTURE, "leading_dense_block_count"),
        plain_output=True,
        corrected_router=True,
        norms={"attn_norm": "input_layernorm", "post_attention_norm": "post_attention_layernorm"},
    ),
    "nemotron_h": Architecture(
        "nemotron_h",
        "NemotronHForCausalLM",
        gguf_nemotron.nemotron_h,
        gguf_nemotron.KEYS,
        places=gguf_nemotron.places_of_nemotron_h,
    ),
    "nemotron_h_moe": Architecture(
        "nemotron_h",
        "NemotronHForCausalLM",
        gguf_nemotron.nemotron_h_moe,
        (*gguf_nemotron.KEYS, *EXPERTS, *WIDTHS, *gguf_settings.SIGMOID_MIXTURE),
        places=gguf_nemotron.places_of_nemotron_h,
    ),
    "lfm2": Architecture(
        "lfm2", "Lfm2ForCausalLM", gguf_lfm2.lfm2, gguf_lfm2.KEYS, places=gguf_lfm2.places_of_lfm2
    ),
    "lfm2moe": Architecture(
        "lfm2_moe",
        "Lfm2MoeForCausalLM",
        gguf_lfm2.lfm2_moe,
        (*gguf_lfm2.KEYS, *EXPERTS, *gguf_lfm2.ROUTER_KEYS),
        places=gguf_lfm2.places_of_lfm2,
    ),
    "qwen35": QWEN35,
    "qwen35moe": replace(
        QWEN35,
        model_type="qwen3_5_moe_text",
        class_name="Qwen3_5MoeForCausalLM",
        settings=gguf_settings.qwen35_moe,
        maths=(*gguf_settings.DELTA, *EXPERTS, *WIDTHS),
        shared=True,
    ),
    "qwen3next": replace(
        QWEN35,
        model_type="qwen3_next",
        class_name="Qwen3NextForCausalLM",
        settings=gguf_settings.qwen3_next,
        maths=(*gguf_settings.DELTA, *EXPERTS, *WIDTHS),
        shared=True,
        delta_inputs=("qkvz", "ba"),
    ),
    "gemma2": Architecture(
        "gemma2",
        "Gemma2ForCausalLM",
        gguf_settings.gemma2,
        (WINDOW, PATTERN, CAP, LAST_CAP),
        norms=gguf_gemma.NORMS,
        norm_plus=-1.0,
    ),
    "gemma3": Architecture(
        "gemma3_text",
        "Gemma3ForCausalLM",
        gguf_settings.gemma3,
        (WINDOW, PATTERN, LOCAL_BASE, LAST_CAP),
        qk_norm=True,
        norms=gguf_gemma.NORMS,
        norm_plus=-1.0,
    ),
    "gemma3n": Architecture(
        "gemma3n_text",
        "Gemma3nForCausalLM",
        gguf_gemma.gemma3n,
        (WINDOW, PATTERN, LOCAL_BASE, LAST_CAP, *gguf_gemma.GEMMA3N),
        places=gguf_gemma.places_of_gemma3n,
    ),
    "gemma4": Architecture(
        "gemma4_text",
        "Gemma4ForCausalLM",
        gguf_gemma.gemma4,
        (WINDOW, PATTERN, LOCAL_BASE, LAST_CAP, *gguf_gemma.GEMMA4),
        places=gguf_gemma.places_of_gemma4,
    ),
}
GEMMA4_ASSISTANT = replace(
    ARCHITECTURES["gemma4"],
    model_type="gemma4_assistant",
    class_name="Gemma4AssistantForCausalLM",
    settings=gguf_assistant.assistant,
    maths=(*ARCHITECTURES["gemma4"].maths, *gguf_assistant.KEYS),
    places=gguf_assistant.places_of_assistant,
)
