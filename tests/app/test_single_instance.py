import subprocess
import sys
from pathlib import Path

from pytestqt.qtbot import QtBot

from app.single_instance import SingleInstance, server_name

# A first one that ends without a word, as in a crash.
CRASH = """
import os, sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from app.single_instance import SingleInstance
app = QCoreApplication([])
first = SingleInstance(Path(sys.argv[1]))
assert first.is_first
os._exit(3)
"""
SECOND = """
import sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from app.single_instance import SingleInstance
app = QCoreApplication([])
second = SingleInstance(Path(sys.argv[1]))
sys.exit(0 if not second.is_first and second.raise_first() else 1)
"""


def start(program: str, folder: Path) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, "-c", program, str(folder)])


def test_a_second_start_raises_the_first_window(tmp_path: Path, qtbot: QtBot) -> None:
    first = SingleInstance(tmp_path)
    assert first.is_first
    with qtbot.waitSignal(first.raise_asked, timeout=20_000):
        second = start(SECOND, tmp_path)
    assert second.wait(20) == 0
    first.close()


def test_what_a_crash_left_is_in_nobodys_way(tmp_path: Path, qtbot: QtBot) -> None:
    assert start(CRASH, tmp_path).wait(20) == 3
    assert (tmp_path / "window.lock").exists()
    first = SingleInstance(tmp_path)
    assert first.is_first
    with qtbot.waitSignal(first.raise_asked, timeout=20_000):
        second = start(SECOND, tmp_path)
    assert second.wait(20) == 0
    first.close()


def test_after_the_first_one_has_ended_the_next_is_the_first(tmp_path: Path, qtbot: QtBot) -> None:
    first = SingleInstance(tmp_path)
    second = SingleInstance(tmp_path)
    assert not second.is_first
    first.close()
    third = SingleInstance(tmp_path)
    assert third.is_first
    third.close()


def test_a_first_one_that_does_not_answer_is_found_out(tmp_path: Path, qtbot: QtBot) -> None:
    first = SingleInstance(tmp_path)
    first._server.close()
    assert not SingleInstance(tmp_path).raise_first()
    first.close()


def test_two_users_do_not_meet(tmp_path: Path, monkeypatch) -> None:
    one = server_name(tmp_path)
    monkeypatch.setattr("getpass.getuser", lambda: "somebody else")
    assert server_name(tmp_path) != one
    assert len(one) < 40
