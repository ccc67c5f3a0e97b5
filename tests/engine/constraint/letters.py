"""Grammars over the letters of the tiny random models, and sessions that obey them."""

from functools import cache
from typing import ClassVar

from engine.constraint.grammar import Grammars
from engine.constraint.masks import Masks
from tests.engine.models import VOCABULARY
from tests.engine.test_every_drafter import ALPHABET, END, Letters

TOKENS = [letter.encode() for letter in ALPHABET]


class SpellingLetters(Letters):
    """Letters, for which constraints can be compiled: the end is a token without text."""

    vocabulary_size = VOCABULARY
    special_ids = frozenset({END})
    special_names: ClassVar[dict[str, int]] = {}

    def token_bytes(self):
        return [b"<end>" if token == END else text for token, text in enumerate(TOKENS)]

    def encode(self, text):
        return [ALPHABET.index(letter) for letter in text if letter in ALPHABET]

    encode_plain = encode


@cache
def grammars() -> Grammars:
    return Grammars(SpellingLetters().token_bytes(), [END])


def masks(constraint) -> Masks:
    return Masks(grammars().start(constraint))
