"""Model files for the tests: real ones where they are on this machine, tiny ones written on the spot."""

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
from engine.errors import BadCheckpoint, UnsupportedModel

HIDDEN, WIDE, HEADS, KV_HEADS, LAYERS = 64, 96, 4, 2, 2
TOKENS = ["<unk>", "<s>", "</s>", *"abcdefgh", "ab", "abc", "Ġ", "Ċ"]
TYPES = [2, 3, 3] + [1] * (len(TOKENS) - 3)
MERGES = ["a b", "ab c"]


@contextmanager
def named_errors_only() -> Iterator[None]:
    """Lets the errors a checkpoint may be refused with pass, if they say why and what to do, and no other."""
    refusal = None
    try:
        yield
    except (BadCheckpoint, UnsupportedModel) as error:
        refusal = error
    assert refusal is None or (refusal.message and refusal.hint)


def real_file(model: str) -> Path:
    """The file of a catalogue entry; the test is skipped where it is not on this machine."""
    file = catalog.find(catalog.entries()[model])
    if file is None:
        pytest.skip(f"{catalog.entries()[model].file} is not on this machine")
    return file


def weights(
    architecture: str = "llama", tied: bool = True, seed: int = 0
) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """GGUF names and random float32 weights of a model of the sizes above."""
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
    """A tiny GGUF file; `metadata` and `tensors` are added to the usual ones, replace them, or (None) leave
    them out."""
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
    """A tiny safetensors folder; `config` is added to the usual configuration."""
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
