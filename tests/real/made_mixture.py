"""Writes a made-up OLMoE of the shape of OLMoE-1B-7B as a Q4_K_M GGUF: for what a pass costs, not for what it
says. Its weights are random, and its tokenizer is that of another GGUF.

usage: python -m tests.real.made_mixture TOKENIZER.gguf OUT.gguf [LAYERS]     16 layers: 4.2 GB
"""

import sys
from functools import cache

import gguf
import numpy as np

WIDTH, INNER, HEADS, EXPERTS, CHOSEN = 2048, 1024, 16, 64, 8
Q4, Q6 = gguf.GGMLQuantizationType.Q4_K, gguf.GGMLQuantizationType.Q6_K
# Where the scales of a block lie, and their values: numbers stay small, so that states stay finite.
SCALES = {Q4: {0: 0.0004, 2: 0.003}, Q6: {208: 0.00002}}
DIFFERENT = 1 << 14  # blocks that differ; a matrix repeats them


@cache
def matrices(shape: tuple[int, ...], kind: gguf.GGMLQuantizationType) -> np.ndarray:
    """Random matrices in ggml's blocks: uint8 [..., rows, bytes of a row]."""
    values, nbytes = gguf.GGML_QUANT_SIZES[kind]
    blocks = np.random.default_rng(len(shape) + kind).integers(0, 256, (DIFFERENT, nbytes), np.uint8)
    for at, scale in SCALES[kind].items():
        blocks[:, at : at + 2] = np.frombuffer(np.float16(scale).tobytes(), np.uint8)
    row = shape[-1] // values * nbytes
    return np.resize(blocks, (*shape[:-1], row))


def write(tokenizer: str, out: str, layers: int) -> None:
    random = np.random.default_rng(1)
    writer = gguf.GGUFWriter(out, "olmoe")
    writer.add_name("made-up OLMoE")
    writer.add_block_count(layers)
    writer.add_context_length(4096)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(10000.0)
    writer.add_expert_count(EXPERTS)
    writer.add_expert_used_count(CHOSEN)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q4_K_M)
    for key, field in gguf.GGUFReader(tokenizer).fields.items():
        if key.startswith("tokenizer."):
            kind = field.types[0]
            sub = field.types[-1] if kind == gguf.GGUFValueType.ARRAY else None
            writer.add_key_value(key, field.contents(), kind, sub)
            if key == "tokenizer.ggml.tokens":
                vocabulary = len(field.contents())
    writer.add_vocab_size(vocabulary)

    def add(name: str, kind: gguf.GGMLQuantizationType, *shape: int) -> None:
        writer.add_tensor(name, matrices(shape, kind), raw_dtype=kind)

    def ones(name: str, size: int = WIDTH) -> None:
        writer.add_tensor(name, np.ones(size, np.float32))

    add("token_embd.weight", Q4, vocabulary, WIDTH)
    add("output.weight", Q6, vocabulary, WIDTH)
    ones("output_norm.weight")
    for layer in range(layers):
        path = f"blk.{layer}"
        finer = Q6 if layer < layers // 8 or layer % 3 == 2 else Q4  # as Q4_K_M mixes them, about
        for norm in ("attn_norm", "ffn_norm", "attn_q_norm", "attn_k_norm"):
            ones(f"{path}.{norm}.weight")
        for name, kind in (("attn_q", Q4), ("attn_k", Q4), ("attn_v", finer), ("attn_output", Q4)):
            add(f"{path}.{name}.weight", kind, WIDTH, WIDTH)
        router = random.standard_normal((EXPERTS, WIDTH), np.float32) * 0.05
        writer.add_tensor(f"{path}.ffn_gate_inp.weight", router)
        add(f"{path}.ffn_gate_exps.weight", Q4, EXPERTS, INNER, WIDTH)
        add(f"{path}.ffn_up_exps.weight", Q4, EXPERTS, INNER, WIDTH)
        add(f"{path}.ffn_down_exps.weight", finer, EXPERTS, WIDTH, INNER)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    write(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 16)
