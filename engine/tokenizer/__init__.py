"""Convert text to token ids and back: tokenizers of GGUF files and folders, chat templates, text streams."""

from engine.tokenizer.tokenizer import Tokenizer, load_tokenizer
from engine.tokenizer.vocabulary import vocabulary_of

__all__ = ["Tokenizer", "load_tokenizer", "vocabulary_of"]
