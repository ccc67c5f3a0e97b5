"""A node in words: what it is, who proposed it, what the target thought, why it was rejected."""

import math

from PySide6.QtCore import QCoreApplication

from app import words
from app.thinking.sources import sources
from app.thinking.token_text import visible
from app.thinking.tree_layout import BONUS, ROOT
from engine.protocol.messages import IterationDone, TreeGrown


def _tr(text: str) -> str:
    return QCoreApplication.translate("node_words", text)


def percent(log_prob: float) -> str:
    """e^log_prob as a share; tiny ones are not nothing."""
    share = 100 * math.exp(min(0.0, log_prob))
    return _tr("less than 0.1 %") if share < 0.1 else _tr("{} %").format(words.decimal(share))


def describe(event: TreeGrown | IterationDone, node: int) -> str:
    """One sentence or several, for a tip and for a screen reader."""
    tree = event.tree
    if node == ROOT:
        return _tr("“{}”: the last token of the text so far; the tree grows from it.").format(
            visible(tree.root_text)
        )
    if node == BONUS:
        assert isinstance(event, IterationDone)
        text = _tr("“{}”, token {}: the bonus token. {}")
        return text.format(visible(event.bonus_text), event.bonus_token, _bonus_reason(event))
    by = ", ".join(source.name for source in sources(tree.sources[node]))
    named = _tr("“{}”, token {}, proposed by: {}.").format(
        visible(tree.texts[node]), tree.tokens[node], by or _tr("nobody")
    )
    return " ".join([named, _probabilities(event, node), verdict(event, node)])


def verdict(event: TreeGrown | IterationDone, node: int) -> str:
    """Accepted, or why not."""
    if not isinstance(event, IterationDone):
        return _tr("Not judged yet.")
    if node in event.accepted:
        return _tr("Accepted.")
    parent = event.tree.parents[node]
    path = [ROOT, *event.accepted]
    if parent not in path:
        return _tr("Rejected: its parent was.")
    chosen = _after(event, path.index(parent))
    if chosen is None:
        return _tr("Rejected: the answer ended before it.")
    return _tr("Rejected: the target went on with “{}”.").format(visible(chosen))


def _after(event: IterationDone, depth: int) -> str | None:
    """The text of the token committed at a depth; None where the answer ended before."""
    if depth < len(event.accepted):
        return event.tree.texts[event.accepted[depth]]
    return event.bonus_text if event.bonus_token is not None else None


def _probabilities(event: TreeGrown | IterationDone, node: int) -> str:
    drafted = percent(event.tree.log_probs[node])
    judged = event.judged if isinstance(event, IterationDone) else None
    if judged is None or node not in judged.nodes:
        return _tr("Draft {}.").format(drafted)
    at = judged.nodes.index(node)
    text = _tr("Draft {}, target {}, its rank {}.")
    return text.format(drafted, percent(judged.log_probs[at]), words.number(judged.ranks[at]))


def _bonus_reason(event: IterationDone) -> str:
    if event.committed is None or len(event.committed.log_probs) <= len(event.accepted):
        return _tr("The target's own, for the work of checking was done.")
    said = event.committed.log_probs[len(event.accepted)]
    return _tr("The target's own, {} probable to it.").format(percent(said.log_prob))
