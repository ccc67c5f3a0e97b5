"""The rule by which a draft numbers the target's tokens identically."""

import pytest

from engine.checkpoints.vocabulary import Vocabulary, is_unused, vocabulary_difference

LETTERS = {0: "a", 1: "b", 2: "c"}


def difference(target: dict[int, str], draft: dict[int, str]) -> str | None:
    return vocabulary_difference(Vocabulary(target), Vocabulary(draft))


def test_equal_tokens_with_equal_ids_are_the_same() -> None:
    assert difference(LETTERS, dict(reversed(LETTERS.items()))) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [("<unused5>", "<|reserved_special_token_5|>"), ("[PAD7]", None), ("<pad>", "[EMPTY_3]")],
)
def test_unused_tokens_may_differ(one: str, other: str | None) -> None:
    longer, shorter = LETTERS | {3: one}, LETTERS | ({3: other} if other else {})
    assert difference(longer, shorter) is None
    assert difference(shorter, longer) is None
    assert difference(longer, LETTERS | {3: "word"}) is not None


def test_special_tokens_may_differ_because_they_stand_for_no_text() -> None:
    target = Vocabulary(LETTERS | {3: "[THINK]", 4: "[CALL]"}, frozenset({3, 4}))
    draft = Vocabulary(LETTERS | {3: "[IMG]"}, frozenset({3}))
    assert vocabulary_difference(target, draft) is vocabulary_difference(draft, target) is None
    plain = Vocabulary(draft.tokens)
    assert vocabulary_difference(target, plain) == (
        "The draft numbers 1 of 5 tokens differently: "
        "token 3 is '[THINK]' in the target and '[IMG]' in the draft."
    )


def test_different_ids_are_counted() -> None:
    assert difference(LETTERS, {0: "a", 1: "c", 2: "b"}) == (
        "The draft numbers 2 of 3 tokens differently: token 1 is 'b' in the target and 'c' in the draft."
    )
    assert difference(LETTERS, {0: "a", 2: "c"}) == (
        "The draft numbers 1 of 3 tokens differently: token 1 is 'b' in the target and missing in the draft."
    )


def test_tokens_that_one_model_lacks_at_the_end_are_counted() -> None:
    longer = LETTERS | {3: "[PAD3]", 4: "word", 5: "other"}
    assert difference(LETTERS, longer) == (
        "The draft has 2 tokens that the target does not have; the first is token 4, 'word'."
    )
    assert difference({0: "a", 1: "b"} | {2: "c"}, {0: "a", 1: "b"}) == (
        "The target has 1 token that the draft does not have; the first is token 2, 'c'."
    )


@pytest.mark.parametrize("token", [None, "<unused0>", "<|reserved_special_token_0|>", "<|dummy_3|>", "[PAD]"])
def test_names_of_unused_ids(token: str | None) -> None:
    assert is_unused(token)


@pytest.mark.parametrize("token", ["pad", "[UNK]", "<s>", "", "<|im_end|>"])
def test_names_of_ids_in_use(token: str) -> None:
    assert not is_unused(token)
