"""The vocabulary of a tokenizer as plain data."""

from engine.checkpoints.vocabulary import Vocabulary
from engine.tokenizer.tokenizer import Tokenizer


def vocabulary_of(tokenizer: Tokenizer) -> Vocabulary:
    found = tokenizer.backend.get_vocab(with_added_tokens=True)
    return Vocabulary({index: token for token, index in found.items()}, tokenizer.special_ids)
