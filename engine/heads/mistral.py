"""EAGLE heads as Mistral AI publishes them, such as mistralai/Mistral-Medium-3.5-128B-EAGLE: params.json and
consolidated.safetensors in Mistral's own layout, without a config.json.

They are those of the first EAGLE with a norm before the first layer and one after the last: fc reads the
embedding of a token and the target's state before it, the layers are Mistral's, and what the last norm
returns is both what the target's output head reads and the next state. Matrices are in FP8 with one scale;
the rows of queries and keys are ordered so that the numbers that are rotated together lie side by side.

No such file was seen. Sources: vLLM's models/mistral_eagle.py, models/mistral.py and
transformers_utils/configs/mistral.py; llama.cpp's src/models/eagle.cpp; SGLang's models/mistral_eagle.py,
which leaves out the last norm; transformers' models/ministral3/convert_ministral3_weights_to_hf.py.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.checkpoints import Span, read_span
from engine.checkpoints.fp8 import matrix
from engine.checkpoints.mistral import JOIN, PARAMS, WEIGHTS
from engine.checkpoints.safetensors import DAMAGED, read_header, read_json
from engine.errors import BadCheckpoint
from engine.formats import check_valid
from engine.formats.scaled import format_of
from engine.heads.tensors import Unread, in_span
from engine.model.fields import refuse_unknown_fields

_FIELDS = {  # transformers' names of a llama's fields
    "dim": "hidden_size",
    "n_layers": "num_hidden_layers",
    "head_dim": "head_dim",
    "hidden_dim": "intermediate_size",
    "n_heads": "num_attention_heads",
    "n_kv_heads": "num_key_value_heads",
    "norm_eps": "rms_norm_eps",
    "vocab_size": "vocab_size",
}
_POSITIONS = 128_000  # tokens, if the file does not say: as vLLM assumes
_YARN = {"factor": "factor", "beta": "beta_fast", "alpha": "beta_slow"}
# Of the target's embedding and head, which EAGLE shares; of the output that is always SiLU; and what
# the FP8 matrices say themselves.
_WITHOUT_EFFECT = ("tied_embeddings", "quantization", "model_type")
_KNOWN = {*_FIELDS, "rope_theta", "yarn", "max_position_embeddings", "max_seq_len", *_WITHOUT_EFFECT}
_LAYER = re.compile(r"layers\.(\d+)\.(\w+)\.(w[123qkvo])\.weight|layers\.(\d+)\.(\w+_norm)\.weight")
_MATRICES = {
    "attention": {f"w{name}": f"self_attn.{name}_proj" for name in "qkvo"},
    "feed_forward": {"w1": "mlp.gate_proj", "w2": "mlp.down_proj", "w3": "mlp.up_proj"},
}
_NORMS = {"attention_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm"}
_SCALE = ".qscale_weight"
# Factors for rounding activations and the KV cache, which are not rounded here.
_UNUSED = re.compile(r".*\.qscale_act")


def read_mistral_head(folder: Path) -> tuple[dict[str, Any], dict[str, Unread]]:
    """Return the configuration and the tensors of a head, with the names that the files of an EAGLE head
    have.

    Raises BadCheckpoint if a file is damaged; UnsupportedModel if it asks for what is not computed here, such
    as experts or latent attention.
    """
    params = read_json(folder / PARAMS)
    config = _config(folder.name, params)
    spans = read_header(folder / WEIGHTS)
    heads = {"q_proj": config["num_attention_heads"], "k_proj": config["num_key_value_heads"]}
    tensors = {}
    for name, span in spans.items():
        if name.endswith(_SCALE) or _UNUSED.fullmatch(name):
            continue
        usual = _usual(name)
        part = usual.removesuffix(".weight").rpartition(".")[2]
        tensors[usual] = _tensor(name, span, spans, heads.get(part))
    return config, tensors


def _config(name: str, params: Mapping[str, Any]) -> dict[str, Any]:
    refuse_unknown_fields("eagle", _KNOWN, params)
    config = {usual: params.get(own) for own, usual in _FIELDS.items()}
    missing = next((own for own, usual in _FIELDS.items() if config[usual] is None), None)
    if missing or "rope_theta" not in params:
        raise BadCheckpoint(f"{PARAMS} of {name} has no {missing or 'rope_theta'}.", DAMAGED)
    positions = params.get("max_position_embeddings") or params.get("max_seq_len") or _POSITIONS
    return config | {
        "hidden_act": "silu",
        "max_position_embeddings": positions,
        "tie_word_embeddings": False,
        "rope_parameters": {"rope_theta": params["rope_theta"], **_scaling(name, params.get("yarn"))},
    }


def _scaling(name: str, yarn: Any) -> dict[str, Any]:
    """Return how rotary positions are stretched, as transformers names it."""
    if not yarn:
        return {"rope_type": "default"}
    original = "original_max_position_embeddings"
    if not isinstance(yarn, dict) or not {*_YARN, original} <= yarn.keys() <= {
        *_YARN,
        original,
        "apply_scale",
    }:
        raise BadCheckpoint(f"{PARAMS} of {name} is not valid: yarn is {str(yarn)[:80]}.", DAMAGED)
    plain = {} if yarn.get("apply_scale", True) else {"attention_factor": 1.0}
    return {"rope_type": "yarn", original: yarn[original], **plain} | {
        usual: yarn[own] for own, usual in _YARN.items()
    }


def _usual(name: str) -> str:
    """Return the name that a tensor has in the files of other EAGLE heads; a name that is not known as it
    is."""
    if name == JOIN:
        return "fc.weight"
    found = _LAYER.fullmatch(name)
    if found is None:
        return name
    if found[4] is not None:
        return f"layers.{found[4]}.{_NORMS.get(found[5], found[5])}.weight"
    return f"layers.{found[1]}.{_MATRICES.get(found[2], {}).get(found[3], f'{found[2]}.{found[3]}')}.weight"


def _tensor(name: str, span: Span, spans: Mapping[str, Span], heads: int | None) -> Unread:
    """heads: how many there are in the rows of queries or keys; None: of another tensor."""
    scale = spans.get(f"{name.removesuffix('.weight')}{_SCALE}")
    plain = in_span(name, span) if scale is None else _scaled(name, span, scale)
    if heads is None:
        return plain

    def read() -> NDArray[Any]:
        numbers = plain.read()
        return numbers[_halves(len(numbers), heads)]

    return Unread(span.file, span.shape, read)


def _scaled(name: str, span: Span, scale: Span) -> Unread:
    weight = matrix(name, span, scale)

    def read() -> NDArray[Any]:
        parts = tuple(read_span(each) for each in weight.spans)
        check_valid(weight.format, parts, f"{name[:200]} of {span.file.name}")
        form = format_of(weight.format)
        rows, columns = span.shape
        return form.unpacked(parts, (rows, columns))

    return Unread(span.file, span.shape, read)


def _halves(rows: int, heads: int) -> NDArray[np.int64]:
    """Return the order of rows in which the halves of a head are rotated with each other, and not
    neighbours. rows: a multiple of 2 * heads."""
    order: NDArray[np.int64] = np.arange(rows).reshape(heads, -1, 2).swapaxes(1, 2).reshape(-1)
    return order
