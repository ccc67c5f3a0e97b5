"""Whether two tokenizers number the same tokens alike, so that one model can draft for the other."""

import re
from typing import TYPE_CHECKING

from engine.errors import VocabularyMismatch

if TYPE_CHECKING:
    from engine.tokenizer.tokenizer import Tokenizer

# Names of ids no text uses: padding of the table to a round size, places kept free for later.
UNUSED = re.compile(
    r"\[PAD\d*\]|<pad\d*>|\[EMPTY_\d+\]"
    r"|[\[<]\|?_*(unused|reserved|dummy|extra|placeholder)[\w .:-]*\|?[\]>]",
    re.IGNORECASE,
)


def vocabulary_of(tokenizer: "Tokenizer") -> tuple[str | None, ...]:
    """The token of each id as the tokenizer spells it, `[vocabulary_size]`; None where there is none."""
    tokens: list[str | None] = [None] * tokenizer.vocabulary_size
    for token, index in tokenizer.backend.get_vocab(with_added_tokens=True).items():
        tokens[index] = token
    return tuple(tokens)


def check_same_vocabulary(target: "Tokenizer", draft: "Tokenizer") -> None:
    """Raise `VocabularyMismatch` unless every token in use has the same id in both.

    Ids that only one of them has, or that one of them names as unused, may differ.
    """
    ours, theirs = vocabulary_of(target), vocabulary_of(draft)
    size = max(len(ours), len(theirs))
    ours += (None,) * (size - len(ours))
    theirs += (None,) * (size - len(theirs))
    for index, (one, other) in enumerate(zip(ours, theirs, strict=True)):
        if one != other and not (is_unused(one) and is_unused(other)):
            raise VocabularyMismatch(
                "The draft numbers words differently from the target: "
                f"token {index} is {_shown(one)} in the target and {_shown(other)} in the draft.",
                "Choose a draft of the target's model family, or run without a draft model.",
            )


def is_unused(token: str | None) -> bool:
    return token is None or UNUSED.fullmatch(token) is not None


def _shown(token: str | None) -> str:
    return "missing" if token is None else repr(token)
