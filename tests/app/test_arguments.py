import pytest

from app.arguments import Arguments, parse


def test_nothing_said_leaves_the_choice_to_the_engine() -> None:
    assert parse([]) == Arguments(target=None, draft="auto", drafter="auto", budget=None)


def test_what_is_said_is_passed_along() -> None:
    said = parse(["--target", "m.gguf", "--draft", "none", "--drafter", "recycling", "--budget", "64"])
    assert said == Arguments("m.gguf", "none", "recycling", 64)


@pytest.mark.parametrize("budget", ["0", "-1", "5000", "x", "1.5", "٣", ""])
def test_a_senseless_budget_is_bad_usage(budget: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        parse([f"--budget={budget}"])
    assert end.value.code == 2
    assert "from 1 to 4096" in capsys.readouterr().err
