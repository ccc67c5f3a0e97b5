"""Tiny models as transformers' modules and as compiled ones, and random trees to run through them."""

import dataclasses
import random
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
import torch

from engine.checkpoints import open_checkpoint
from engine.model.compiled import CompiledModel
from engine.model.interface import no_progress
from engine.model.loader import load_compiled
from engine.model.rows import Rows
from engine.model.sequence import Sequence
from engine.model.state_cache import StateCache
from tests.engine.checkpoints.gguf_converter import convert
from tests.engine.models import CONFIGS, VOCABULARY, reference

DENSE = [
    *("llama", "llama3_rope", "mistral", "qwen2", "qwen2_window", "qwen3", "gemma2", "gemma3_text", "phi3"),
    *("seed_oss", "smollm3", "smollm3_window", "qwen3_5_text", "lfm2", "ministral3"),
    *("granite", "olmo2", "olmo3", "glm4", "gemma4_large", "gemma4_text"),
    *("granitemoehybrid", "nemotron_h"),
]
MIXTURES = [
    *("mixtral", "qwen3_moe", "olmoe", "granitemoe", "gpt_oss", "glm4_moe", "qwen3_5_moe_text"),
    *("qwen3_next", "granitemoehybrid_experts", "nemotron_h_experts", "lfm2_moe"),
]
KINDS = DENSE + MIXTURES
CONTEXT = 64
AT_EACH_LAYER = 1e-12  # a pace (PACE_S) at which progress is called before each layer
TEXT = [1, *range(3, 40), 5, 9]
# Weights are float32 here, so nothing but keys and values is rounded, to float16: this is the largest
# difference of logits, relative to the largest logit.
TOLERANCE = 5e-3
SIZES = dict(hidden_size=128, intermediate_size=96, max_position_embeddings=1024)
_DELTA = dict(
    linear_num_value_heads=16, linear_num_key_heads=4, linear_key_head_dim=10, linear_value_head_dim=32
)
_DELTA_MIXTURE = {
    **_DELTA,
    "shared_expert_intermediate_size": 64,
    "num_hidden_layers": 4,
    "layer_types": [*["linear_attention"] * 3, "full_attention"],
}
OTHER_SIZES = {
    "qwen3_5_text": _DELTA,
    "qwen3_5_moe_text": _DELTA_MIXTURE,
    "qwen3_next": {**_DELTA_MIXTURE, "mlp_only_layers": []},
    "glm4_moe": dict(n_group=1, topk_group=1, intermediate_size=160),
    "lfm2": dict(conv_bias=False),
    "granitemoehybrid": dict(shared_intermediate_size=96, mamba_d_state=14),
    "granitemoehybrid_experts": dict(shared_intermediate_size=64, mamba_n_heads=16, mamba_d_state=16),
    "nemotron_h": dict(mamba_num_heads=16, mamba_head_dim=16, mlp_bias=False, use_bias=False),
    "nemotron_h_experts": dict(
        mamba_num_heads=16, mamba_head_dim=16, moe_shared_expert_intermediate_size=64, n_group=1, topk_group=1
    ),
    "gemma4_large": dict(global_head_dim=64),
    "gemma4_text": dict(global_head_dim=64, hidden_size_per_layer_input=32),
}

every_kind = pytest.mark.parametrize("kind", KINDS)


class Ended(Exception):
    pass


def tiny(kind, **changes):
    """transformers' model, of a size that compiled steps cover."""
    own = {"head_dim": 32, "moe_intermediate_size": 96}
    own = {name: size for name, size in own.items() if name in CONFIGS[kind]}
    return reference(kind, **{**SIZES, **own, **OTHER_SIZES.get(kind, {}), **changes})


def saved(module, dtype=torch.float32, context=CONTEXT, **options):
    """The compiled model of transformers' one; None if steps do not cover it."""
    with TemporaryDirectory() as folder:
        return load_compiled(stored(module.to(dtype), Path(folder)), no_progress, context, **options)


def stored(module, folder):
    """Write the model's files, and open them: those of gpt-oss as GGUF, since its folders have experts in
    MXFP4 only."""
    if module.config.model_type == "gpt_oss":
        return open_checkpoint(convert(module, folder / "model.gguf"))
    module.save_pretrained(folder)
    module.float()
    return open_checkpoint(folder)


@cache
def both(kind, context=CONTEXT):
    """transformers' model and the compiled one."""
    module = tiny(kind)
    model = saved(module, context=context)
    assert isinstance(model, CompiledModel)
    return module, model


def all_logits(model, tokens):
    """The logits at each token of a text that is read at once."""
    return np.asarray(model.forward(Rows.text(tokens, 0), model.new_cache(len(tokens))).logits).copy()


def difference(found, expected):
    expected = np.asarray(expected)
    return float(np.abs(found - expected).max() / np.abs(expected).max())


def assert_close(found, expected):
    assert difference(found, expected) < TOLERANCE
    assert np.mean(found.argmax(-1) == np.asarray(expected).argmax(-1)) >= 0.9


def kept(cache):
    """Copies of what a cache keeps of the committed tokens: rows, and states if there are any."""
    states = [cache.states().copy()] if isinstance(cache, StateCache) else []
    return [cache.rows(layer).copy() for layer in range(len(cache.layers))] + states


def assert_same_cache(found, expected):
    assert all(np.array_equal(*each) for each in zip(kept(found), kept(expected), strict=True))


def random_text(count, seed=0):
    return random.Random(seed).choices(range(3, VOCABULARY), k=count)


@dataclasses.dataclass
class Branches:
    """A random tree: tokens and parents of its nodes. The parent of a first node is -1."""

    tokens: list[int]
    parents: list[int]

    @classmethod
    def grown(cls, nodes, seed):
        """A tree with long branches: deeper than the windows."""
        numbers = random.Random(seed)
        parents = [-1] + [
            numbers.choice([node - 1] * 4 + [numbers.randrange(node)]) for node in range(1, nodes)
        ]
        return cls(random_text(nodes, seed), parents)

    def path(self, node):
        above = [] if self.parents[node] < 0 else self.path(self.parents[node])
        return [*above, node]

    def visible(self):
        mask = np.zeros((len(self.tokens),) * 2, np.bool_)
        for node in range(len(self.tokens)):
            mask[node, self.path(node)] = True
        return mask

    def consider(self, sequence, sizes, **options):
        """Run the nodes in passes of such numbers of rows; return the outputs."""
        mask, first, outputs = self.visible(), 0, []
        for size in sizes:
            nodes = range(first, first + size)
            positions = [len(sequence.ids) + len(self.path(node)) - 1 for node in nodes]
            rows = self.tokens[first : first + size], positions, mask[first : first + size, : first + size]
            output = sequence.consider(*rows, **options)
            outputs.append((output.logits.copy(), output.hidden))
            first += size
        return outputs

    def texts(self, start):
        """Yield the nodes of each path to a leaf, and the text of that path behind `start`."""
        for leaf in set(range(len(self.tokens))) - set(self.parents):
            path = self.path(leaf)
            yield path, [*start, *(self.tokens[node] for node in path)]


def assert_kept_nodes_are_text(model):
    """Nodes of trees that are kept leave the rows of their text, and so do trees behind them."""
    for seed in range(4):
        tree = Branches.grown(30, seed)
        sequence, text = Sequence(model, 64), Sequence(model, 64)
        sequence.extend(TEXT[:20])
        tree.consider(sequence, [13, 17])
        path = tree.path(random.Random(seed).randrange(30))
        sequence.keep(path, [tree.tokens[node] for node in path])
        text.extend(sequence.ids)
        assert_same_cache(sequence.cache, text.cache)
        more = Branches.grown(10, seed + 10)
        ((found, _),) = more.consider(sequence, [10])
        for path, tokens in more.texts(sequence.ids):
            assert np.array_equal(found[path], all_logits(model, tokens)[len(sequence.ids) :])
