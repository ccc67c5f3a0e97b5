"""The vocabulary of a tokenizer as plain data, for `engine.checkpoints.vocabulary`."""

from engine.tokenizer.tokenizer import Tokenizer


def vocabulary_of(tokenizer: Tokenizer) -> dict[int, str]:
    """Return for each token id the token, spelled as in the tokenizer's files."""
    vocabulary = tokenizer.backend.get_vocab(with_added_tokens=True)
    return {index: token for token, index in vocabulary.items()}
