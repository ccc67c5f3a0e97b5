"""The entry point of the window, where its imports fail."""

import builtins

import pytest

from app.__main__ import main


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ImportError("libEGL.so.1: cannot open shared object file"), "sudo apt install libegl1"),
        (MemoryError(), "not enough free memory"),
        (OSError(24, "Too many open files"), "ulimit -n"),
        (KeyboardInterrupt(), ""),
    ],
)
def test_a_window_that_cannot_be_imported_says_why(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: BaseException, said: str
) -> None:
    import_module = builtins.__import__

    def fails(name: str, *rest: object) -> object:
        if name == "app.startup":
            raise error
        return import_module(name, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", fails)
    assert main([]) == 1
    assert said in capsys.readouterr().err
