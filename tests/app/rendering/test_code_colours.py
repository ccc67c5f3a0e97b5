import pytest

from app.rendering.code_colours import Growing, highlight, shown_name

CODE = '''@cache
def f(x: int) -> str:
    """Say.

    Twice.
    """
    return "😀" * 2  # why
'''


def kinds(code: str) -> dict[str, str]:
    return {code[start:stop]: kind for start, stop, kind in highlight(code, "python")}


def test_code_is_coloured_by_kind() -> None:
    found = kinds(CODE)
    assert found["def"] == found["return"] == "keyword"
    assert found["f"] == found["int"] == found["@cache"] == "name"
    assert found["# why"] == "comment"
    assert found["2"] == "number"
    assert found["😀"] == "string"


@pytest.mark.parametrize("language", ["", "no-such-language", "py thon", "../../etc"])
def test_unknown_languages_stay_plain(language: str) -> None:
    assert highlight("def f(): pass", language) == []


def test_growing_code_has_the_colours_of_whole_code() -> None:
    growing = Growing()
    for end in range(0, len(CODE) + 1, 3):
        spans = growing.highlight(CODE[:end], "python")
        assert spans == highlight(CODE[:end], "python")


def test_growing_code_is_not_lexed_again_for_every_line(monkeypatch: pytest.MonkeyPatch) -> None:
    read = 0

    def count(code: str, language: str) -> list[tuple[int, int, str]]:
        nonlocal read
        read += len(code)
        return highlight(code, language)

    monkeypatch.setattr("app.rendering.code_colours.highlight", count)
    growing = Growing()
    code = "x = 1\n" * 500
    for end in range(0, len(code), 6):
        growing.highlight(code[:end], "python")
    assert read < 500 * 1_500


def test_languages_have_names() -> None:
    assert shown_name("js") == "JavaScript"
    assert shown_name("") == ""
    assert shown_name("my-language" * 10) == ("my-language" * 10)[:24]
