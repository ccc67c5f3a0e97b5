import math

from app.thinking.node_words import describe, percent
from app.thinking.tree_layout import BONUS, ROOT
from engine.protocol.messages import Judged
from tests.app.fake_engine import grown, verdict


def test_why_a_node_was_rejected() -> None:
    event = verdict(1)  # 0 and 2 accepted, then the bonus token
    assert describe(event, 0).endswith("Accepted.")
    assert "went on with “␣quick”" in describe(event, 1)
    assert "went on with “␣brown”" in describe(event, 3)
    assert "went on with “␣bear”" in describe(event, 4)
    assert describe(event, 5).endswith("Rejected: its parent was.")
    event.bonus_token = None
    assert describe(event, 4).endswith("the answer ended before it.")


def test_a_node_is_told_with_token_source_probabilities_and_rank() -> None:
    event = verdict(1)
    event.tree.sources[1] = 1 | 4
    event.judged = Judged(nodes=[1, 4], log_probs=[math.log(0.25), -1.0], ranks=[2, 1])
    said = describe(event, 1)
    assert "token 11, proposed by: draft model, n-gram." in said
    assert "Draft 22.3 %, target 25.0 %, its rank 2." in said
    assert "target" not in describe(event, 0).split("Accepted")[0], "it was not judged"


def test_growing_nodes_root_and_bonus_have_words_too() -> None:
    assert "Not judged yet." in describe(grown(1), 0)
    assert "the tree grows from it" in describe(verdict(1), ROOT)
    assert "bonus token" in describe(verdict(1), BONUS)


def test_a_tiny_probability_is_not_nothing() -> None:
    assert percent(-20.0) == "less than 0.1 %"
    assert percent(0.0) == "100 %"
