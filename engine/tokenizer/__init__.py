"""Text to token ids and back: tokenizers from GGUF files and folders, chat templates, streaming text."""

from engine.tokenizer.tokenizer import Tokenizer, load_tokenizer
from engine.tokenizer.vocabulary import check_same_vocabulary, vocabulary_of

__all__ = ["Tokenizer", "check_same_vocabulary", "load_tokenizer", "vocabulary_of"]
