"""Tokenizers for tests: two real ones, and small artificial ones of each type."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import HealthCheck, settings

from engine.checkpoints import Checkpoint, Generation, GgufVocabulary, TokenizerFolder, open_checkpoint
from engine.tokenizer import Tokenizer, load_tokenizer
from engine.tokenizer.decoder import BYTE_OF
from tests.engine.checkpoints.files import real_file

REAL = ["smollm2", "coder-draft"]
SOME = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
CHATML = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] | trim }}"
    "{{ '<|im_end|>\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)


@cache
def real(model: str) -> Tokenizer:
    return load_tokenizer(open_checkpoint(real_file(model)))


def tokenizer(vocabulary: GgufVocabulary | TokenizerFolder, ends: tuple[int, ...] = ()) -> Tokenizer:
    return load_tokenizer(
        Checkpoint(Path("model"), "gguf", "llama", {}, {}, vocabulary, Generation(eos_token_ids=ends))
    )


def byte_level(**changes: Any) -> GgufVocabulary:
    """Return a byte-level vocabulary: the 256 bytes and a few more tokens."""
    tokens = [*sorted(BYTE_OF), "ab", "abc", "<|im_start|>", "<|im_end|>", "<think>", "[PAD261]"]
    types = np.array([1] * 258 + [3, 3, 4, 5], np.int32)
    usual = GgufVocabulary(
        *("gpt2", "gpt-2", tokens, None, types, ["a b", "ab c"]),
        **{"bos_id": 258, "eos_id": 259, "unknown_id": None, "add_bos": False, "add_eos": None},
        **{"add_space_prefix": None, "chat_template": CHATML},
    )
    return replace(usual, **changes)


WORDS = [
    "\u2581",
    "h",
    "e",
    "l",
    "o",
    "w",
    "r",
    "d",
    "he",
    "ll",
    "lo",
    "hell",
    "\u2581w",
    "or",
    "\u2581wor",
    "ld",
    "o\u2581",
]


def sentence_piece(**changes: Any) -> GgufVocabulary:
    """Return a SentencePiece vocabulary: <unk> <s> </s>, the 256 bytes, and pieces with scores."""
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *WORDS]
    types = np.array([2, 3, 3] + [6] * 256 + [1] * len(WORDS), np.int32)
    scores = np.array([0.0] * 259 + [-float(rank) for rank in range(len(WORDS))], np.float32)
    usual = GgufVocabulary(
        *("llama", "default", tokens, scores, types, None),
        **{"bos_id": 1, "eos_id": 2, "unknown_id": 0, "add_bos": None, "add_eos": None},
        **{"add_space_prefix": None, "chat_template": None},
    )
    return replace(usual, **changes)


def gemma4() -> GgufVocabulary:
    """Return a vocabulary of Gemma 4's type, as llama.cpp's converter writes it: listed merges, also of line
    ends; a mark of thoughts that counts as text."""
    usual = sentence_piece()
    assert usual.types is not None
    tokens = [*usual.tokens, "\n", "\n\n", "<|turn>", "<turn|>", "<|channel>"]
    return replace(
        usual,
        model="gemma4",
        tokens=tokens,
        types=np.append(usual.types, [1, 1, 3, 3, 4]).astype(np.int32),
        scores=np.zeros(len(tokens), np.float32),
        merges=["h e", "l l", "he ll", "\u2581 w", "\n \n", "o \u2581"],
        add_bos=True,
        add_space_prefix=False,
    )
