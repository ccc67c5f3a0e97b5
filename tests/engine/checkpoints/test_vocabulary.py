"""The rule by which a draft numbers the target's tokens identically."""

import pytest

from engine.checkpoints.vocabulary import is_unused, vocabulary_difference

LETTERS = {0: "a", 1: "b", 2: "c"}


def test_equal_tokens_with_equal_ids_are_the_same() -> None:
    assert vocabulary_difference(LETTERS, dict(reversed(LETTERS.items()))) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [("<unused5>", "<|reserved_special_token_5|>"), ("[PAD7]", None), ("<pad>", "[EMPTY_3]")],
)
def test_unused_tokens_may_differ(one: str, other: str | None) -> None:
    longer, shorter = LETTERS | {3: one}, LETTERS | ({3: other} if other else {})
    assert vocabulary_difference(longer, shorter) is None
    assert vocabulary_difference(shorter, longer) is None
    assert vocabulary_difference(longer, LETTERS | {3: "word"}) is not None


def test_different_ids_are_counted() -> None:
    assert vocabulary_difference(LETTERS, {0: "a", 1: "c", 2: "b"}) == (
        "The draft numbers 2 of 3 tokens differently: token 1 is 'b' in the target and 'c' in the draft."
    )
    assert vocabulary_difference(LETTERS, {0: "a", 2: "c"}) == (
        "The draft numbers 1 of 3 tokens differently: token 1 is 'b' in the target and missing in the draft."
    )


def test_tokens_that_one_model_lacks_at_the_end_are_counted() -> None:
    longer = LETTERS | {3: "[PAD3]", 4: "word", 5: "other"}
    assert vocabulary_difference(LETTERS, longer) == (
        "The draft has 2 tokens that the target does not have; the first is token 4, 'word'."
    )
    assert vocabulary_difference({0: "a", 1: "b"} | {2: "c"}, {0: "a", 1: "b"}) == (
        "The target has 1 token that the draft does not have; the first is token 2, 'c'."
    )


@pytest.mark.parametrize("token", [None, "<unused0>", "<|reserved_special_token_0|>", "<|dummy_3|>", "[PAD]"])
def test_names_of_unused_ids(token: str | None) -> None:
    assert is_unused(token)


@pytest.mark.parametrize("token", ["pad", "[UNK]", "<s>", "", "<|im_end|>"])
def test_names_of_ids_in_use(token: str) -> None:
    assert not is_unused(token)
