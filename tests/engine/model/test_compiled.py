"""A compiled model gives the logits of transformers, and each row the same bits in any pass."""

import dataclasses
import random
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
import torch

from engine.checkpoints import open_checkpoint
from engine.compiled.program import MOST_ROWS
from engine.errors import PromptTooLong
from engine.model import compiled
from engine.model.architectures import family_of
from engine.model.compiled import CompiledModel
from engine.model.interface import no_progress
from engine.model.loader import load_compiled
from engine.model.rows import Rows
from engine.model.sequence import Sequence
from engine.model.state_cache import StateCache
from tests.engine.checkpoints.files import convert
from tests.engine.models import CONFIGS, VOCABULARY, ours, reference

DENSE = [
    *("llama", "llama3_rope", "mistral", "qwen2", "qwen2_window", "qwen3", "gemma2", "gemma3_text", "phi3"),
    *("seed_oss", "smollm3", "smollm3_window", "qwen3_5_text", "lfm2", "ministral3"),
    *("granite", "olmo2", "olmo3", "glm4", "gemma4_large", "gemma4_text"),
    *("granitemoehybrid", "nemotron_h"),
]
MIXTURES = [
    *("mixtral", "qwen3_moe", "olmoe", "granitemoe", "gpt_oss", "glm4_moe", "qwen3_5_moe_text"),
    *("qwen3_next", "granitemoehybrid_experts"),
]
KINDS = DENSE + MIXTURES
# transformers computes these otherwise than compiled steps could.
OTHERS = [kind for kind in CONFIGS if not family_of(str(CONFIGS[kind].get("model_type", kind))).compiled]
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


# Close to transformers


@pytest.mark.parametrize("kind", [kind for kind in OTHERS if kind != "gpt_oss"])  # not as it is saved
def test_steps_refuse_an_architecture_that_they_do_not_compute(kind):
    assert saved(tiny(kind)) is None


def test_the_architectures_that_steps_refuse_are_those_that_are_declared_so():
    assert {*OTHERS} == {"gemma3n_text"}
    assert not family_of("no architecture that is declared").compiled


@every_kind
def test_a_text_has_the_logits_of_transformers(kind):
    module, model = both(kind)
    with torch.inference_mode():
        expected = module(torch.tensor([TEXT])).logits[0]
    assert_close(all_logits(model, TEXT), expected)
    assert_close(all_logits(model, TEXT), all_logits(ours(module), TEXT))


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("mistral", dict(sliding_window=13)),
        ("gemma2", dict(sliding_window=8)),
        ("gemma2", dict(attn_logit_softcapping=3.2)),
        ("gemma3_text", dict(sliding_window=10)),
        ("phi3", dict(sliding_window=12)),
        ("qwen2_window", dict(max_window_layers=2)),
        ("llama3_rope", dict(rope_parameters=dict(rope_type="default", rope_theta=10000.0))),
        ("llama", dict(rms_norm_eps=3e-2)),
        ("qwen3_moe", dict(norm_topk_prob=False)),
        ("olmoe", dict(norm_topk_prob=True)),
        ("mixtral", dict(num_experts_per_tok=3)),
        ("qwen3_next", dict(norm_topk_prob=False)),
    ],
)
def test_the_tolerance_notices_another_setting(kind, changes):
    _, model = both(kind)
    other = all_logits(ours(tiny(kind, **changes)), TEXT)
    assert difference(all_logits(model, TEXT), other) > 2 * TOLERANCE


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("llama", "input_layernorm.weight"),
        ("qwen2", "self_attn.q_proj.bias"),
        ("qwen2", "self_attn.v_proj.bias"),
        ("qwen3", "self_attn.q_norm.weight"),
        ("qwen3", "self_attn.k_norm.weight"),
        ("gemma2", "post_feedforward_layernorm.weight"),
        ("gemma3_text", "pre_feedforward_layernorm.weight"),
        ("olmoe", "self_attn.q_norm.weight"),
        ("olmoe", "self_attn.k_norm.weight"),
    ],
)
def test_the_tolerance_notices_another_vector_in_one_layer(kind, name):
    _, model = both(kind)
    module = tiny(kind)
    with torch.no_grad():
        weight = module.get_parameter(f"model.layers.1.{name}")
        weight += 0.15 * torch.randn(weight.shape, generator=torch.Generator().manual_seed(2))
    assert difference(all_logits(model, TEXT), all_logits(ours(module), TEXT)) > 2 * TOLERANCE


def test_every_second_layer_of_a_qwen3_next_may_have_a_plain_mlp():
    module = tiny("qwen3_next", decoder_sparse_step=2)
    with torch.inference_mode():
        expected = module(torch.tensor([TEXT])).logits[0]
    assert_close(all_logits(saved(module), TEXT), expected)


@pytest.mark.parametrize(("groups", "kept"), [(2, 1), (4, 2)])
def test_experts_may_be_chosen_in_the_best_groups(groups, kept):
    module = tiny("glm4_moe", n_group=groups, topk_group=kept)
    with torch.inference_mode():
        expected = module(torch.tensor([TEXT])).logits[0]
    assert_close(all_logits(saved(module), TEXT), expected)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("kind", ["llama", "qwen2", "gemma3_text", "qwen3_moe"])
def test_weights_of_16_bits(kind, dtype):
    module = tiny(kind)
    model = saved(module, dtype)  # rounds the module too
    assert_close(all_logits(model, TEXT), all_logits(ours(module), TEXT))


@pytest.mark.parametrize("kind", ["mistral", "gemma2", "gemma3_text", "llama3_rope", "qwen3_5_text", "lfm2"])
def test_a_text_of_several_runs_has_the_logits_of_transformers(kind):
    """Also far behind the start: rotary factors, windows."""
    module = tiny(kind)
    model = saved(module, context=1024)
    text = random_text(2 * MOST_ROWS + 60)
    assert_close(all_logits(model, text), all_logits(ours(module, context=1024), text))


@every_kind
def test_hidden_states_are_close_to_those_of_transformers(kind):
    module, model = both(kind)
    layers = list(range(model.layers + 1))
    output = model.forward(Rows.text(TEXT, 0), model.new_cache(64), hidden_layers=layers)
    twin = ours(module)
    expected = twin.forward(Rows.text(TEXT, 0), twin.new_cache(64), hidden_layers=layers)
    with torch.inference_mode():
        states = module(torch.tensor([TEXT]), output_hidden_states=True).hidden_states
    assert output.hidden.keys() == set(layers)
    for layer in layers:
        assert difference(output.hidden[layer], expected.hidden[layer]) < TOLERANCE
        if layer != model.layers - 1:  # transformers' last hidden state is that after the final norm
            known = states[min(layer + 1, model.layers)][0]
            assert difference(output.hidden[layer], known) < TOLERANCE


# The same bits in any pass


@every_kind
def test_a_text_in_pieces_of_any_size_gives_the_same_bits(kind):
    _, model = both(kind)
    expected = all_logits(model, TEXT)
    for size in (1, 2, 3, 7, 16, 17, 39):
        cache, found = model.new_cache(64), []
        for start in range(0, len(TEXT), size):
            piece = TEXT[start : start + size]
            found.append(model.forward(Rows.text(piece, start), cache).logits.copy())
            cache.keep(range(len(piece)))
        assert np.array_equal(np.concatenate(found), expected)


@pytest.mark.parametrize(("heads", "kv_heads"), [(1, 1), (3, 1), (4, 1), (6, 2), (7, 1), (8, 8)])
@pytest.mark.parametrize("head_dim", [32, 64, 96])
def test_heads_that_share_keys_give_the_bits_of_each_alone(heads, kv_heads, head_dim):
    """Many rows attend with several heads together, a single row with each head alone."""
    sizes = dict(hidden_size=672, num_attention_heads=heads, num_key_value_heads=kv_heads, head_dim=head_dim)
    module = tiny("llama", **sizes)
    model, text = saved(module), random_text(CONTEXT)
    whole = all_logits(model, text)
    with torch.inference_mode():
        expected = module(torch.tensor([text])).logits[0]
    assert difference(whole, expected) < 10 * TOLERANCE, "another head's keys would be off by a whole logit"
    sequence = Sequence(model, CONTEXT)
    for place, token in enumerate(text):
        assert np.array_equal(sequence.extend([token]), whole[place])


@every_kind
def test_a_text_longer_than_a_run_gives_the_same_bits(kind):
    _, model = both(kind, context=1024)
    text = random_text(2 * MOST_ROWS + 60)
    whole = Sequence(model, 400)
    expected = model.forward(Rows.text(text, 0), whole.cache).logits.copy()
    whole.keep(range(len(text)), text)
    for sizes in ([1, MOST_ROWS, MOST_ROWS + 1, 58], [MOST_ROWS - 1, 2, 187], [300, *[1] * 16]):
        sequence, found, start = Sequence(model, 400), [], 0
        for size in sizes:
            found.append(sequence.extend(text[start : start + size]).copy())
            start += size
            assert np.array_equal(found[-1], expected[start - 1])
        assert_same_cache(sequence.cache, whole.cache)


@every_kind
@pytest.mark.parametrize("seed", range(3))
def test_each_node_of_a_tree_has_the_bits_of_its_path_as_text(kind, seed):
    """The trees are deeper than the windows; one starts shortly behind the start of the text."""
    _, model = both(kind)
    start = TEXT[: [2, 7, 20][seed]]
    tree = Branches.grown(36, seed)
    for sizes in ([36], [1, 11, 24], [1] * 36, [20, 5, 5, 6]):
        sequence = Sequence(model, 64)
        sequence.extend(start)
        outputs = tree.consider(sequence, sizes, hidden_layers=(0, 1, model.layers))
        found = np.concatenate([logits for logits, _ in outputs])
        for path, text in tree.texts(start):
            cache = model.new_cache(64)
            expected = model.forward(Rows.text(text, 0), cache, hidden_layers=(0, 1, model.layers))
            assert np.array_equal(found[path], expected.logits[len(start) :])
            for layer, states in expected.hidden.items():
                hidden = np.concatenate([each[layer] for _, each in outputs])
                assert np.array_equal(hidden[path], states[len(start) :])


@every_kind
def test_kept_nodes_leave_the_rows_of_their_text(kind):
    _, model = both(kind)
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


@pytest.mark.parametrize("kind", ["llama", "mistral", "gemma3_text", "qwen3_5_text", "lfm2"])
def test_a_tree_larger_than_a_run_has_the_bits_of_its_paths(kind):
    _, model = both(kind, context=1024)
    tree = Branches.grown(MOST_ROWS + 70, 5)
    for sizes in ([MOST_ROWS + 70], [60, MOST_ROWS + 10]):
        sequence = Sequence(model, 400)
        sequence.extend(TEXT)
        found = np.concatenate([logits for logits, _ in tree.consider(sequence, sizes)])
        for path, text in tree.texts(TEXT):
            assert np.array_equal(found[path], all_logits(model, text)[len(TEXT) :])


@pytest.mark.parametrize("kind", ["mistral", "gemma3_text", "qwen3_5_text", "lfm2"])
def test_rows_in_any_order_of_positions_have_the_bits_of_their_text(kind):
    """Level by level, as lanes beside a tree: a later row may have an earlier position."""
    _, model = both(kind)
    chains = [random_text(15, seed) for seed in (1, 2)]
    order = [(chain, depth) for depth in range(15) for chain in (1, 0)]
    order = [*order[20:], *order[:20]]  # the deepest rows come first
    tokens = [chains[chain][depth] for chain, depth in order]
    visible = np.array([[a == c and b <= d for a, b in order] for c, d in order])
    sequence = Sequence(model, 64)
    sequence.extend(TEXT[:5])
    found = sequence.consider(tokens, [5 + depth for _, depth in order], visible).logits.copy()
    for number, chain in enumerate(chains):
        expected = all_logits(model, [*TEXT[:5], *chain])[5:]
        rows = [order.index((number, depth)) for depth in range(15)]
        assert np.array_equal(found[rows], expected)


# What a pass may be asked for


@pytest.mark.parametrize(
    "which",
    [slice(None), slice(0, 3), slice(5, 9), slice(-1, None), slice(-4, -2), slice(39, 40), slice(2, 90)],
)
@pytest.mark.parametrize("hidden", [(), (0,), (1, 3), (3,)])
def test_the_requested_rows_get_logits(which, hidden):
    _, model = both("gemma2")
    expected = all_logits(model, TEXT)[which]
    output = model.forward(Rows.text(TEXT, 0), model.new_cache(64), logits_for=which, hidden_layers=hidden)
    assert np.array_equal(output.logits, expected)
    assert output.hidden.keys() == set(hidden)


@pytest.mark.parametrize(
    ("start", "stop"), [(0, 300), (100, 200), (120, 128), (128, 129), (127, 129), (250, 300), (299, 300)]
)
def test_the_requested_rows_of_several_runs_get_logits(start, stop):
    _, model = both("llama", context=1024)
    text = random_text(300)
    whole = model.forward(Rows.text(text, 0), model.new_cache(300), hidden_layers=(1, 3))
    rows = slice(start, stop)
    part = model.forward(Rows.text(text, 0), model.new_cache(300), logits_for=rows, hidden_layers=(1, 3))
    assert np.array_equal(part.logits, whole.logits[rows])
    for layer in (1, 3):
        assert np.array_equal(part.hidden[layer], whole.hidden[layer])


@every_kind
@pytest.mark.parametrize("count", [1, 40, MOST_ROWS + 20])
def test_the_head_gives_the_logits_of_the_last_states(kind, count):
    _, model = both(kind, context=1024)
    output = model.forward(
        Rows.text(random_text(count), 0), model.new_cache(count), hidden_layers=[model.layers]
    )
    logits, states = output.logits.copy(), output.hidden[model.layers]
    head = model.output_head()
    assert np.array_equal(head(states), logits)
    assert np.array_equal(head(states[-1:]), logits[-1:])
    assert head.nbytes == 0


@every_kind
def test_a_pass_after_the_head_was_used_gives_the_same_bits(kind):
    _, model = both(kind)
    expected = all_logits(model, TEXT)
    model.output_head()(np.random.default_rng(1).standard_normal((9, model.width), np.float32))
    assert np.array_equal(all_logits(model, TEXT), expected)


@pytest.mark.parametrize(
    "kind",
    [
        *("granite", "ministral3", "olmo2", "glm4", "gemma4_large", "gemma4_text", "nemotron_h"),
        *("granitemoehybrid", "granitemoehybrid_experts"),
    ],
)
def test_a_gguf_file_has_the_logits_of_transformers(kind, tmp_path):
    """Rotated pairs lie side by side in these files, except in OLMo's and Gemma's."""
    module = tiny(kind)
    model = load_compiled(open_checkpoint(convert(module, tmp_path / "model.gguf")), no_progress, CONTEXT)
    with torch.inference_mode():
        expected = module(torch.tensor([TEXT])).logits[0]
    assert_close(all_logits(model, TEXT), expected)


@every_kind
def test_embeddings_are_those_of_transformers(kind):
    module, model = both(kind)
    expected = module.get_input_embeddings()(torch.tensor(TEXT)).detach()
    expected *= getattr(module.config, "embedding_multiplier", 1.0)  # applied outside the embedding's module
    torch.testing.assert_close(torch.from_numpy(model.embed(np.array(TEXT))), expected, rtol=1e-6, atol=1e-6)


def test_two_caches_take_turns():
    _, model = both("mistral")
    texts = [random_text(30, seed) for seed in (1, 2)]
    alone = [all_logits(model, text) for text in texts]
    sequences = [Sequence(model, 40), Sequence(model, 64)]
    for at in range(30):
        for sequence, text, expected in zip(sequences, texts, alone, strict=True):
            assert np.array_equal(sequence.extend(text[at : at + 1]), expected[at])


def test_a_cache_at_the_place_of_a_dropped_one_is_noticed():
    _, model = both("llama")
    expected = all_logits(model, TEXT)
    for capacity in (64, 64, 300, 64, 50):
        sequence = Sequence(model, capacity)
        assert np.array_equal(sequence.extend(TEXT), expected[-1])


def test_a_text_that_does_not_fit_is_refused():
    _, model = both("llama")
    sequence = Sequence(model, 20)
    with pytest.raises(PromptTooLong):
        sequence.extend(TEXT)
    expected = all_logits(model, TEXT)[19]
    assert np.array_equal(sequence.extend(TEXT[:20]), expected)


def test_padding_of_the_head_gets_no_logits():
    model = saved(tiny("llama"), vocabulary=VOCABULARY - 5)
    assert model.vocabulary == VOCABULARY - 5
    assert np.array_equal(all_logits(model, TEXT), all_logits(both("llama")[1], TEXT)[:, :-5])


def test_a_second_load_gives_the_same_bits():
    assert np.array_equal(all_logits(saved(tiny("qwen2")), TEXT), all_logits(both("qwen2")[1], TEXT))


# Progress


@pytest.mark.parametrize("count", [1, 20, MOST_ROWS + 1])
def test_progress_is_reported_from_the_start_to_the_end(count, monkeypatch):
    _, model = both("llama", context=1024)
    runs = -(-count // MOST_ROWS)
    for pace in (compiled.PACE_S, AT_EACH_LAYER):
        monkeypatch.setattr(compiled, "PACE_S", pace)
        calls: list[tuple[int, int]] = []
        Sequence(model, 300).extend(random_text(count), lambda *of, calls=calls: calls.append(of))
        assert {total for _, total in calls} == {runs * model.layers}
        done = [each for each, _ in calls]
        assert done == sorted(done)
        assert (done[0], done[-1]) == (0, runs * model.layers)
    assert done == [*range(runs * model.layers + 1)]


@every_kind
@pytest.mark.parametrize("end", [0, 1, -2, -1])
def test_a_pass_that_progress_ends_leaves_no_trace(kind, end, monkeypatch):
    def progress(done, total):
        if done == range(total + 1)[end]:
            raise Ended

    monkeypatch.setattr(compiled, "PACE_S", AT_EACH_LAYER)
    _, model = both(kind)
    sequence = Sequence(model, 64)
    sequence.extend(TEXT[:20])
    before = kept(sequence.cache)
    with pytest.raises(Ended):
        sequence.extend(random_text(9), progress)
    tree = Branches.grown(12, 3)
    with pytest.raises(Ended):
        tree.consider(sequence, [12], progress=progress)
    assert (sequence.cache.length, sequence.cache.tail, sequence.ids) == (20, 0, TEXT[:20])
    assert all(np.array_equal(*each) for each in zip(kept(sequence.cache), before, strict=True))
    expected = all_logits(model, TEXT)[-1]
    assert np.array_equal(sequence.extend(TEXT[20:]), expected)


@pytest.mark.parametrize("kind", ["llama", "qwen3_5_text"])
def test_a_pass_of_several_runs_that_progress_ends_leaves_no_trace(kind, monkeypatch):
    monkeypatch.setattr(compiled, "PACE_S", AT_EACH_LAYER)
    _, model = both(kind, context=1024)
    text = random_text(300)
    expected = all_logits(model, text)[-1]
    for end in (0, 2, 3, 5, 8, 9):

        def progress(done, total, end=end):
            if done == end:
                raise Ended

        sequence = Sequence(model, 400)
        with pytest.raises(Ended):
            sequence.extend(text, progress)
        assert sequence.ids == []
        assert np.array_equal(sequence.extend(text), expected)


def test_loading_reports_bytes_and_layers_and_may_be_ended(tmp_path):
    module = tiny("llama")
    module.save_pretrained(tmp_path)
    loaded, layers = [], []
    model = load_compiled(
        open_checkpoint(tmp_path),
        lambda done, total: loaded.append((done, total)),
        CONTEXT,
        layer_progress=lambda done, total: layers.append((done, total)),
    )
    assert loaded[-1][0] == loaded[-1][1] > 0
    assert layers[-1] == (model.layers, model.layers)

    def progress(done, total):
        raise Ended

    with pytest.raises(Ended):
        load_compiled(open_checkpoint(tmp_path), progress, CONTEXT)


# What steps do not cover


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("olmoe", dict(clip_qkv=8.0)),
        ("olmoe", dict(attention_bias=True)),
        ("qwen3_moe", dict(head_dim=32)),  # experts of width 24
        ("llama_bias", dict()),
        ("llama", dict(head_dim=16)),
        ("llama", dict(hidden_size=120)),
        ("llama", dict(intermediate_size=80)),
        ("llama", dict(hidden_act="relu")),
    ],
)
def test_what_steps_do_not_cover_is_not_loaded(kind, changes):
    module = reference(kind, **{**SIZES, **changes})
    assert saved(module) is None


def test_layouts_that_have_no_tiles_are_not_loaded():
    assert saved(tiny("llama"), torch.float64) is None
