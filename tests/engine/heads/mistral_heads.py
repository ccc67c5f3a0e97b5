"""Tiny EAGLE heads in Mistral AI's layout, and what they compute, written from public descriptions (vLLM's
mistral_eagle.py, llama.cpp's eagle.cpp) without cache or trees. Neighbours are rotated with each other, as in
Mistral's own code, so that nothing is reordered."""

import json
import math
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor
from torch.nn.functional import silu

from tests.engine.models import VOCABULARY

WIDTH, INNER, HEADS, KV_HEADS, HEAD_DIM, LAYERS = 64, 96, 2, 1, 32, 2
EPS, THETA = 1e-5, 10000.0
YARN = {"original_max_position_embeddings": 16, "factor": 8, "apply_scale": True, "beta": 4, "alpha": 1}
PARAMS: dict[str, Any] = {  # with the fields of published ones, of which those that are null are not used
    "dim": WIDTH,
    "n_layers": LAYERS,
    "head_dim": HEAD_DIM,
    "hidden_dim": INNER,
    "n_heads": HEADS,
    "n_kv_heads": KV_HEADS,
    "rope_theta": THETA,
    "norm_eps": EPS,
    "vocab_size": VOCABULARY,
    "tied_embeddings": False,
    "max_position_embeddings": 512,
    "q_lora_rank": None,
    "qk_rope_head_dim": None,
    "qk_nope_head_dim": None,
    "kv_lora_rank": None,
    "v_head_dim": None,
    "quantization": {"qformat_weight": "fp8_e4m3", "qscheme_act": "TENSOR"},
    "yarn": YARN,
}


def shapes() -> dict[str, tuple[int, int]]:
    """Return the shapes of the matrices, without the .weight of their names."""
    queries, keys = HEADS * HEAD_DIM, KV_HEADS * HEAD_DIM
    found = {"eagle_linear": (WIDTH, 2 * WIDTH)}
    for layer in range(LAYERS):
        attention = {"wq": (queries, WIDTH), "wk": (keys, WIDTH), "wv": (keys, WIDTH), "wo": (WIDTH, queries)}
        mlp = {"w1": (INNER, WIDTH), "w2": (WIDTH, INNER), "w3": (INNER, WIDTH)}
        found |= {f"layers.{layer}.attention.{name}": shape for name, shape in attention.items()}
        found |= {f"layers.{layer}.feed_forward.{name}": shape for name, shape in mlp.items()}
    return found


def random_tensors(seed: int = 0) -> dict[str, Tensor]:
    """Return the tensors as they are stored: matrices in FP8 with one scale, norms in bfloat16."""
    generator = torch.Generator().manual_seed(seed)
    stored = {}
    for name, shape in shapes().items():
        numbers = torch.randn(shape, generator=generator) / math.sqrt(shape[1])
        scale = numbers.abs().max() / 448
        stored[f"{name}.weight"] = (numbers / scale).to(torch.float8_e4m3fn)
        stored[f"{name}.qscale_weight"] = scale
        stored[f"{name}.qscale_act"] = torch.tensor(0.5)
    norms = [f"layers.{layer}.{name}" for layer in range(LAYERS) for name in ("attention_norm", "ffn_norm")]
    for name in (*norms, "norm"):
        stored[f"{name}.weight"] = (1 + 0.1 * torch.randn(WIDTH, generator=generator)).bfloat16()
    return stored


def save(folder: Path, stored: dict[str, Tensor], **changes: Any) -> Path:
    """Write a head as it is published. changes: to its params.json; a field without a value is left out."""
    folder.mkdir(parents=True, exist_ok=True)
    params = {name: value for name, value in (PARAMS | changes).items() if value is not ...}
    (folder / "params.json").write_text(json.dumps(params))
    save_file(stored, folder / "consolidated.safetensors")
    return folder


def guessed(
    stored: dict[str, Tensor], embedded: Tensor, states: Tensor, yarn: dict[str, Any] | None
) -> Tensor:
    """Return the guessed next states [rows, width], causal. Row i has token i + 1 and state i."""

    def product(name: str, x: Tensor) -> Tensor:
        return x @ (stored[f"{name}.weight"].float() * stored[f"{name}.qscale_weight"]).T

    def norm(name: str, x: Tensor) -> Tensor:
        return stored[f"{name}.weight"].float() * x / (x.pow(2).mean(-1, keepdim=True) + EPS).sqrt()

    x = product("eagle_linear", torch.cat([embedded, states], dim=-1))
    turn = turns(len(x), yarn)
    later = torch.ones(len(x), len(x), dtype=torch.bool).triu(1)
    for layer in (f"layers.{number}" for number in range(LAYERS)):
        h = norm(f"{layer}.attention_norm", x)
        q, k, v = (product(f"{layer}.attention.w{each}", h).unflatten(-1, (-1, HEAD_DIM)) for each in "qkv")
        q, k = turned(q, turn), turned(k, turn)
        k, v = (each.repeat_interleave(HEADS // KV_HEADS, dim=1) for each in (k, v))
        scores = torch.einsum("ihd,jhd->hij", q, k) / math.sqrt(HEAD_DIM)
        shares = scores.masked_fill(later, -torch.inf).softmax(-1)
        x = x + product(f"{layer}.attention.wo", torch.einsum("hij,jhd->ihd", shares, v).flatten(1))
        h = norm(f"{layer}.ffn_norm", x)
        gate, up = (product(f"{layer}.feed_forward.{name}", h) for name in ("w1", "w3"))
        x = x + product(f"{layer}.feed_forward.w2", silu(gate) * up)
    return norm("norm", x)


def turns(rows: int, yarn: dict[str, Any] | None) -> Tensor:
    """Return by how much each pair is turned at each position, complex [rows, 1, pairs]. With YaRN (arXiv
    2309.00071), pairs that turn less than `alpha` times within the original context are slowed, those that
    turn more than `beta` times are not, and all grow by the square root of the temperature."""
    exponents = torch.arange(0, HEAD_DIM, 2) / HEAD_DIM
    speeds, size = THETA**-exponents, 1.0
    if yarn:
        original, factor = yarn["original_max_position_embeddings"], yarn["factor"]

        def pair(count: float) -> float:
            return HEAD_DIM * math.log(original / (count * 2 * math.pi)) / (2 * math.log(THETA))

        low, high = max(math.floor(pair(yarn["beta"])), 0), min(math.ceil(pair(yarn["alpha"])), HEAD_DIM - 1)
        slowed = ((torch.arange(HEAD_DIM // 2) - low) / max(high - low, 0.001)).clamp(0, 1)
        speeds = speeds / factor * slowed + speeds * (1 - slowed)
        size = 0.1 * math.log(factor) + 1 if yarn["apply_scale"] else 1.0
    angles = torch.arange(rows)[:, None, None] * speeds
    return torch.polar(torch.full_like(angles, size), angles)


def turned(x: Tensor, turn: Tensor) -> Tensor:
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(pairs * turn).flatten(-2)
