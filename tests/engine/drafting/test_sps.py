from engine.drafting import TreeLimits
from engine.drafting.sps import SpsDrafter
from engine.model.interface import no_progress
from engine.model.sequence import Sequence
from engine.sampling import Sampler
from tests.engine.decoding.test_iteration import PROMPT, pair, run
from tests.engine.models import VOCABULARY


def test_a_chain_is_as_long_as_depth_and_budget_allow():
    _, model, _ = pair("llama")
    drafter = SpsDrafter(Sequence(model, 64), VOCABULARY)
    for budget, depth in [(9, 4), (3, 8), (0, 8), (8, 0)]:
        drafter.begin(PROMPT, Sampler(), no_progress)
        drafter.plant(TreeLimits(budget, 1, depth))
        while drafter.grow(1, no_progress):
            pass
        tree = drafter.snapshot(budget)
        assert tree.depths.tolist() == list(range(1, min(budget, depth) + 1))
        assert tree.parents.tolist() == list(range(-1, min(budget, depth) - 1))


def test_greedy_chains_are_the_drafts_own_text():
    _, target, _ = pair("llama")
    found = run(
        target, SpsDrafter(Sequence(target, 64), VOCABULARY), PROMPT, Sampler(), budget=4, depth=4,
        max_new_tokens=21,
    )  # fmt: skip
    assert found.passes == 4, "the draft is the target: five tokens in every pass"
