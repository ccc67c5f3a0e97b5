import pytest

from app.window.arguments import Arguments, parse


def test_without_arguments_the_engine_chooses() -> None:
    assert parse([]) == Arguments(target=None, draft="auto", drafter="auto", budget=None)


def test_arguments_are_parsed() -> None:
    said = parse(["--target", "m.gguf", "--draft", "none", "--drafter", "recycling", "--budget", "64"])
    assert said == Arguments("m.gguf", "none", "recycling", 64)


@pytest.mark.parametrize("budget", ["0", "-1", "5000", "x", "1.5", "٣", ""])
def test_an_invalid_budget_is_a_usage_error(budget: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        parse([f"--budget={budget}"])
    assert end.value.code == 2
    assert "from 1 to 4096" in capsys.readouterr().err
