"""Decide whether two models have the same vocabulary, so that one can draft for the other.

A vocabulary is plain data: a mapping from each token id to the token as the tokenizer spells it. The engine
compares loaded tokenizers; the window compares `tokenizer.json` files from the Hub.
"""

import re
from collections.abc import Mapping

ANOTHER_DRAFT = "Choose a draft of the target's model family, or run without a draft model."

# Names of tokens that no text uses: those that pad the table to a round size, or are reserved for later.
UNUSED = re.compile(
    r"\[PAD\d*\]|<pad\d*>|\[EMPTY_\d+\]"
    r"|[\[<]\|?_*(unused|reserved|dummy|extra|placeholder)[\w .:-]*\|?[\]>]",
    re.IGNORECASE,
)


def vocabulary_difference(target: Mapping[int, str], draft: Mapping[int, str]) -> str | None:
    """Return one sentence that says how the two vocabularies differ; None if they are the same.

    They are the same if every id stands for the same token in both. An id is ignored if each vocabulary
    either lacks it or gives it an unused token, as for padding at the end.
    """
    differing = [
        index
        for index in sorted(target.keys() | draft.keys())
        if target.get(index) != draft.get(index)
        and not (is_unused(target.get(index)) and is_unused(draft.get(index)))
    ]
    if not differing:
        return None
    first = differing[0]
    ends = max(target, default=-1), max(draft, default=-1)
    if first > min(ends):
        longer, owner, other = (
            (target, "target", "draft") if ends[0] > ends[1] else (draft, "draft", "target")
        )
        return (
            f"The {owner} has {counted(len(differing))} that the {other} does not have; the first is token "
            f"{first:,}, {longer[first]!r}."
        )
    return (
        f"The draft numbers {len(differing):,} of {counted(len(target))} differently: token {first:,} is "
        f"{_spelled(target.get(first))} in the target and {_spelled(draft.get(first))} in the draft."
    )


def is_unused(token: str | None) -> bool:
    return token is None or UNUSED.fullmatch(token) is not None


def counted(tokens: int) -> str:
    return "1 token" if tokens == 1 else f"{tokens:,} tokens"


def _spelled(token: str | None) -> str:
    return "missing" if token is None else repr(token)
