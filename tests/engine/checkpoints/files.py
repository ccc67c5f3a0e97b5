"""Model files for tests: real ones if they are installed, and tiny ones written on demand."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import save_file

from engine import catalog
from engine.checkpoints import Weight, read_span
from engine.errors import BadCheckpoint, UnsupportedModel

HIDDEN, WIDE, HEADS, KV_HEADS, LAYERS = 64, 96, 4, 2, 2
TOKENS = ["<unk>", "<s>", "</s>", *"abcdefgh", "ab", "abc", "Ġ", "Ċ"]
TYPES = [2, 3, 3] + [1] * (len(TOKENS) - 3)
MERGES = ["a b", "ab c"]


@contextmanager
def named_errors_only() -> Iterator[None]:
    """Allow only the errors for refused checkpoints, and only with a message and a hint."""
    refusal = None
    try:
        yield
    except (BadCheckpoint, UnsupportedModel) as error:
        refusal = error
    assert refusal is None or (refusal.message and refusal.hint)


def real_file(model: str) -> Path:
    """Return the file of a catalogue entry; skip the test where it is not installed."""
    file = catalog.find(catalog.entries()[model])
    if file is None:
        pytest.skip(f"{catalog.entries()[model].file} is not installed")
    return file


def weights(
    architecture: str = "llama", tied: bool = True, seed: int = 0
) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """Yield GGUF names and random float32 weights of a model with the sizes above."""
    rng = np.random.default_rng(seed)
    head = HIDDEN // HEADS
    shapes: dict[str, tuple[int, ...]] = {
        "token_embd.weight": (len(TOKENS), HIDDEN),
        "output_norm.weight": (HIDDEN,),
    }
    if not tied:
        shapes["output.weight"] = (len(TOKENS), HIDDEN)
    for layer in range(LAYERS):
        of_layer: dict[str, tuple[int, ...]] = {
            "attn_norm.weight": (HIDDEN,),
            "ffn_norm.weight": (HIDDEN,),
            "attn_q.weight": (HIDDEN, HIDDEN),
            "attn_k.weight": (KV_HEADS * head, HIDDEN),
            "attn_v.weight": (KV_HEADS * head, HIDDEN),
            "attn_output.weight": (HIDDEN, HIDDEN),
            "ffn_gate.weight": (WIDE, HIDDEN),
            "ffn_up.weight": (WIDE, HIDDEN),
            "ffn_down.weight": (HIDDEN, WIDE),
        }
        if architecture == "qwen2":
            of_layer |= {
                "attn_q.bias": (HIDDEN,),
                "attn_k.bias": (KV_HEADS * head,),
                "attn_v.bias": (KV_HEADS * head,),
            }
        if architecture == "qwen3":
            of_layer |= {"attn_q_norm.weight": (head,), "attn_k_norm.weight": (head,)}
        shapes |= {f"blk.{layer}.{name}": shape for name, shape in of_layer.items()}
    for name, shape in shapes.items():
        yield name, rng.standard_normal(shape, dtype=np.float32)


def write_gguf(
    path: Path,
    architecture: str = "llama",
    tied: bool = True,
    metadata: dict[str, Any] | None = None,
    tensors: dict[str, NDArray[Any] | None] | None = None,
) -> Path:
    """Write a tiny GGUF file. `metadata` and `tensors` are added to the defaults, or replace or (None) remove
    them."""
    entries: dict[str, Any] = {
        f"{architecture}.block_count": LAYERS,
        f"{architecture}.context_length": 256,
        f"{architecture}.embedding_length": HIDDEN,
        f"{architecture}.feed_forward_length": WIDE,
        f"{architecture}.attention.head_count": HEADS,
        f"{architecture}.attention.head_count_kv": KV_HEADS,
        f"{architecture}.attention.layer_norm_rms_epsilon": 1e-5,
        f"{architecture}.rope.freq_base": 10000.0,
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "gpt-2",
        "tokenizer.ggml.tokens": TOKENS,
        "tokenizer.ggml.token_type": TYPES,
        "tokenizer.ggml.merges": MERGES,
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": 2,
    }
    writer = gguf.GGUFWriter(path, architecture)
    for key, value in (entries | (metadata or {})).items():
        add_entry(writer, key, value)
    for name, array in (dict(weights(architecture, tied)) | (tensors or {})).items():
        if array is not None:
            writer.add_tensor(name, array)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def values(weight: Weight) -> NDArray[np.float32]:
    """Return the numbers of `weight` as in HF: unpacked, rows of Q and K restored to the half-split order."""
    (span,) = weight.spans
    kind = gguf.GGMLQuantizationType[weight.format]
    rows = read_span(span).reshape(-1, span.nbytes // int(np.prod(span.shape[:-1], dtype=int)))
    array = gguf.dequantize(rows, kind).reshape(weight.shape)
    if weight.rope_heads:
        size = weight.shape[0] // weight.rope_heads
        array = array.reshape(weight.rope_heads, size // 2, 2, -1).swapaxes(1, 2).reshape(weight.shape)
    return np.log(-array) if weight.decay else array + np.float32(weight.plus)


def add_entry(writer: gguf.GGUFWriter, key: str, value: Any) -> None:
    match value:
        case None:
            pass
        case bool():
            writer.add_bool(key, value)
        case int():
            writer.add_uint32(key, value)
        case float():
            writer.add_float32(key, value)
        case str():
            writer.add_string(key, value)
        case list():
            writer.add_array(key, value)
        case _:
            raise TypeError(key)


def write_folder(
    folder: Path, config: dict[str, Any] | None = None, tied: bool = False, shards: int = 1
) -> Path:
    """Write a tiny safetensors folder; `config` is added to the default configuration."""
    folder.mkdir(parents=True, exist_ok=True)
    usual = {
        "model_type": "llama",
        "architectures": ["LlamaForCausalLM"],
        "hidden_size": HIDDEN,
        "intermediate_size": WIDE,
        "num_attention_heads": HEADS,
        "num_key_value_heads": KV_HEADS,
        "num_hidden_layers": LAYERS,
        "vocab_size": len(TOKENS),
        "eos_token_id": 2,
    }
    (folder / "config.json").write_text(json.dumps(usual | (config or {})), encoding="utf-8")
    names = {"model.embed_tokens.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight"}
    arrays = dict(weights(tied=tied))
    tensors = {name: arrays[of] for name, of in names.items()}
    if not tied:
        tensors["lm_head.weight"] = arrays["output.weight"]
    if shards == 1:
        save_file(tensors, folder / "model.safetensors")
        return folder
    places = {}
    for number, name in enumerate(tensors):
        shard = f"model-{number % shards + 1:05}-of-{shards:05}.safetensors"
        places[name] = shard
    for shard in set(places.values()):
        save_file({name: tensors[name] for name in places if places[name] == shard}, folder / shard)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": places}), encoding="utf-8")
    return folder
