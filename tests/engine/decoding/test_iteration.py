"""Exactness: with any tree, decoding gives the tokens of plain decoding (docs/design.md, section 3)."""

from dataclasses import dataclass
from functools import cache

import pytest
import torch

from engine.decoding.budget import FixedLimits
from engine.decoding.iteration import Iterated, Prefilled, decode
from engine.decoding.verification import TargetVerifier
from engine.drafting import TreeLimits
from engine.drafting.none import NoDrafter
from engine.drafting.recycling import RecyclingDrafter
from engine.drafting.specexec import SpecExecDrafter
from engine.model.interface import no_progress
from engine.model.sequence import Sequence
from engine.sampling import Sampler, TokenHistory
from tests.engine.models import CONFIGS, VOCABULARY, disturbed, ours, reference

CAPACITY = 160
PROMPT = [1, 17, 4, 33, 9, 9, 21, 50, 17, 4]
RULE = FixedLimits(TreeLimits(16, 4, 8))
TIE = 1e-4  # perturbed logits closer than this may be ordered differently by a batched product


@cache
def pair(kind):
    target = reference(kind)
    return target, ours(target), ours(disturbed(target, 0.05))


@dataclass
class Run:
    tokens: list[int]
    passes: int


def run(
    model, drafter, prompt, sampler, budget=0, beams=8, depth=16, end_ids=(), max_new_tokens=48, target=None
):
    target = target or Sequence(model, CAPACITY)
    result = Run([], 0)
    rule = FixedLimits(TreeLimits(budget, beams, depth))
    verifier = TargetVerifier(target, sampler)
    for event in decode(verifier, drafter, sampler, prompt, rule, end_ids, max_new_tokens, no_progress):
        if isinstance(event, Prefilled):
            result.tokens.append(event.token)
        elif isinstance(event, Iterated):
            result.tokens += event.tokens
            result.passes += 1
            assert len(event.tree) <= budget
    assert target.ids == [*prompt, *result.tokens[:-1]], (
        "the target holds a row for every committed token but the root"
    )
    return result


@cache
def plain_run(kind, **settings):
    """Return the run of plain decoding that trees of every shape are compared with."""
    return run(pair(kind)[1], NoDrafter(), PROMPT, Sampler(**settings))


def drafters(kind, capacity=CAPACITY):
    """Return makers of drafters whose nodes are accepted now and then."""
    _, target, draft = pair(kind)
    return {
        "specexec": lambda: SpecExecDrafter(Sequence(draft, capacity), VOCABULARY),
        "recycling": lambda: RecyclingDrafter(target.vocabulary),
    }


def assert_same(found, plain, model, sampler, prompt):
    if found == plain:
        return
    at = next(i for i, (a, b) in enumerate(zip(found, plain, strict=False)) if a != b)
    path = [*prompt, *plain[:at]]
    logits = Sequence(model, CAPACITY).extend(path)[None]
    scores = sampler.penalised(logits, TokenHistory(path, [[]]))
    if sampler.temperature:
        scores = sampler.perturbed(*sampler.filtered(scores, VOCABULARY), torch.tensor([len(path)]))
    best = scores[0].topk(2).values
    margin = float(best[0] - best[1])
    print(f"first difference at token {at}, margin {margin:.2e}")
    assert margin < TIE, f"tokens differ from {at} on: {found[at]} for {plain[at]}, margin {margin}"


@pytest.mark.parametrize("kind", CONFIGS)
def test_greedy_equals_transformers_generate(kind):
    module, model, _ = pair(kind)
    count = 24  # no window is as long
    with torch.inference_mode():
        expected = module.generate(
            torch.tensor([PROMPT]), do_sample=False, max_new_tokens=count, eos_token_id=None, pad_token_id=0
        )[0, len(PROMPT) :].tolist()
    sampler = Sampler()
    for make, budget in ((NoDrafter, 0), *((make, 24) for make in drafters(kind).values())):
        found = run(model, make(), PROMPT, sampler, budget=budget, max_new_tokens=count)
        assert_same(found.tokens, expected, model, sampler, PROMPT)


@pytest.mark.parametrize("name", ["specexec", "recycling"])
@pytest.mark.parametrize("budget", [1, 2, 7, 64, 512])
@pytest.mark.parametrize("kind", ["llama", "mistral", "qwen2_window"])
def test_sampled_tree_output_equals_plain_decoding(kind, budget, name):
    _, model, _ = pair(kind)
    capacity = CAPACITY + 2 * budget  # for the largest tree, and for nodes the draft expands beside it
    saved = passes = 0
    for seed in range(4 if budget < 512 else 1):
        sampling = dict(seed=seed, temperature=0.8, top_p=0.9)
        sampler, plain = Sampler(**sampling), plain_run(kind, **sampling)
        drafter, target = drafters(kind, capacity)[name](), Sequence(model, capacity)
        found = run(model, drafter, PROMPT, sampler, budget=budget, beams=max(8, budget // 8), target=target)
        assert_same(found.tokens, plain.tokens, model, sampler, PROMPT)
        saved += plain.passes - found.passes
        passes += plain.passes
    if name == "specexec":  # the training-free drafter learns little from so short a text
        assert saved > (0.2 if budget > 2 else 0.05) * passes, (
            "a draft this close to its target must save target passes"
        )


@pytest.mark.parametrize("name", ["specexec", "recycling"])
@pytest.mark.parametrize(
    "settings",
    [
        dict(temperature=0.0, repetition_penalty=1.3),
        dict(temperature=1.0),
        dict(temperature=0.7, top_k=5),
        dict(temperature=1.2, min_p=0.1, top_p=0.95, top_k=20, repetition_penalty=1.1),
    ],
    ids=["penalty", "temperature", "top_k", "all"],
)
def test_every_sampling_setting_is_exact(name, settings):
    _, model, _ = pair("llama")
    for seed in range(3) if settings["temperature"] else [0]:
        sampler, plain = Sampler(seed=seed, **settings), plain_run("llama", seed=seed, **settings)
        found = run(model, drafters("llama")[name](), PROMPT, sampler, budget=32)
        assert_same(found.tokens, plain.tokens, model, sampler, PROMPT)


@pytest.mark.parametrize("name", ["specexec", "recycling"])
def test_several_turns_reuse_rows_and_stay_exact(name):
    _, model, _ = pair("qwen2")
    target, drafter = Sequence(model, CAPACITY), drafters("qwen2")[name]()
    sampler = Sampler(seed=5, temperature=0.8, top_p=0.9)
    prompt = PROMPT
    for turn in range(4):
        plain = run(model, NoDrafter(), prompt, sampler, max_new_tokens=20)
        found = run(model, drafter, prompt, sampler, budget=16, max_new_tokens=20, target=target)
        assert_same(found.tokens, plain.tokens, model, sampler, prompt)
        prompt = [*prompt, *plain.tokens, 7, 8, turn + 3]
        if turn == 2:  # an edit in the middle
            prompt[15] = 44


def test_an_answer_ends_at_the_end_token_and_nothing_follows_it():
    _, model, _ = pair("llama")
    plain = plain_run("llama")
    end = plain.tokens[9]
    expected = plain.tokens[: plain.tokens.index(end) + 1]
    for make in drafters("llama").values():
        assert run(model, make(), PROMPT, Sampler(), budget=32, end_ids={end}).tokens == expected


@pytest.mark.parametrize("limit", [1, 2, 3, 11])
def test_no_more_tokens_than_requested(limit):
    _, model, _ = pair("llama")
    expected = plain_run("llama").tokens[:limit]
    for make in drafters("llama").values():
        assert run(model, make(), PROMPT, Sampler(), budget=32, max_new_tokens=limit).tokens == expected


def test_a_full_context_ends_the_answer_without_an_error():
    _, model, _ = pair("llama")
    for make in (NoDrafter, *drafters("llama").values()):
        tokens = run(model, make(), PROMPT, Sampler(), budget=64, max_new_tokens=10_000).tokens
        assert len(PROMPT) + len(tokens) == CAPACITY


def test_a_decoding_closed_early_leaves_both_sequences_usable():
    _, model, draft = pair("llama")
    target, drafter = Sequence(model, CAPACITY), SpecExecDrafter(Sequence(draft, CAPACITY), VOCABULARY)
    expected = plain_run("llama").tokens
    for events in range(1, 12):
        stream = decode(
            TargetVerifier(target, Sampler()), drafter, Sampler(), PROMPT, RULE, (), 48, no_progress
        )
        for _ in range(events):
            next(stream)
        stream.close()
        assert run(model, drafter, PROMPT, Sampler(), budget=16, target=target).tokens == expected


def test_a_pass_cancelled_by_progress_leaves_both_sequences_usable():
    class Ended(Exception):
        pass

    _, model, draft = pair("llama")
    target, drafter = Sequence(model, CAPACITY), SpecExecDrafter(Sequence(draft, CAPACITY), VOCABULARY)
    expected = plain_run("llama").tokens
    for chunks in range(1, 60, 7):
        left = chunks

        def progress(done, total):
            nonlocal left
            left -= 1
            if left < 0:
                raise Ended

        verifier = TargetVerifier(target, Sampler())
        with pytest.raises(Ended):
            list(decode(verifier, drafter, Sampler(), PROMPT, RULE, (), 48, progress))
        assert run(model, drafter, PROMPT, Sampler(), budget=16, target=target).tokens == expected


def test_a_flat_draft_near_the_end_of_the_context_never_overruns_its_cache():
    """Expanded nodes keep their rows even when better ones push them out of the tree."""
    module = reference("llama", seed=9)
    with torch.no_grad():
        module.lm_head.weight.mul_(0.05)  # every continuation about as likely as the next
    model = ours(module)
    for seed in range(6):
        sampler = Sampler(seed=seed, temperature=1.0)
        target, draft = Sequence(model, 80), Sequence(model, 80)
        drafter = SpecExecDrafter(draft, VOCABULARY, decay=0.99)
        tokens = run(
            model, drafter, PROMPT, sampler, budget=64, beams=16, depth=60, max_new_tokens=500, target=target
        ).tokens
        assert len(PROMPT) + len(tokens) == 80
