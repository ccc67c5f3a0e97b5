import math

import pytest

from app.panel.node_words import describe, percent, visible
from app.panel.tree_layout import BONUS, ROOT
from engine.protocol.messages import Judged
from engine.tree import GROWN_AHEAD
from tests.app.fake_engine import grown, verdict


def test_why_a_node_was_rejected() -> None:
    event = verdict(1)  # 0 and 2 accepted, then the bonus token
    assert describe(event, 0).endswith("Accepted.")
    assert "chose “␣quick”" in describe(event, 1)
    assert "chose “␣brown”" in describe(event, 3)
    assert "chose “␣bear”" in describe(event, 4)
    assert describe(event, 5).endswith("Rejected: its parent was rejected.")
    event.bonus_token = None
    assert describe(event, 4).endswith("the answer ended before it.")


def test_a_node_is_described_with_token_source_probabilities_and_rank() -> None:
    event = verdict(1)
    event.tree.sources[1] = 1 | 4
    event.judged = Judged(nodes=[1, 4], log_probs=[math.log(0.25), -1.0], ranks=[2, 1])
    text = describe(event, 1)
    assert "token 11, proposed by: draft model, n-gram." in text
    assert "Draft 22.3 %, target 25.0 % (rank 2)." in text
    assert "target" not in describe(event, 0).split("Accepted")[0], "the node was not judged"


def test_a_node_from_the_pass_before_is_described_as_such() -> None:
    event = verdict(1)
    event.tree.sources[1] = 1 | GROWN_AHEAD
    assert "proposed by: draft model. Proposed while the target verified the tree before." in describe(
        event, 1
    )
    assert "while" not in describe(event, 0)


def test_growing_nodes_root_and_bonus_token_are_described_too() -> None:
    assert "Not verified yet." in describe(grown(1), 0)
    assert "The tree grows from it" in describe(verdict(1), ROOT)
    assert "bonus token" in describe(verdict(1), BONUS)


def test_a_tiny_probability_is_not_rounded_to_zero() -> None:
    assert percent(-20.0) == "less than 0.1 %"
    assert percent(0.0) == "100 %"


@pytest.mark.parametrize(
    ("token", "shown"),
    [(" the", "␣the"), ("\n\n", "↵↵"), ("\t", "⇥"), ("", "∅"), ("\u202eevil", "·evil"), ("한국", "한국")],
)
def test_invisible_characters_are_made_visible(token: str, shown: str) -> None:
    assert visible(token) == shown


def test_long_tokens_are_cut() -> None:
    assert visible("=" * 1000) == "=" * 24 + "…"
