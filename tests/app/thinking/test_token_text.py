import pytest

from app.thinking.token_text import visible


@pytest.mark.parametrize(
    ("token", "shown"),
    [(" the", "␣the"), ("\n\n", "↵↵"), ("\t", "⇥"), ("", "∅"), ("\u202eevil", "·evil"), ("한국", "한국")],
)
def test_what_has_no_shape_is_given_one(token: str, shown: str) -> None:
    assert visible(token) == shown


def test_long_tokens_are_cut() -> None:
    assert visible("=" * 1000) == "=" * 24 + "…"
