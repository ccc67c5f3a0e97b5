import pytest

from app.rendering import thoughts


def parts(text: str) -> tuple[str, str]:
    found = thoughts.find(text, is_whole=True)
    return (text[found.start : found.stop], text[found.answer :]) if found else ("", text)


@pytest.mark.parametrize(
    "text",
    [
        "<think>why</think>so",
        "\n<think>why</think>\n\nso",
        "<thinking>why</thinking> so",
        "[THINK]why[/THINK]so",
        "◁think▷why◁/think▷so",
        "<|START_THINKING|>why<|END_THINKING|>so",
        "<|channel|>analysis<|message|>why<|end|><|start|>assistant<|channel|>final<|message|>so",
        "why\n</think>so",
    ],
)
def test_thought_marks_of_many_models_are_recognised(text: str) -> None:
    thought, answer = parts(text)
    assert thought.strip() == "why"
    assert answer == "so"


def test_an_open_thought_is_all_of_the_text() -> None:
    found = thoughts.find("<think>still at it")
    assert found == (7, 18, 18, True)


@pytest.mark.parametrize("text", ["so", "use `<think>` and `</think>`", "", "<table>"])
def test_other_text_is_not_a_thought(text: str) -> None:
    assert thoughts.find(text) is None


def test_a_partial_mark_waits_for_the_rest() -> None:
    found = thoughts.find("<thi")
    assert found is not None
    assert found.is_open
    assert thoughts.find("<thi", is_whole=True) is None
