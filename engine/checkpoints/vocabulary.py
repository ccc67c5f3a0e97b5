"""Decide whether two models have the same vocabulary, so that one can draft for the other.

The engine compares loaded tokenizers; the window compares `tokenizer.json` files from the Hub.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

ANOTHER_DRAFT = "Choose a draft of the target's model family, or run without a draft model."

# Names of tokens that no text uses: those that pad the table to a round size, or are reserved for later.
UNUSED = re.compile(
    r"\[PAD\d*\]|<pad\d*>|\[EMPTY_\d+\]"
    r"|[\[<]\|?_*(unused|reserved|dummy|extra|placeholder)[\w .:-]*\|?[\]>]",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The tokens of a model by id, spelled as in the tokenizer's files, and the ids of its special tokens,
    which stand for no text."""

    tokens: Mapping[int, str]
    special: frozenset[int] = frozenset()

    def has_text(self, index: int) -> bool:
        """Whether this id stands for text."""
        return index not in self.special and not is_unused(self.tokens.get(index))


def vocabulary_difference(target: Vocabulary, draft: Vocabulary) -> str | None:
    """Return one sentence that says how the two vocabularies differ; None if they are the same.

    They are the same if every id stands for the same token in both. An id is ignored if it stands for no
    text in either: one that is missing or unused, as for padding at the end, or special, such as the marks of
    functions that only one of the models knows.
    """
    ours, theirs = target.tokens, draft.tokens
    unequal = (index for index in ours.keys() | theirs.keys() if ours.get(index) != theirs.get(index))
    differing = sorted(index for index in unequal if target.has_text(index) or draft.has_text(index))
    if not differing:
        return None
    first = differing[0]
    ends = max(ours, default=-1), max(theirs, default=-1)
    if first > min(ends):
        longer, owner, other = (ours, "target", "draft") if ends[0] > ends[1] else (theirs, "draft", "target")
        return (
            f"The {owner} has {counted(len(differing))} that the {other} does not have; the first is token "
            f"{first:,}, {longer[first]!r}."
        )
    return (
        f"The draft numbers {len(differing):,} of {counted(len(ours))} differently: token {first:,} is "
        f"{_spelled(ours.get(first))} in the target and {_spelled(theirs.get(first))} in the draft."
    )


def is_unused(token: str | None) -> bool:
    return token is None or UNUSED.fullmatch(token) is not None


def counted(tokens: int, noun: str = "token") -> str:
    return f"1 {noun}" if tokens == 1 else f"{tokens:,} {noun}s"


def _spelled(token: str | None) -> str:
    return "missing" if token is None else repr(token)
