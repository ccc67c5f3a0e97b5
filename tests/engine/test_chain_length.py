from engine.chain_length import ChainLength
from engine.decoding import Iterated, decode
from engine.drafting import Limits
from engine.drafting.sps import SpsDrafter
from engine.model import no_watch
from engine.sampling import Sampler
from engine.sequence import Sequence
from engine.verification import TargetVerifier
from tests.engine.models import VOCABULARY, ours, reference
from tests.engine.test_decoding import PROMPT, pair


def lengths(target, draft, most):
    """Of the chains of one answer."""
    verifier = TargetVerifier(Sequence(target, 160), Sampler())
    drafter = SpsDrafter(Sequence(draft, 160), VOCABULARY)
    events = decode(verifier, drafter, Sampler(), PROMPT, ChainLength(most), (), 100, no_watch)
    return [len(event.tree) for event in events if isinstance(event, Iterated)]


def test_chains_of_a_draft_that_is_always_right_grow_to_the_depth():
    _, target, _ = pair("llama")
    assert lengths(target, target, Limits(32, 1, 10))[:5] == [5, 7, 9, 10, 10]


def test_chains_of_a_draft_that_is_hardly_ever_right_shrink_to_one():
    _, target, _ = pair("llama")
    assert lengths(target, ours(reference("llama", seed=9)), Limits(32, 1, 10))[:6] == [5, 4, 3, 2, 1, 1]


def test_chains_are_never_longer_than_asked_for():
    _, target, _ = pair("llama")
    assert set(lengths(target, target, Limits(32, 1, 3))[:8]) == {3}
