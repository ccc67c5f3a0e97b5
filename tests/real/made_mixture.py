"""Writes a made-up mixture of experts as a GGUF file: for what a pass costs, not for what it says. Its
weights are random, and its tokenizer is that of another GGUF.

usage: python -m tests.real.made_mixture olmoe|gpt-oss|qwen3 TOKENIZER.gguf OUT.gguf [LAYERS]
olmoe: the shape of OLMoE-1B-7B in Q4_K_M, 16 layers, 4.2 GB; gpt-oss: that of gpt-oss-20b, its experts in
MXFP4 and all other matrices in Q8_0, 24 layers, 11 GB; qwen3: that of Qwen3-30B-A3B in Q4_K_M, 48 layers, 18
GB. The tokens that qwen3 says choose the experts of a made-up routing (`engine.bench.made_routes`):
experts are drawn with a skew, and consecutive tokens choose much the same.
"""

import sys
from functools import cache

import gguf
import numpy as np

from engine.bench.made_routes import SIZE, routers, signs_of
from engine.bench.made_routing import Routing
from tests.real.stored_signs import as_q4_k, as_q6_k, successors

Q4, Q6, Q8, MXFP4 = (gguf.GGMLQuantizationType[name] for name in ("Q4_K", "Q6_K", "Q8_0", "MXFP4"))
# Where the scales of a block lie, and their values: numbers stay small, so that states stay finite.
SCALES = {Q4: {0: 0.0004, 2: 0.003}, Q6: {208: 0.00002}, Q8: {0: 0.0002}}
DIFFERENT = 1 << 14  # blocks that differ; a matrix repeats them
TRACE = 400  # tokens that qwen3 says


@cache
def matrices(shape: tuple[int, ...], kind: gguf.GGMLQuantizationType, part: float) -> np.ndarray:
    """Random matrices in ggml's blocks: uint8 [..., rows, bytes of a row]. part: factor of all numbers."""
    values, nbytes = gguf.GGML_QUANT_SIZES[kind]
    blocks = np.random.default_rng(len(shape) + kind).integers(0, 256, (DIFFERENT, nbytes), np.uint8)
    if kind == MXFP4:
        blocks[:, 0] = 120  # the exponent: numbers of at most 12 / 256
    for at, scale in SCALES.get(kind, {}).items():
        blocks[:, at : at + 2] = np.frombuffer(np.float16(scale * part).tobytes(), np.uint8)
    row = shape[-1] // values * nbytes
    return np.resize(blocks, (*shape[:-1], row))


class File:
    """A file under construction. Attributes: `writer`; `vocabulary`, the number of tokens."""

    def __init__(self, out: str, architecture: str, tokenizer: str) -> None:
        self.writer = gguf.GGUFWriter(out, architecture)
        self._random = np.random.default_rng(1)
        for key, field in gguf.GGUFReader(tokenizer).fields.items():
            if key.startswith("tokenizer."):
                kind = field.types[0]
                sub = field.types[-1] if kind == gguf.GGUFValueType.ARRAY else None
                self.writer.add_key_value(key, field.contents(), kind, sub)
                if key == "tokenizer.ggml.tokens":
                    self._tokens = [field.parts[at] for at in field.data]
                    self.vocabulary = len(self._tokens)
        self.writer.add_vocab_size(self.vocabulary)

    def sizes(self, layers: int, width: int, inner: int, heads: int, kv_heads: int) -> None:
        self.writer.add_name(f"made-up {self.writer.arch}")
        self.writer.add_block_count(layers)
        self.writer.add_context_length(4096)
        self.writer.add_embedding_length(width)
        self.writer.add_feed_forward_length(inner)
        self.writer.add_head_count(heads)
        self.writer.add_head_count_kv(kv_heads)
        self.writer.add_layer_norm_rms_eps(1e-5)

    def add(self, name: str, kind: gguf.GGMLQuantizationType, *shape: int, part: float = 1.0) -> None:
        self.writer.add_tensor(name, matrices(shape, kind, part), raw_dtype=kind)

    def words(self, first: str, many: int) -> list[int]:
        """Return `many` tokens: `first`, and others that begin a word."""
        tokens = [bytes(each).decode() for each in self._tokens]
        others = [number for number, token in enumerate(tokens) if token.startswith("Ġ") and token.isalpha()]
        return [tokens.index(first), *self._random.permutation(others)[: many - 1].tolist()]

    def plain(self, name: str, *shape: int, scale: float = 0.05) -> None:
        """Add random numbers in float32."""
        self.writer.add_tensor(name, self._random.standard_normal(shape, np.float32) * np.float32(scale))

    def ones(self, name: str, size: int) -> None:
        self.writer.add_tensor(name, np.ones(size, np.float32))

    def close(self) -> None:
        self.writer.write_header_to_file()
        self.writer.write_kv_data_to_file()
        self.writer.write_tensors_to_file()
        self.writer.close()


def olmoe(tokenizer: str, out: str, layers: int = 16) -> None:
    width, inner, heads, experts = 2048, 1024, 16, 64
    file = File(out, "olmoe", tokenizer)
    file.sizes(layers, width, inner, heads, heads)
    file.writer.add_rope_freq_base(10000.0)
    file.writer.add_expert_count(experts)
    file.writer.add_expert_used_count(8)
    file.writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q4_K_M)
    file.add("token_embd.weight", Q4, file.vocabulary, width)
    file.add("output.weight", Q6, file.vocabulary, width)
    file.ones("output_norm.weight", width)
    for layer in range(layers):
        path = f"blk.{layer}"
        finer = Q6 if layer < layers // 8 or layer % 3 == 2 else Q4  # as Q4_K_M mixes them, about
        for norm in ("attn_norm", "ffn_norm", "attn_q_norm", "attn_k_norm"):
            file.ones(f"{path}.{norm}.weight", width)
        for name, kind in (("attn_q", Q4), ("attn_k", Q4), ("attn_v", finer), ("attn_output", Q4)):
            file.add(f"{path}.{name}.weight", kind, width, width)
        file.plain(f"{path}.ffn_gate_inp.weight", experts, width)
        file.add(f"{path}.ffn_gate_exps.weight", Q4, experts, inner, width)
        file.add(f"{path}.ffn_up_exps.weight", Q4, experts, inner, width)
        file.add(f"{path}.ffn_down_exps.weight", finer, experts, width, inner)
    file.close()


def gpt_oss(tokenizer: str, out: str, layers: int = 24) -> None:
    width, heads, kv_heads, head, experts = 2880, 64, 8, 64, 32
    file = File(out, "gpt-oss", tokenizer)
    file.sizes(layers, width, width, heads, kv_heads)
    file.writer.add_key_length(head)
    file.writer.add_value_length(head)
    file.writer.add_rope_freq_base(150000.0)
    file.writer.add_rope_scaling_type(gguf.RopeScalingType.YARN)
    file.writer.add_rope_scaling_factor(32.0)
    file.writer.add_rope_scaling_orig_ctx_len(4096)
    file.writer.add_sliding_window(128)
    file.writer.add_expert_feed_forward_length(width)
    file.writer.add_expert_count(experts)
    file.writer.add_expert_used_count(4)
    file.writer.add_file_type(gguf.LlamaFileType.MOSTLY_MXFP4_MOE)
    file.add("token_embd.weight", Q8, file.vocabulary, width)
    file.add("output.weight", Q8, file.vocabulary, width)
    file.ones("output_norm.weight", width)
    for layer in range(layers):
        path = f"blk.{layer}"
        file.ones(f"{path}.attn_norm.weight", width)
        file.ones(f"{path}.post_attention_norm.weight", width)
        file.plain(f"{path}.attn_sinks.weight", heads)
        for name, many in (("attn_q", heads), ("attn_k", kv_heads), ("attn_v", kv_heads)):
            file.add(f"{path}.{name}.weight", Q8, many * head, width)
            file.plain(f"{path}.{name}.bias", many * head)
        file.add(f"{path}.attn_output.weight", Q8, width, heads * head)
        file.plain(f"{path}.attn_output.bias", width)
        file.plain(f"{path}.ffn_gate_inp.weight", experts, width)
        file.plain(f"{path}.ffn_gate_inp.bias", experts)
        for name in ("gate", "up", "down"):
            file.add(f"{path}.ffn_{name}_exps.weight", MXFP4, experts, width, width)
            file.plain(f"{path}.ffn_{name}_exps.bias", experts, width)
    file.close()


def qwen3(tokenizer: str, out: str, layers: int = 48) -> None:
    width, inner, heads, kv_heads, head = 2048, 768, 32, 4, 128
    routing = Routing(layers, passes=TRACE)
    file = File(out, "qwen3moe", tokenizer)
    file.sizes(layers, width, 3 * width, heads, kv_heads)
    file.writer.add_key_length(head)
    file.writer.add_value_length(head)
    file.writer.add_rope_freq_base(1e6)
    file.writer.add_expert_feed_forward_length(inner)
    file.writer.add_expert_count(routing.experts)
    file.writer.add_expert_used_count(routing.chosen)
    file.writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q4_K_M)
    signs = signs_of(file.vocabulary, width)
    trace = file.words("Ċ", TRACE)  # a prompt ends with a line feed
    file.writer.add_tensor("token_embd.weight", as_q4_k(signs, SIZE), raw_dtype=Q4)
    file.writer.add_tensor("output.weight", as_q6_k(*successors(trace, signs)), raw_dtype=Q6)
    file.ones("output_norm.weight", width)
    for layer, router in enumerate(routers(routing, signs[trace])):
        path = f"blk.{layer}"
        finer = Q6 if layer < layers // 8 or layer % 3 == 2 else Q4
        for norm in ("attn_norm", "ffn_norm"):
            file.ones(f"{path}.{norm}.weight", width)
        for norm in ("attn_q_norm", "attn_k_norm"):
            file.ones(f"{path}.{norm}.weight", head)
        file.add(f"{path}.attn_q.weight", Q4, heads * head, width)
        file.add(f"{path}.attn_k.weight", Q4, kv_heads * head, width)
        file.add(f"{path}.attn_v.weight", finer, kv_heads * head, width)
        file.add(f"{path}.attn_output.weight", Q4, width, heads * head, part=1 / SIZE)
        file.writer.add_tensor(f"{path}.ffn_gate_inp.weight", router)
        file.add(f"{path}.ffn_gate_exps.weight", Q4, routing.experts, inner, width)
        file.add(f"{path}.ffn_up_exps.weight", Q4, routing.experts, inner, width)
        file.add(f"{path}.ffn_down_exps.weight", finer, routing.experts, width, inner, part=1 / SIZE)
    file.close()


if __name__ == "__main__":
    made = {"olmoe": olmoe, "gpt-oss": gpt_oss, "qwen3": qwen3}[sys.argv[1]]
    made(*sys.argv[2:4], *map(int, sys.argv[4:5]))
