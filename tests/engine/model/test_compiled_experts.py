"""The experts of a compiled mixture: the numbers of a plain MLP, any home of theirs, and faults."""

import dataclasses
import shutil
import threading
from contextlib import contextmanager

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from engine import interruption
from engine.checkpoints import Weight, open_checkpoint
from engine.compiled import router, steps
from engine.compiled.matrix import aligned
from engine.compiled.pool import ComputePool, shared_pool
from engine.compiled.table import StepTable, address
from engine.drafting import TreeLimits
from engine.drafting.none import NoDrafter
from engine.errors import BadCheckpoint, BadNumbers, Interrupted, StreamBroken
from engine.model.interface import no_progress
from engine.model.loader import can_stream_compiled, load_compiled, prepare_compiled
from engine.model.reader import expert_of
from engine.model.rows import Rows
from engine.model.self_draft import check_self_draft
from engine.model.sequence import Sequence
from engine.planner.run_rows import RUN_ROWS
from engine.sampling import Sampler
from engine.streaming import WeightLimits
from engine.torch_model.loader import load_model
from tests.engine.checkpoints.gguf_converter import convert
from tests.engine.model.compiled_models import (
    CONTEXT,
    MIXTURES,
    TEXT,
    Branches,
    all_logits,
    difference,
    random_text,
    stored,
    tiny,
)
from tests.engine.model.test_compiled_streaming import read_again
from tests.engine.model.test_self_draft import answer
from tests.engine.models import CONFIGS

every_mixture = pytest.mark.parametrize("kind", MIXTURES)
LITTLE = 1200 << 10  # bytes: two slots of the ring, and a few of the cache of experts


@contextmanager
def both(file, limit=LITTLE):
    """The model with all weights in memory, and streamed."""
    resident = load_compiled(file, no_progress, CONTEXT)
    streamed = load_compiled(file, no_progress, CONTEXT, limits=WeightLimits(limit))
    assert resident is not None
    assert streamed is not None
    try:
        yield resident, streamed
    finally:
        streamed.close()


def saved(folder, kind="qwen3_moe", **changes):
    return stored(tiny(kind, **changes), folder)


def mixture_of(dense, experts, chosen):
    """A Qwen 3 as a mixture whose experts are all the same: its MLP. Routers are one of its norms."""
    config = {**dense.config, "num_experts": experts, "num_experts_per_tok": chosen, "norm_topk_prob": True}
    config["moe_intermediate_size"] = config["intermediate_size"]
    weights = {}
    for name, weight in dense.weights.items():
        names = [name]
        if ".mlp." in name:
            names = [name.replace(".mlp.", f".mlp.experts.{expert}.") for expert in range(experts)]
        weights |= dict.fromkeys(names, weight)
        if name.endswith("input_layernorm.weight"):
            (span,) = weight.spans
            rows = dataclasses.replace(span, shape=(1, *span.shape))
            pieces = dataclasses.replace(Weight.of(rows), shape=(1, *span.shape))
            weights[name.replace("input_layernorm", "mlp.gate")] = pieces
    return dataclasses.replace(dense, architecture="qwen3_moe", config=config, weights=weights)


# The numbers


@pytest.mark.parametrize("storage", ["F32", "Q8_0", "Q4_0"])
def test_a_single_expert_gives_the_bits_of_a_plain_mlp(storage, tmp_path):
    """The router is of plain numbers, the expert of packed ones."""
    dense = open_checkpoint(convert(tiny("qwen3"), tmp_path / "dense.gguf", storage=storage))
    prepare_compiled(dense)
    plain = load_compiled(dense, no_progress, CONTEXT)
    mixture = load_compiled(mixture_of(dense, 1, 1), no_progress, CONTEXT)
    for count in (1, 2, 17, 40):
        text = random_text(count, count)
        assert np.array_equal(all_logits(mixture, text), all_logits(plain, text))


@pytest.mark.parametrize("stacked", [True, False])
@every_mixture
def test_experts_of_a_gguf_file_are_those_of_the_module(kind, stacked, tmp_path):
    """In one tensor for all experts of a layer, and in one for each."""
    module = tiny(kind)
    file = open_checkpoint(convert(module, tmp_path / "model.gguf", stacked=stacked))
    with torch.inference_mode():
        expected = module(torch.tensor([TEXT])).logits[0]
    assert difference(all_logits(load_compiled(file, no_progress, CONTEXT), TEXT), expected) < 5e-3


@pytest.mark.parametrize("kind", [kind for kind in MIXTURES if kind != "gpt_oss"])  # see test_compiled_mxfp4
def test_stacked_experts_of_a_folder_have_the_bits_of_separate_ones(kind, tmp_path):
    """One tensor for gate and up of all experts of a layer, or for up, and one for down, as transformers'
    modules have them."""
    module = tiny(kind)
    separate = load_compiled(saved(tmp_path / "separate", kind), no_progress, CONTEXT)
    stacked = tmp_path / "stacked"
    stacked.mkdir()
    shutil.copy(tmp_path / "separate" / "config.json", stacked)
    tensors = {name: tensor.clone() for name, tensor in module.state_dict().items()}
    first = "up_proj" if kind == "nemotron_h_experts" else "gate_up_proj"  # which has no gate
    assert any(name.endswith(f"experts.{first}") for name in tensors)
    save_file(tensors, stacked / "model.safetensors")
    file = open_checkpoint(stacked)
    assert can_stream_compiled(file)
    found = load_compiled(file, no_progress, CONTEXT)
    assert np.array_equal(all_logits(found, TEXT), all_logits(separate, TEXT))


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_rows_choose_the_largest_scores_and_the_first_of_equal_ones(threads):
    experts, k, rows = 12, 3, 40
    scores = np.random.default_rng(1).integers(0, 6, (rows, experts)).astype(np.float32)
    chosen, shares, places, row_of, used_of, used, starts, span = routed(scores, k, True, threads)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    assert np.array_equal(chosen, order)
    powers = np.exp(np.take_along_axis(scores, order, 1))
    assert np.allclose(shares, powers / powers.sum(1, keepdims=True), rtol=1e-5)
    assert span == (0, len(np.unique(order)))
    assert np.array_equal(used[: span[1]], np.unique(order))
    for number, expert in enumerate(used[: span[1]]):
        group = range(starts[number], starts[number + 1])
        assert np.array_equal(row_of[group], np.flatnonzero((order == expert).any(1)))
        assert (used_of[group] == number).all()
    assert np.array_equal(np.sort(places.reshape(-1)), np.arange(rows * k))
    assert np.array_equal(row_of[places], np.repeat(np.arange(rows), k).reshape(rows, k))
    whole = routed(scores, k, False, threads)[1]
    assert np.allclose(whole, powers / np.exp(scores).sum(1, keepdims=True), rtol=1e-5)


@pytest.mark.parametrize("normalized", [True, False])
def test_sigmoids_choose_with_corrections_and_share_without_them(normalized):
    experts, k, rows = 12, 3, 40
    random = np.random.default_rng(2)
    scores = random.normal(size=(rows, experts)).astype(np.float32)
    bias, corrections = random.normal(size=(2, experts)).astype(np.float32)
    whole = 1 / (1 + np.exp(-scores - bias))
    expected = np.argsort(-whole - corrections, axis=1)[:, :k]
    parts = np.take_along_axis(whole, expected, 1)
    parts *= 2.5 / (parts.sum(1, keepdims=True) if normalized else 1)
    chosen, shares, *_ = routed(scores, k, normalized, 2, True, bias, corrections, 2.5)
    assert np.array_equal(chosen, expected)
    assert np.allclose(shares, parts, rtol=1e-5)


def test_something_may_be_added_to_the_sum_by_which_shares_are_divided():
    """LFM2's router does so: shares that are as small as what is added tell."""
    scores = np.full((1, 8), -14.0, np.float32)
    share = 1 / (1 + np.exp(14.0))
    _, shares, *_ = routed(scores.copy(), 2, True, 1, sigmoid=True, factor=3.0, epsilon=1e-6)
    assert np.allclose(shares, 3 * share / (2 * share + 1e-6), rtol=1e-5)
    _, shares, *_ = routed(scores, 2, True, 1, sigmoid=True)
    assert np.allclose(shares, 0.5, rtol=1e-5)


@pytest.mark.parametrize(("groups", "kept"), [(2, 1), (3, 2), (6, 4)])
def test_experts_are_chosen_in_the_groups_whose_two_best_are_the_best_together(groups, kept):
    experts, k, rows = 12, 3, 40
    random = np.random.default_rng(4)
    scores, corrections = random.normal(size=(rows, experts)).astype(np.float32), np.zeros(experts)
    corrections[:5] = random.normal(size=5)
    corrections = corrections.astype(np.float32)
    best = 1 / (1 + np.exp(-scores)) + corrections
    apart = np.sort(best.reshape(rows, groups, -1))[..., -2:].sum(-1)
    worst = np.argsort(-apart, axis=1)[:, kept:]
    for row in range(rows):
        best.reshape(rows, groups, -1)[row, worst[row]] = -np.inf
    chosen, shares, *_ = routed(
        scores, k, True, 2, sigmoid=True, corrections=corrections, groups=(groups, kept)
    )
    assert np.array_equal(chosen, np.argsort(-best, axis=1)[:, :k])
    assert np.allclose(shares.sum(1), 1, rtol=1e-5)


def test_of_equally_good_groups_the_first_ones_are_kept():
    scores = np.zeros((1, 8), np.float32)
    chosen, *_ = routed(scores, 3, True, 1, sigmoid=True, groups=(4, 2))
    assert chosen.tolist() == [[0, 1, 2]]


def test_a_score_that_is_no_number_tells_in_a_group_that_is_left_out_too():
    scores = np.array([[3, 3, 3, 3, -3, np.nan]], np.float32)
    chosen, shares, *_ = routed(scores, 2, True, 1, sigmoid=True, groups=(3, 1))
    assert np.isnan(shares).all()
    assert ((chosen >= 0) & (chosen < 6)).all()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("normalized", [True, False])
def test_scores_that_are_no_numbers_choose_experts_that_exist(value, normalized):
    scores = np.full((5, 8), value, np.float32)
    scores[4, :7] = 1
    chosen, shares, *_ = routed(scores, 3, normalized, 1)
    assert (chosen >= 0).all()
    assert (chosen < 8).all()
    assert np.isnan(shares[:4]).all()
    assert np.isnan(shares[4]).any() == (value != -float("inf"))


def routed(
    scores,
    k,
    normalized,
    threads,
    sigmoid=False,
    bias=None,
    corrections=None,
    factor=1.0,
    groups=(1, 1),
    epsilon=0.0,
):
    """Run the steps of a router; return the arrays of its routing."""
    rows, experts = scores.shape
    shapes = [(rows, k)] * 3 + [(rows * k,)] * 2 + [(experts,), (experts + 1,)]
    kinds = [np.int64, np.float32, *[np.int64] * 5]
    arrays = [np.full(shape, -7, kind) for shape, kind in zip(shapes, kinds, strict=True)]
    routing, state = np.zeros(router.ROUTING, np.int64), aligned(8 * steps.STATE).view(np.int64)
    routing[: router.FIRST] = [address(array) for array in arrays]
    state[steps.ROWS] = rows
    table = StepTable()
    both = address(state), address(routing)
    table.add(
        router.route_step,
        *(*both, address(scores), scores.strides[0], experts, k),
        *(2 * sigmoid + normalized, address(bias), address(corrections), float(factor), *groups, epsilon),
    )
    table.add(router.group_step, *both, experts, k)
    pool = shared_pool() if threads == 2 else ComputePool(threads)
    lines = table.table()
    pool.run(address(lines), 0, len(lines))
    return *arrays, (routing[router.FIRST], routing[router.LAST])


# Any home


@pytest.mark.parametrize("limit", [LITTLE, 1500 << 10, 2000 << 10])
@every_mixture
def test_texts_and_trees_have_the_same_bits_at_any_size_of_the_cache(kind, limit, tmp_path):
    with both(saved(tmp_path, kind), limit) as models:
        tree, found = Branches.grown(12, 1), []
        for model in models:
            sequence = Sequence(model, CONTEXT)
            first = sequence.extend(random_text(20)).copy()
            others = tree.consider(sequence, (5, 7))
            sequence.rewind(18)
            found.append([first, *(logits for logits, _ in others), sequence.extend([7]).copy()])
        assert all(np.array_equal(one, other) for one, other in zip(*found, strict=True))


@pytest.mark.parametrize(
    ("kind", "experts"), [("qwen3_moe", "num_experts"), ("nemotron_h_experts", "n_routed_experts")]
)
def test_experts_of_packed_blocks_have_the_same_bits_streamed(kind, experts, tmp_path):
    module = tiny(kind, **{experts: 16})
    file = open_checkpoint(convert(module, tmp_path / "model.gguf", storage="Q8_0"))
    prepare_compiled(file)
    with both(file) as (resident, streamed):
        assert streamed.experts is not None
        for text in (TEXT, [5], [7, 9, 11]):
            assert np.array_equal(all_logits(streamed, text), all_logits(resident, text))


def test_packed_experts_without_a_gate_give_the_logits_of_torch(tmp_path):
    """All experts are used, since rounding to 8 bits may change a choice."""
    module = tiny("nemotron_h_experts", n_routed_experts=6, num_experts_per_tok=6)
    file = open_checkpoint(convert(module, tmp_path / "model.gguf", storage="Q8_0"))
    prepare_compiled(file)
    expected = all_logits(load_model(file, torch.float32, "cpu", no_progress, CONTEXT), TEXT)
    assert difference(all_logits(load_compiled(file, no_progress, CONTEXT), TEXT), expected) < 0.1


@every_mixture
def test_only_the_chosen_experts_are_read(kind, tmp_path):
    file = saved(tmp_path, kind)
    with both(file) as (_, streamed):
        before = streamed.experts
        all_logits(streamed, [1])
        done = streamed.experts - before
        mixtures = len({found[0] for name in file.weights if (found := expert_of(name))})
        assert done.used == CONFIGS[kind]["num_experts_per_tok"] * mixtures


def test_the_experts_of_each_row_are_told_except_those_of_prompts(tmp_path, monkeypatch):
    """The text goes on behind one row; the next pass is likely to choose the experts of that row."""
    with both(saved(tmp_path)) as (_, streamed):
        told, choose = [], streamed.streamer.choose

        def note(chosen, rows=()):
            told.append((chosen, rows))
            choose(chosen, rows)

        monkeypatch.setattr(streamed.streamer, "choose", note)
        all_logits(streamed, random_text(5))
        for chosen, rows in told:
            assert [len(row) for row in rows] == [CONFIGS["qwen3_moe"]["num_experts_per_tok"]] * 5
            assert {id(expert) for row in rows for expert in row} == {*map(id, chosen)}
        told.clear()
        all_logits(streamed, random_text(RUN_ROWS + 1))
        assert told
        assert not any(rows for _, rows in told)


def test_a_mixture_streams_through_compiled_steps_and_has_no_draft_of_its_own(tmp_path):
    file = saved(tmp_path)
    assert can_stream_compiled(file)
    with pytest.raises(Exception, match="mixture"):
        check_self_draft(file)


# Faults


def spoil(folder, value):
    """Put a number into one expert of layer 1."""
    path = folder / "model.safetensors"
    tensors = load_file(path)
    name = next(name for name in tensors if "layers.1" in name and "experts" in name and "down" in name)
    tensors[name].view(-1)[-3] = value
    save_file(tensors, path, {"format": "pt"})


def test_an_expert_that_is_not_finite_is_named_at_loading(tmp_path):
    saved(tmp_path)
    spoil(tmp_path, float("nan"))
    with pytest.raises(BadCheckpoint, match=r"layers\.1\.mlp\.experts\.\d+\.down_proj"):
        load_compiled(open_checkpoint(tmp_path), no_progress, CONTEXT)


def test_a_streamed_expert_that_is_not_finite_ends_the_answer_and_no_other(tmp_path):
    saved(tmp_path, num_experts_per_tok=6)  # all experts
    spoil(tmp_path, float("nan"))
    file = open_checkpoint(tmp_path)
    streamed = load_compiled(file, no_progress, CONTEXT, limits=WeightLimits(LITTLE))
    with pytest.raises(BadNumbers):
        answer(Sequence(streamed, CONTEXT), NoDrafter(), Sampler(), [1, 2], TreeLimits(1, 1, 1))
    streamed.close()


def test_a_streamed_expert_with_nans_spoils_only_the_answers_that_use_it(tmp_path):
    clean = load_compiled(saved(tmp_path / "clean"), no_progress, CONTEXT)
    saved(tmp_path / "spoiled")
    spoil(tmp_path / "spoiled", float("nan"))
    file = open_checkpoint(tmp_path / "spoiled")
    streamed = load_compiled(file, no_progress, CONTEXT, limits=WeightLimits(LITTLE))
    one, other = Sequence(clean, CONTEXT), Sequence(streamed, CONTEXT)
    how, spoiled = (NoDrafter(), Sampler(), [1, 2], TreeLimits(1, 1, 1)), []
    for token in range(3, 27):
        how[2][1] = token
        try:
            assert answer(other, *how, most=2)[0] == answer(one, *how, most=2)[0]
        except BadNumbers:
            spoiled.append(token)
            other.rewind(0)
    streamed.close()
    assert 0 < len(spoiled) < 24


def test_a_router_for_more_experts_than_there_are_is_refused(tmp_path):
    """So no router of compiled steps can choose an expert that does not exist."""
    saved(tmp_path)
    path = tmp_path / "model.safetensors"
    tensors = load_file(path)
    name = next(name for name in tensors if "layers.1" in name and name.endswith("mlp.gate.weight"))
    tensors[name] = torch.cat([tensors[name], tensors[name][:1]])
    save_file(tensors, path, {"format": "pt"})
    for limits in (None, WeightLimits(LITTLE)):
        with pytest.raises(BadCheckpoint, match=r"layers\.1\.mlp\.gate"):
            load_compiled(open_checkpoint(tmp_path), no_progress, CONTEXT, limits=limits)


def test_a_file_that_ends_within_an_expert_is_refused(tmp_path):
    file = saved(tmp_path)
    path = tmp_path / "model.safetensors"
    span = next(w for name, w in file.weights.items() if "layers.1.mlp.experts.4" in name).spans[0]
    path.write_bytes(path.read_bytes()[: span.offset + span.nbytes - 1])
    with pytest.raises(BadCheckpoint):
        load_compiled(file, no_progress, CONTEXT)


def test_a_file_that_shrinks_ends_the_pass_with_its_own_error(tmp_path):
    with both(saved(tmp_path)) as (_, streamed):
        all_logits(streamed, [1, 2])
        path = tmp_path / "model.safetensors"
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        with pytest.raises(StreamBroken):
            read_again(streamed)


@every_mixture
def test_stop_in_the_middle_of_a_pass_leaves_no_trace(kind, tmp_path):
    with both(saved(tmp_path, kind)) as (resident, streamed):
        expected = all_logits(resident, TEXT)
        at = []

        def stopping(fetch):
            def fetched(*matrix):
                at.append(matrix)
                if len(at) == 9:
                    threading.Thread(target=interruption.interrupt).run()
                return fetch(*matrix)

            return fetched

        streamed.streamer.fetch = stopping(streamed.streamer.fetch)
        streamed.streamer.fetch_present = stopping(streamed.streamer.fetch_present)
        cache = streamed.new_cache(CONTEXT)
        try:
            with pytest.raises(Interrupted):
                streamed.forward(Rows.text(TEXT, 0), cache)
        finally:
            interruption.resume()
        assert cache.tail == 0
        assert np.array_equal(all_logits(streamed, TEXT), expected)
