"""Expected tokens per pass."""

from engine.planner.acceptance import Acceptance


def test_a_pass_gives_no_more_tokens_than_it_has_rows():
    for budget in (0, 1, 3, 1023):
        assert Acceptance(1.6, "estimated").tokens(budget) <= 1 + budget
    assert Acceptance(1.6, "estimated").tokens(7) == 1 + 1.6 * 3
