"""Trees that a drafter grows beside a target, as tests look at them."""

from engine.decoding.verification import TargetVerifier
from engine.model.interface import no_progress
from engine.model.sequence import Sequence
from engine.sampling import Sampler
from tests.engine.decoding.test_iteration import CAPACITY, PROMPT


def grown(drafter, limits):
    drafter.plant(limits)
    while drafter.grow(1, no_progress):
        pass
    return drafter.snapshot(limits.budget)


def paths(tree):
    """Return the score of every node by the tokens of its path."""
    return {
        tuple(tree.tokens[tree.path(node)].tolist()): float(tree.scores[node]) for node in range(len(tree))
    }


def grown_in_an_answer(drafter, target, limits, iterations):
    """Yield the text so far, whose last token is the root, and the tree behind it: after the prompt and after
    each iteration."""
    sampler = Sampler(seed=4, temperature=0.9)
    verifier = TargetVerifier(Sequence(target, CAPACITY), sampler)
    verdict = verifier.read(PROMPT, drafter, no_progress).verdict()
    context = [*PROMPT, verdict.bonus]
    drafter.begin(context, sampler, no_progress)
    drafter.observe_prefill(verdict.feedback)
    accepted = 0
    for _ in range(iterations):
        tree = grown(drafter, limits)
        yield context, tree
        verdict = verifier.launch(context, drafter.proposal(tree), no_progress).verdict()
        tokens = [*tree.tokens[verdict.accepted].tolist(), verdict.bonus]
        verifier.commit(verdict.accepted, [context[-1], *tokens[:-1]])
        drafter.advance(tokens, verdict.feedback)
        context += tokens
        accepted += len(verdict.accepted)
    assert accepted, "no accepted node was ever checked"
