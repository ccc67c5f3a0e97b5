"""Tiny heads in their published formats, and reference implementations of them, written from the descriptions
and the code of FasterDecoding/Medusa, SafeAILab/EAGLE and z-lab/dflash, without cache, trees or transformers.
"""

import json
import math
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor
from torch.nn.functional import silu

from tests.engine.models import VOCABULARY

WIDTH, INNER, HEADS, KV_HEADS, HEAD_DIM = 32, 48, 4, 2, 8
DRAFT_VOCABULARY = 40
THETA, EPS = 500000.0, 1e-5
LEVELS = [0, 1, 2]  # of a tiny target's four layers
BLOCK, MASK, READ = 6, 0, [2, 0]  # of DFlash; the layers in the order in which they are read
LLAMA = {
    "architectures": ["LlamaForCausalLM"],
    "bos_token_id": 1,
    "eos_token_id": 2,
    "hidden_act": "silu",
    "hidden_size": WIDTH,
    "initializer_range": 0.02,
    "intermediate_size": INNER,
    "max_position_embeddings": 2048,
    "model_type": "llama",
    "num_attention_heads": HEADS,
    "num_key_value_heads": KV_HEADS,
    "num_hidden_layers": 1,
    "pad_token_id": 0,
    "rms_norm_eps": EPS,
    "tie_word_embeddings": False,
    "torch_dtype": "float16",
    "transformers_version": "4.28.1",
    "use_cache": True,
    "vocab_size": VOCABULARY,
    "rope_theta": THETA,
}
CONFIGS = {
    "eagle": {**LLAMA, "bias": False},
    "eagle_bias": LLAMA,
    "eagle3": {
        **LLAMA,
        "draft_vocab_size": DRAFT_VOCABULARY,
        "eagle_config": {"eagle_aux_hidden_state_layer_ids": LEVELS, "use_aux_hidden_state": True},
    },
    "p-eagle": {
        **LLAMA,
        "num_hidden_layers": 2,
        "draft_vocab_size": DRAFT_VOCABULARY,
        "eagle_config": {"eagle_aux_hidden_state_layer_ids": LEVELS},
        "ptd_token_id": MASK,
        "num_depths": BLOCK - 1,
    },
    "dflash": {
        **LLAMA,
        "architectures": ["DFlashDraftModel"],
        "model_type": "qwen3",
        "num_hidden_layers": 2,
        "head_dim": HEAD_DIM,
        "attention_bias": False,
        "layer_types": ["full_attention", "full_attention"],
        "block_size": BLOCK,
        "num_target_layers": 4,
        "dflash_config": {"mask_token_id": MASK, "target_layer_ids": READ},
    },
    "medusa": {"medusa_num_heads": 3, "medusa_num_layers": 2, "base_model_name_or_path": "lmsys/vicuna"},
    "medusa_2": {"medusa_num_heads": 3, "medusa_num_layers": 1, "version": "2"},
}
KINDS = tuple(CONFIGS)
THREE = ("eagle3", "p-eagle")  # kinds that read three layers and have a vocabulary of their own
BLOCKS = ("p-eagle", "dflash")  # kinds that guess BLOCK - 1 tokens in one pass
# With others, a block of masks hardly ever guesses a token of the tests' targets.
SEEDS = {"p-eagle": 6, "dflash": 2}


def shapes(kind: str) -> dict[str, tuple[int, ...]]:
    queries, keys = HEADS * HEAD_DIM, KV_HEADS * HEAD_DIM
    mlp = {"gate_proj": (INNER, WIDTH), "up_proj": (INNER, WIDTH), "down_proj": (WIDTH, INNER)}
    if kind.startswith("medusa"):
        blocks = CONFIGS[kind]["medusa_num_layers"]
        found: dict[str, tuple[int, ...]] = {}
        for head in range(CONFIGS[kind]["medusa_num_heads"]):
            for block in range(blocks):
                found[f"{head}.{block}.linear.weight"] = (WIDTH, WIDTH)
                found[f"{head}.{block}.linear.bias"] = (WIDTH,)
            if kind == "medusa":
                found[f"{head}.{blocks}.weight"] = (VOCABULARY, WIDTH)
        return found
    if kind == "dflash":
        found = {
            "fc.weight": (WIDTH, len(READ) * WIDTH),
            "hidden_norm.weight": (WIDTH,),
            "norm.weight": (WIDTH,),
        }
        for layer in range(CONFIGS[kind]["num_hidden_layers"]):
            rows = {"q": (queries, WIDTH), "k": (keys, WIDTH), "v": (keys, WIDTH), "o": (WIDTH, queries)}
            found |= {f"layers.{layer}.self_attn.{name}_proj.weight": shape for name, shape in rows.items()}
            found |= {f"layers.{layer}.self_attn.{name}_norm.weight": (HEAD_DIM,) for name in "qk"}
            found |= {f"layers.{layer}.mlp.{name}.weight": shape for name, shape in mlp.items()}
            norms = ("input_layernorm", "post_attention_layernorm")
            found |= {f"layers.{layer}.{name}.weight": (WIDTH,) for name in norms}
        return found
    three = kind in THREE
    layer, inputs = ("midlayer", 2 * WIDTH) if three else ("layers.0", WIDTH)
    found = {"fc.weight": (WIDTH, (3 if three else 2) * WIDTH)}
    found |= {f"{layer}.mlp.{name}.weight": shape for name, shape in mlp.items()}
    rows = {"q_proj": queries, "k_proj": keys, "v_proj": keys}
    found |= {f"{layer}.self_attn.{name}.weight": (count, inputs) for name, count in rows.items()}
    found |= {f"{layer}.self_attn.o_proj.weight": (WIDTH, queries)}
    found |= {f"{layer}.post_attention_layernorm.weight": (WIDTH,)}
    if kind == "eagle_bias":  # as in heads for Qwen 2
        found |= {f"{layer}.self_attn.{name}.bias": (count,) for name, count in rows.items()}
        found |= {"fc.bias": (WIDTH,)}
    if three:
        found |= {"midlayer.hidden_norm.weight": (WIDTH,), "midlayer.input_layernorm.weight": (WIDTH,)}
        found |= {"norm.weight": (WIDTH,), "lm_head.weight": (DRAFT_VOCABULARY, WIDTH)}
    if kind == "p-eagle":
        of_llama = {name: each for name, each in shapes("eagle").items() if name.startswith("layers.0.")}
        found |= {name.replace(".0.", ".1."): each for name, each in of_llama.items()}
        found |= {"layers.1.input_layernorm.weight": (WIDTH,), "mask_hidden": (1, 1, 3 * WIDTH)}
    return found if three else found | {"embed_tokens.weight": (VOCABULARY, WIDTH)}


def random_weights(kind: str) -> dict[str, Tensor]:
    """Return random weights: norms near 1, matrices that preserve the size of their input."""
    generator = torch.Generator().manual_seed(SEEDS.get(kind, 0))
    weights = {}
    for name, shape in shapes(kind).items():
        noise = torch.randn(shape, generator=generator)
        weights[name] = 1 + 0.1 * noise if "norm" in name else noise / math.sqrt(shape[-1])
    if kind in THREE:
        ids = torch.randperm(VOCABULARY, generator=generator)[:DRAFT_VOCABULARY].sort().values
        weights["d2t"] = ids - torch.arange(DRAFT_VOCABULARY)
        weights["t2d"] = torch.zeros(VOCABULARY, dtype=torch.bool).index_fill_(0, ids, True)
    return weights


def save(
    folder: Path, kind: str, weights: dict[str, Tensor], pickled: bool = False, **changes: object
) -> Path:
    """Write heads in their published form: config.json, and safetensors or a torch.save file."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps({**CONFIGS[kind], **changes}))
    stem = "medusa_lm_head" if kind.startswith("medusa") else "pytorch_model" if pickled else "model"
    weights = {name: weight.detach().contiguous() for name, weight in weights.items()}
    if pickled:
        torch.save(weights, folder / f"{stem}.{'pt' if kind.startswith('medusa') else 'bin'}")
    else:
        save_file(weights, folder / f"{stem}.safetensors")
    return folder


def medusa(weights: dict[str, Tensor], kind: str, states: Tensor, lm_head: Tensor) -> Tensor:
    """Return logits [heads, ..., vocabulary] of states [..., width]."""
    outputs = []
    for head in range(CONFIGS[kind]["medusa_num_heads"]):
        x, blocks = states, CONFIGS[kind]["medusa_num_layers"]
        for block in range(blocks):
            name = f"{head}.{block}.linear"
            x = x + silu(x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"])
        outputs.append(x @ weights.get(f"{head}.{blocks}.weight", lm_head).T)
    return torch.stack(outputs)


def eagle(weights: dict[str, Tensor], embedded: Tensor, states: Tensor) -> Tensor:
    """Return the guessed next states, causal. embedded, states: [..., rows, width]; row i has token i + 1 and
    state i."""
    x = linear(weights, "fc", torch.cat([embedded, states], dim=-1))
    x = x + attention(weights, "layers.0.self_attn", x)
    return x + mlp(weights, "layers.0", x)


def eagle3(weights: dict[str, Tensor], embedded: Tensor, states: Tensor, normed: bool = False) -> Tensor:
    """Return the guessed next states as `eagle` does. states: after `fc`, or guessed. normed: whether results
    are added to their norm, in place of the states."""
    normalised = norm(weights, "midlayer.hidden_norm", states)
    both = torch.cat([norm(weights, "midlayer.input_layernorm", embedded), normalised], dim=-1)
    x = (normalised if normed else states) + attention(weights, "midlayer.self_attn", both)
    return x + mlp(weights, "midlayer", x)


def p_eagle(
    weights: dict[str, Tensor], table: Tensor, following: Tensor, states: Tensor, normed: bool = False
) -> Tensor:
    """Return the guessed states at the last of the tokens `following`, int64 [..., rows], and at the masks
    behind it, [..., BLOCK - 1, width]. table: embeddings; states, normed: as for `eagle3`, states before each
    token."""
    masks = following.new_full((*following.shape[:-1], BLOCK - 2), MASK)
    learnt = linear(weights, "fc", weights["mask_hidden"][0, 0]).expand(*masks.shape, -1)
    embedded = table[torch.cat([following, masks], dim=-1)]
    x = eagle3(weights, embedded, torch.cat([states, learnt], dim=-2), normed)
    x = x + attention(weights, "layers.1.self_attn", norm(weights, "layers.1.input_layernorm", x))
    return (x + mlp(weights, "layers.1", x))[..., 1 - BLOCK :, :]


def dflash(weights: dict[str, Tensor], embedded: Tensor, text: Tensor, seen: Tensor | None = None) -> Tensor:
    """Return the states behind the last norm of a block, [..., BLOCK, width]. embedded: the root's embedding
    and those of masks, of the same shape; text: the states before the root, as `fused` returns them, [...,
    rows, width]; seen: bool [layers, BLOCK, rows + BLOCK], what each row sees; None: everything."""
    x, rows = embedded, text.shape[-2]
    for layer in range(CONFIGS["dflash"]["num_hidden_layers"]):
        name = f"layers.{layer}.self_attn"
        both = torch.cat([text, norm(weights, f"layers.{layer}.input_layernorm", x)], dim=-2)
        q, k, v = (
            linear(weights, f"{name}.{part}_proj", both).unflatten(-1, (-1, HEAD_DIM)) for part in "qkv"
        )
        q = rotated(norm(weights, f"{name}.q_norm", q))[..., rows:, :, :]
        k = rotated(norm(weights, f"{name}.k_norm", k))
        k, v = (part.repeat_interleave(HEADS // KV_HEADS, dim=-2) for part in (k, v))
        scores = torch.einsum("...ihd,...jhd->...hij", q, k) / math.sqrt(HEAD_DIM)
        if seen is not None:
            scores = scores.masked_fill(~seen[layer], -torch.inf)
        mixed = torch.einsum("...hij,...jhd->...ihd", scores.softmax(-1), v).flatten(-2)
        x = x + linear(weights, f"{name}.o_proj", mixed)
        x = x + mlp(weights, f"layers.{layer}", x)
    return norm(weights, "norm", x)


def guessed_block(
    weights: dict[str, Tensor], kind: str, table: Tensor, tokens: Tensor, text: Tensor, lm_head: Tensor
) -> Tensor:
    """Return the logits [..., BLOCK - 1, vocabulary] behind `tokens`, int64 [..., rows + 1]. text: the states
    at all but the last, as `fused` returns them, [..., rows, width]."""
    if kind == "p-eagle":
        return logits(weights, kind, p_eagle(weights, table, tokens[..., 1:], text), lm_head)
    return dflash(weights, block(table, tokens[..., -1]), text)[..., 1:, :] @ lm_head.T


def block(table: Tensor, roots: Tensor) -> Tensor:
    """Return the embeddings of blocks, [..., BLOCK, width], whose first tokens are `roots`, int64 [...]."""
    masks = roots.new_full((*roots.shape, BLOCK - 1), MASK)
    return table[torch.cat([roots[..., None], masks], dim=-1)]


def fused(weights: dict[str, Tensor], kind: str, hidden: list[Tensor]) -> Tensor:
    """Return the layer's input from the target's states. hidden: [rows, width], one per layer that is
    read."""
    if kind == "dflash":
        return norm(weights, "hidden_norm", linear(weights, "fc", torch.cat(hidden, dim=-1)))
    return linear(weights, "fc", torch.cat(hidden, dim=-1)) if kind in THREE else hidden[0]


def logits(weights: dict[str, Tensor], kind: str, states: Tensor, lm_head: Tensor) -> Tensor:
    """Return logits [..., vocabulary], -inf for tokens outside the head's vocabulary."""
    if kind not in THREE:
        return states @ lm_head.T
    known = torch.arange(DRAFT_VOCABULARY) + weights["d2t"]
    full = states.new_full((*states.shape[:-1], VOCABULARY), -torch.inf)
    return full.index_copy(-1, known, linear(weights, "lm_head", norm(weights, "norm", states)))


def layer_of(kind: str):
    return eagle3 if kind == "eagle3" else eagle


def linear(weights: dict[str, Tensor], name: str, x: Tensor) -> Tensor:
    return x @ weights[f"{name}.weight"].T + weights.get(f"{name}.bias", torch.zeros(()))


def norm(weights: dict[str, Tensor], name: str, x: Tensor) -> Tensor:
    return weights[f"{name}.weight"] * x / (x.pow(2).mean(-1, keepdim=True) + EPS).sqrt()


def mlp(weights: dict[str, Tensor], layer: str, x: Tensor) -> Tensor:
    x = norm(weights, f"{layer}.post_attention_layernorm", x)
    gate, up = (linear(weights, f"{layer}.mlp.{name}_proj", x) for name in ("gate", "up"))
    return linear(weights, f"{layer}.mlp.down_proj", silu(gate) * up)


def attention(weights: dict[str, Tensor], name: str, x: Tensor) -> Tensor:
    rows = x.shape[-2]
    q, k, v = (linear(weights, f"{name}.{part}_proj", x).unflatten(-1, (-1, HEAD_DIM)) for part in "qkv")
    q, k = rotated(q), rotated(k)
    k, v = (part.repeat_interleave(HEADS // KV_HEADS, dim=-2) for part in (k, v))
    scores = torch.einsum("...ihd,...jhd->...hij", q, k) / math.sqrt(HEAD_DIM)
    later = torch.ones(rows, rows, dtype=torch.bool).triu(1)
    shares = scores.masked_fill(later, -torch.inf).softmax(-1)
    return linear(weights, f"{name}.o_proj", torch.einsum("...hij,...jhd->...ihd", shares, v).flatten(-2))


def rotated(x: Tensor) -> Tensor:
    """Apply rotary positions to [..., rows, heads, HEAD_DIM]: number i of a head is rotated with number i +
    HEAD_DIM / 2."""
    angles = torch.arange(x.shape[-3])[:, None] * THETA ** (-torch.arange(0, HEAD_DIM, 2) / HEAD_DIM)
    cos, sin = angles.cos()[:, None], angles.sin()[:, None]
    first, second = x.chunk(2, dim=-1)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)
