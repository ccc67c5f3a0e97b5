import numpy as np

from engine.drafting import Feedback, TreeLimits
from engine.drafting.recycling import RecyclingDrafter
from engine.model.interface import no_progress
from engine.sampling import Sampler


def feedback(rows: dict[int, dict[int, float]]) -> Feedback:
    """rows: token -> {next token: probability}, padded to eight each."""
    tokens = np.array(list(rows))
    best = [list(row.items()) + [(90 + i, 1e-6) for i in range(8 - len(row))] for row in rows.values()]
    return Feedback(
        tokens,
        np.array([[token for token, _ in row] for row in best]),
        np.log(np.array([[p for _, p in row] for row in best], np.float32)),
        {},
        np.empty(0, np.int64),
    )


def tree_after(drafter: RecyclingDrafter, budget: int):
    drafter.plant(TreeLimits(budget, budget, 8))
    while drafter.grow(1, no_progress):
        pass
    return drafter.snapshot(budget)


def test_the_tree_follows_the_targets_latest_feedback():
    drafter = RecyclingDrafter(100)
    drafter.begin([1, 2], Sampler(), no_progress)
    drafter.observe_prefill(feedback({2: {5: 0.9, 6: 0.1}}))
    drafter.advance([5], feedback({5: {7: 0.8, 2: 0.2}, 7: {8: 0.9}}))
    tree = tree_after(drafter, 2)
    assert tree.tokens.tolist() == [7, 8]
    assert np.allclose(np.exp(tree.log_probs), [0.8, 0.9])


def test_newer_feedback_replaces_older_feedback():
    drafter = RecyclingDrafter(100)
    drafter.begin([1, 2], Sampler(), no_progress)
    drafter.advance([5], feedback({5: {7: 0.9}}))
    drafter.advance([5], feedback({5: {9: 0.9}}))
    assert tree_after(drafter, 1).tokens.tolist() == [9]


def test_pairs_of_the_prompt_are_used_until_the_target_gives_feedback():
    drafter = RecyclingDrafter(100)
    drafter.begin([3, 4, 5, 3], Sampler(), no_progress)
    assert tree_after(drafter, 2).tokens.tolist() == [4, 5]


def test_an_unknown_root_gives_an_empty_tree():
    drafter = RecyclingDrafter(100)
    drafter.begin([1], Sampler(), no_progress)
    assert len(tree_after(drafter, 8)) == 0
