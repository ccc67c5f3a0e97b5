"""Vocabularies of GGUF files: merges, spaces and special tokens as in the original tokenizers; errors."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import BadCheckpoint, UnsupportedModel
from engine.tokenizer.pre_tokenizers import pre_tokenizer
from tests.engine.tokenizer.samples import SOME, WORDS, byte_level, gemma4, real, sentence_piece, tokenizer


@SOME
@given(text=st.text(st.sampled_from("helowrd x"), max_size=30))
def test_scores_merge_as_sentence_piece_does(text: str) -> None:
    # SentencePiece merges the neighbours whose union has the best score, leftmost first, until no pair is
    # left.
    vocabulary = sentence_piece()
    score = dict(zip(vocabulary.tokens[259:], vocabulary.scores[259:].tolist(), strict=True))  # type: ignore[index]
    pieces = list(("\u2581" + text.replace(" ", "\u2581")) if text else "")
    while True:
        pairs = [(score[a + b], -i) for i, (a, b) in enumerate(pairwise(pieces)) if a + b in score]
        if not pairs:
            break
        at = -max(pairs)[1]
        pieces[at : at + 2] = [pieces[at] + pieces[at + 1]]
    expected = [
        index
        for piece in pieces
        for index in (
            [vocabulary.tokens.index(piece)] if piece in score else [3 + byte for byte in piece.encode()]
        )
    ]
    assert tokenizer(vocabulary).encode(text) == expected


def test_text_without_a_token_becomes_bytes_and_is_restored() -> None:
    ours = tokenizer(sentence_piece())
    for text in ("hello world", "日本 😀\n", " two  spaces ", ""):
        assert ours.decode(ours.encode(text)) == text
    assert ours.decode(ours.encode("日")) == "日"
    assert ours.encode("日")[1:] == [3 + byte for byte in "日".encode()]
    bare = tokenizer(sentence_piece(add_space_prefix=False))
    assert bare.encode("he") == [bare.backend.token_to_id("he")]


def test_gemmas_tokens_of_spaces_and_line_ends_stay_whole() -> None:
    # As convert_hf_to_gguf.py writes Gemma's: user-defined tokens with real spaces, no space prefix.
    tokens = ["<pad>", "<eos>", "<bos>", "<unk>", "<start_of_turn>", "\n", "\n\n", "  ", "   "]
    kinds = [3, 3, 3, 3, 3, 4, 4, 4, 4] + [1] * len(WORDS)
    gemma = sentence_piece(
        tokens=[*tokens, *WORDS],
        types=np.array(kinds, np.int32),
        scores=np.arange(0, -len(kinds), -1, dtype=np.float32),
        bos_id=2,
        eos_id=1,
        unknown_id=3,
        add_space_prefix=False,
    )
    ours = tokenizer(gemma)
    text = "<start_of_turn>he\n\n\nh   e  h"
    spelled = [ours.backend.id_to_token(token) for token in ours.encode(text)]
    assert spelled == ["<start_of_turn>", "he", "\n\n", "\n", "h", "   ", "e", "  ", "h"]
    assert ours.decode(ours.encode(text)) == text.removeprefix("<start_of_turn>")


def test_gemma4_merges_pairs_as_listed_and_ends_turns() -> None:
    vocabulary = gemma4()
    for gemma in (vocabulary, replace(vocabulary, add_bos=None, add_space_prefix=None)):
        ours = tokenizer(gemma)
        text = "<|turn>hello  w\n\n\nh<turn|>"
        spelled = [ours.backend.id_to_token(token) for token in ours.encode(text)]
        assert spelled == ["<|turn>", "hell", "o\u2581", "\u2581w", "\n\n", "\n", "h", "<turn|>"]
        assert ours.decode(ours.encode(text)) == "hello  w\n\n\nh"
        assert ours.encode_prompt("h") == [1, *ours.encode("h")]
        assert gemma.tokens.index("<turn|>") in ours.eos_ids
    with pytest.raises(BadCheckpoint, match="no merges"):
        tokenizer(replace(vocabulary, merges=None))


def test_special_tokens_of_phi3_swallow_the_white_space_after_them() -> None:
    added = ["<|endoftext|>", "<|placeholder1|>", "<|user|>", "<|end|>"]
    usual = sentence_piece()
    assert usual.scores is not None
    assert usual.types is not None
    changes: dict[str, Any] = dict(
        scores=np.append(usual.scores, [-1000.0] * 4).astype(np.float32),
        types=np.append(usual.types, [3] * 4).astype(np.int32),
    )
    text = "<|user|>\n he<|end|>\n<|endoftext|> he"
    phi3 = tokenizer(replace(usual, tokens=[*usual.tokens, *added], **changes))
    spelled = [phi3.backend.id_to_token(token) for token in phi3.encode(text)]
    space = "\u2581"  # prefix of every text
    assert spelled == ["<|user|>", space, "he", "<|end|>", "<|endoftext|>", space, space, "he"]
    other = tokenizer(replace(usual, tokens=[*usual.tokens, "<|x|>", "<|y|>", *added[2:]], **changes))
    assert "<0x0A>" in [other.backend.id_to_token(token) for token in other.encode(text)]


def test_gpt4o_splits_words_as_o200k_does() -> None:
    text = "HelloWorld's 12345 ÉCOLE-dès\n\n don't"
    pieces = [text[start:end] for _, (start, end) in pre_tokenizer("gpt-4o").build().pre_tokenize_str(text)]
    assert pieces == ["Hello", "World's", " ", "123", "45", " ÉCOLE", "-dès", "\n\n", " don't"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("glm4", ["Hello", "World", "'S", " ", "123", "45", "!\n", "x", "\n\n", " don", "'t"]),
        ("seed-coder", ["Hello", "World", "'S", " ", *"12345", "!", "\n", "x", "\n\n", " don", "'t"]),
    ],
)
def test_words_numbers_and_line_ends_are_split_as_by_llama_cpp(name: str, expected: list[str]) -> None:
    text = "HelloWorld'S 12345!\nx\n\n don't".replace("oW", "o\u200bW")
    pieces = [text[start:end] for _, (start, end) in pre_tokenizer(name).build().pre_tokenize_str(text)]
    assert [piece.removeprefix("\u200b") for piece in pieces] == expected


@pytest.mark.parametrize(
    ("name", "whole", "starts"),
    [
        ("lfm2", True, True),
        ("tekken", True, True),
        ("glm4", True, False),
        ("chatglm-bpe", False, False),
        ("smaug-bpe", False, False),
    ],
)
def test_a_word_that_is_a_token_may_need_no_merges(name: str, whole: bool, starts: bool) -> None:
    usual = byte_level()
    read = tokenizer(replace(usual, tokens=[*usual.tokens[:-1], "zq"], pre=name, add_bos=None))
    tokens = [read.backend.id_to_token(token) for token in read.encode_prompt("zq")]
    assert tokens == ["<|im_start|>"] * starts + (["zq"] if whole else ["z", "q"])


def test_qwen_encodes_composed_and_decomposed_letters_alike() -> None:
    # Qwen's own tokenizer composes; llama.cpp does not.
    assert real("coder-draft").encode("cafe\u0301") == real("coder-draft").encode("caf\u00e9")


@pytest.mark.parametrize(
    ("changes", "error", "reason"),
    [
        ({"model": "bert"}, UnsupportedModel, "'bert'"),
        ({"pre": "falcon"}, UnsupportedModel, "'falcon'"),
        ({"merges": None}, BadCheckpoint, "no merges"),
        ({"merges": ["ab"]}, BadCheckpoint, "not a pair"),
        ({"merges": ["a "]}, BadCheckpoint, "not a pair"),
        ({"merges": ["a zzz"]}, BadCheckpoint, "not valid"),
        ({"merges": ["a d"]}, BadCheckpoint, "not valid"),
        ({"tokens": ["a"] * 262}, BadCheckpoint, "duplicate"),
    ],
)
def test_errors_in_a_vocabulary_are_named(
    changes: dict[str, Any], error: type[Exception], reason: str
) -> None:
    with pytest.raises(error, match=reason):
        tokenizer(byte_level(**changes))


def test_empty_tokens_and_tokens_with_a_leading_space_are_accepted() -> None:
    tokens = [*byte_level().tokens[:260], "", "  b"]
    ours = tokenizer(byte_level(tokens=tokens, types=None, merges=["a b"]))
    assert ours.vocabulary_size == 262
    assert isinstance(ours.backend, tokenizers.Tokenizer)


def test_sentence_pieces_need_scores_or_merges() -> None:
    with pytest.raises(BadCheckpoint, match="neither scores nor merges"):
        tokenizer(sentence_piece(scores=None))
    assert tokenizer(sentence_piece(scores=None, merges=["h e"])).encode("he")
