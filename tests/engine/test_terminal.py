"""What commands print."""

import json
import signal

import pytest

from engine import protocol
from engine.cli.chat import about_silence, show_load
from engine.errors import BadOption
from engine.interruption import is_interrupted
from engine.terminal import cancelled_by_ctrl_c, fail, plain, say, say_piece

STEERING = [*range(0x20), *range(0x7F, 0xA0), 0x61C, 0x200E, 0x202E, 0x2028, 0x2066, 0xD800]


@pytest.mark.parametrize("code", STEERING, ids=hex)
def test_what_steers_a_terminal_is_shown_as_an_escape_that_json_understands(code: int) -> None:
    shown = plain(f"a{chr(code)}b")
    assert shown.isascii()
    assert shown.isprintable()
    assert json.loads(f'"{shown}"') == f"a{chr(code)}b"


@pytest.mark.parametrize("text", ["plain", "모델 模型", "é ü", "עברית", "👩\u200d🚀", "C:\\x"])
def test_other_text_stays_as_it_is(text: str) -> None:
    assert plain(text) == text


def test_one_line_stays_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    say("a\nb", "c")
    say("d", to_stderr=True)
    assert tuple(capsys.readouterr()) == ("a\\u000ab\nc\n", "d\n")


@pytest.mark.parametrize(("on_terminal", "shown"), [(True, "a\n\tb\\u001b[2J"), (False, "a\n\tb\x1b[2J")])
def test_an_answer_keeps_its_lines_and_goes_into_files_as_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, on_terminal: bool, shown: str
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: on_terminal)
    say_piece("a\n\tb\x1b[2J")
    assert capsys.readouterr().out == shown


def test_errors_are_plain_as_text_and_whole_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert fail(BadOption("Not \x1b[2J.", "Try another."), as_json=True) == 1
    out, err = capsys.readouterr()
    assert json.loads(out)["error"]["message"] == "Not \x1b[2J."
    assert "\x1b" not in out + err
    assert err == "Not \\u001b[2J. Try another.\n"


@pytest.mark.parametrize("ends_pass", [True, False])
def test_ctrl_c_ends_the_running_pass_where_it_is_to(ends_pass: bool) -> None:
    with cancelled_by_ctrl_c(ends_pass=ends_pass) as cancelled:
        assert not cancelled()
        signal.raise_signal(signal.SIGINT)
        assert cancelled()
        assert is_interrupted() == ends_pass
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert not is_interrupted()


def test_a_silent_disk_is_told_of_with_what_to_do() -> None:
    assert "has not answered for 20 s" in about_silence(20.3)
    assert "Ctrl-C" in about_silence(20.3)
    assert "not waited for" in about_silence(0.0)


def test_a_terminal_shows_that_kernels_are_compiled_and_how_far_weights_are_read() -> None:
    shown = []
    for stage, done, total in (("target", 3, 4), ("kernels", 0, 0), ("compiling", 1, 9)):
        progress = protocol.LoadProgress(request=1, stage=stage, done=done, total=total)
        show_load(progress, lambda *said: shown.append(said))
    assert shown[0] == (3, 4)
    assert shown[1] == (0, 0, "Preparing the model, which takes longer the first time")
    assert shown[2] == (0, 0, "Compiling kernels for your card: 1 of 9")
