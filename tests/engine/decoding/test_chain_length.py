"""Chains of `sps` shrink where the draft is refused and grow where it is accepted."""

from engine.decoding.chain_length import ChainLength
from engine.decoding.iteration import Iterated, decode
from engine.decoding.verification import TargetVerifier
from engine.drafting import TreeLimits
from engine.drafting.sps import SpsDrafter
from engine.model.interface import no_progress
from engine.model.sequence import Sequence
from engine.protocol import Chat, Message, Options
from engine.sampling import Sampler
from tests.engine.decoding.test_iteration import PROMPT, pair
from tests.engine.models import VOCABULARY, ours, reference
from tests.engine.test_every_drafter import session


def lengths(target, draft, most):
    """Return the lengths of the chains of one answer."""
    verifier = TargetVerifier(Sequence(target, 160), Sampler())
    drafter = SpsDrafter(Sequence(draft, 160), VOCABULARY)
    events = decode(verifier, drafter, Sampler(), PROMPT, ChainLength(most), (), 100, no_progress)
    return [len(event.tree) for event in events if isinstance(event, Iterated)]


def test_chains_of_a_draft_that_is_always_right_grow_to_the_depth():
    _, target, _ = pair("llama")
    assert lengths(target, target, TreeLimits(32, 1, 10))[:5] == [5, 7, 9, 10, 10]


def test_chains_of_a_draft_that_is_rarely_right_shrink_to_one():
    _, target, _ = pair("llama")
    assert lengths(target, ours(reference("llama", seed=9)), TreeLimits(32, 1, 10))[:6] == [5, 4, 3, 2, 1, 1]


def test_chains_are_never_longer_than_the_limits():
    _, target, _ = pair("llama")
    assert set(lengths(target, target, TreeLimits(32, 1, 3))[:8]) == {3}


def answer(session, **options):
    options = Options(drafter="sps", seed=1, **options)
    chat = Chat(id=0, messages=[Message("user", "xyz")], options=options)
    return session.answer(chat, lambda event: None, lambda: False)


def test_an_answer_without_a_budget_adapts_the_chain_length():
    pair = session()
    found = answer(pair, temperature=0.7)
    assert found.budgets[0] == 5
    assert len(set(found.budgets)) > 1
    steps = {after - before for before, after in zip(found.budgets, found.budgets[1:], strict=False)}
    assert steps <= {-1, 0, 2}
    last = found.budgets[-1]
    assert answer(pair, temperature=0.7).budgets[0] in {last - 1, last, last + 2}, "kept for the next answer"
    again = answer(session(), temperature=0.7, budgets=found.budgets)
    assert (again.token_ids, again.budgets) == (found.token_ids, found.budgets)


def test_a_fixed_budget_is_not_adapted():
    assert set(answer(session(), temperature=0.7, budget=7).budgets) == {7}


def test_a_fixed_depth_bounds_the_adapted_length():
    found = answer(session(), depth=2)
    assert found.tokens_per_pass <= 3
