"""A node of the token tree as the user reads it: its text, the drafters that proposed it, its verdict."""

import math
import unicodedata
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QCoreApplication

from app import formatting
from app.panel.tree_layout import BONUS, ROOT
from app.widgets.palettes import Palette
from engine.protocol.messages import IterationDone, TreeGrown
from engine.tree import (
    GROWN_AHEAD,
    SOURCE_DRAFT,
    SOURCE_HEADS,
    SOURCE_LOOKAHEAD,
    SOURCE_NGRAM,
    SOURCE_RECYCLING,
)

MAX_CHARACTERS = 24

Shape = Literal["circle", "diamond", "triangle", "square", "cross"]

_VISIBLE = {" ": "␣", "\n": "↵", "\r": "↵", "\t": "⇥"}


def _tr(text: str) -> str:
    return QCoreApplication.translate("node_words", text)


def visible(text: str) -> str:
    """Return a token's text with whitespace and invisible characters made visible, cut to 24 characters."""
    if not text:
        return "∅"
    shown = "".join(_visible_character(c) for c in text[:MAX_CHARACTERS])
    return shown + "…" if len(text) > MAX_CHARACTERS else shown


def _visible_character(character: str) -> str:
    if character in _VISIBLE:
        return _VISIBLE[character]
    # Control characters, format characters, which could reorder the label, and unassigned ones.
    return "·" if unicodedata.category(character)[0] == "C" else character


# -- sources -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Source:
    """A drafter that proposes tokens, with the colour and the shape that stand for it.

    bit: its bit in `TreeNodes.sources`. role: the field of `Palette` with its colour.
    """

    bit: int
    role: str
    shape: Shape

    @property
    def name(self) -> str:
        return {
            SOURCE_DRAFT: _tr("draft model"),
            SOURCE_NGRAM: _tr("n-gram"),
            SOURCE_RECYCLING: _tr("recycling"),
            SOURCE_LOOKAHEAD: _tr("lookahead"),
            SOURCE_HEADS: _tr("heads"),
        }[self.bit]

    def colour(self, colours: Palette) -> str:
        value: str = getattr(colours, self.role)
        return value


SOURCES = (
    Source(SOURCE_DRAFT, "source_draft", "circle"),
    Source(SOURCE_NGRAM, "source_ngram", "diamond"),
    Source(SOURCE_RECYCLING, "source_recycling", "triangle"),
    Source(SOURCE_LOOKAHEAD, "source_lookahead", "square"),
    Source(SOURCE_HEADS, "source_heads", "cross"),
)


def sources(bits: int) -> list[Source]:
    """Return the sources in a bit set; the first gives a token its colour. Tokens of the target have none."""
    return [source for source in SOURCES if bits & source.bit]


def is_ahead(bits: int) -> bool:
    """Return whether a node was proposed while the target verified the tree before."""
    return bool(bits & GROWN_AHEAD)


# -- descriptions --------------------------------------------------------------------------------------------


def percent(log_prob: float) -> str:
    """Return e^log_prob as a percentage; a tiny one is not rounded to zero."""
    share = 100 * math.exp(min(0.0, log_prob))
    return _tr("less than 0.1 %") if share < 0.1 else _tr("{} %").format(formatting.decimal(share))


def describe(event: TreeGrown | IterationDone, node: int) -> str:
    """Describe a node in one or more sentences, for a tool tip and for a screen reader."""
    tree = event.tree
    if node == ROOT:
        return _tr("“{}”: the last token of the text so far. The tree grows from it.").format(
            visible(tree.root_text)
        )
    if node == BONUS:
        assert isinstance(event, IterationDone)
        text = _tr("“{}”, token {}: the bonus token. {}")
        return text.format(visible(event.bonus_text), event.bonus_token, _bonus_reason(event))
    by = ", ".join(source.name for source in sources(tree.sources[node]))
    named = _tr("“{}”, token {}, proposed by: {}.").format(
        visible(tree.texts[node]), tree.tokens[node], by or _tr("unknown")
    )
    ahead = (
        [_tr("Proposed while the target verified the tree before.")] if is_ahead(tree.sources[node]) else []
    )
    return " ".join([named, *ahead, _probabilities(event, node), verdict(event, node)])


def verdict(event: TreeGrown | IterationDone, node: int) -> str:
    """Say whether a node was accepted, why it was rejected, or that it is not verified yet."""
    if not isinstance(event, IterationDone):
        return _tr("Not verified yet.")
    if node in event.accepted:
        return _tr("Accepted.")
    parent = event.tree.parents[node]
    path = [ROOT, *event.accepted]
    if parent not in path:
        return _tr("Rejected: its parent was rejected.")
    chosen = _committed_text(event, path.index(parent))
    if chosen is None:
        return _tr("Rejected: the answer ended before it.")
    return _tr("Rejected: the target chose “{}”.").format(visible(chosen))


def _committed_text(event: IterationDone, depth: int) -> str | None:
    """Return the text of the token committed at a depth, or None if the answer ended before it."""
    if depth < len(event.accepted):
        return event.tree.texts[event.accepted[depth]]
    return event.bonus_text if event.bonus_token is not None else None


def _probabilities(event: TreeGrown | IterationDone, node: int) -> str:
    drafted = percent(event.tree.log_probs[node])
    judged = event.judged if isinstance(event, IterationDone) else None
    if judged is None or node not in judged.nodes:
        return _tr("Draft {}.").format(drafted)
    at = judged.nodes.index(node)
    text = _tr("Draft {}, target {} (rank {}).")
    return text.format(drafted, percent(judged.log_probs[at]), formatting.number(judged.ranks[at]))


def _bonus_reason(event: IterationDone) -> str:
    if event.committed is None or len(event.committed.log_probs) <= len(event.accepted):
        return _tr("The target's own choice, from the same pass that verified the tree.")
    log_prob = event.committed.log_probs[len(event.accepted)].log_prob
    return _tr("The target's own choice, with a probability of {}.").format(percent(log_prob))
