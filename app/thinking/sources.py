"""Who proposed a token: a name, a colour and a shape each. Knows no widgets."""

from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QCoreApplication

from app.theme import Tokens
from engine.tree import SOURCE_DRAFT, SOURCE_HEADS, SOURCE_LOOKAHEAD, SOURCE_NGRAM, SOURCE_RECYCLING

Shape = Literal["circle", "diamond", "triangle", "square", "cross"]


def _tr(text: str) -> str:
    return QCoreApplication.translate("sources", text)


@dataclass(frozen=True, slots=True)
class Source:
    """`bit`: of `TreeNodes.sources`; `role`: the colour's name in `theme.Tokens`."""

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

    def colour(self, colours: Tokens) -> str:
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
    """Who proposed it, the one it is drawn as first; empty for the target's own tokens."""
    return [source for source in SOURCES if bits & source.bit]
