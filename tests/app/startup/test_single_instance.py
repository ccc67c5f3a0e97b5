import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QLockFile
from pytestqt.qtbot import QtBot

from app.startup import single_instance
from app.startup.single_instance import SingleInstance, server_name

# A first instance that ends without cleaning up, as in a crash.
CRASH = """
import os, sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from app.startup.single_instance import SingleInstance
app = QCoreApplication([])
first = SingleInstance(Path(sys.argv[1]))
assert first.is_first
os._exit(3)
"""
SECOND = """
import sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from app.startup.single_instance import SingleInstance
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


def test_a_lock_left_by_a_crash_is_ignored(tmp_path: Path, qtbot: QtBot) -> None:
    assert start(CRASH, tmp_path).wait(20) == 3
    assert (tmp_path / "window.lock").exists()
    first = SingleInstance(tmp_path)
    assert first.is_first
    with qtbot.waitSignal(first.raise_asked, timeout=20_000):
        second = start(SECOND, tmp_path)
    assert second.wait(20) == 0
    first.close()


def test_after_the_first_instance_has_ended_the_next_is_the_first(tmp_path: Path, qtbot: QtBot) -> None:
    first = SingleInstance(tmp_path)
    second = SingleInstance(tmp_path)
    assert not second.is_first
    first.close()
    third = SingleInstance(tmp_path)
    assert third.is_first
    third.close()


def test_a_first_instance_that_does_not_answer_is_detected(tmp_path: Path, qtbot: QtBot) -> None:
    silent = QLockFile(str(tmp_path / "window.lock"))
    silent.setStaleLockTime(0)
    assert silent.tryLock(0)
    second = SingleInstance(tmp_path)
    assert not second.is_first
    assert not second.raise_first()
    silent.unlock()


def test_two_users_have_separate_instances(tmp_path: Path, monkeypatch) -> None:
    one = server_name(tmp_path)
    monkeypatch.setattr("getpass.getuser", lambda: "somebody else")
    monkeypatch.setattr("os.getuid", lambda: 54321, raising=False)
    assert server_name(tmp_path) != one
    assert len(one) < single_instance.MOST_PATH


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")
def test_the_socket_is_where_nobody_else_can_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runtime, data = tmp_path / "run" / "specexec-desktop", tmp_path / "d"
    for folder in (runtime, data):
        folder.mkdir(parents=True)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime.parent))
    monkeypatch.setattr(single_instance, "MOST_PATH", 1000)
    assert Path(server_name(data)).parent == runtime
    runtime.parent.chmod(0o777)  # another user could put a folder of the same name there
    assert Path(server_name(data)).parent == data
    data.chmod(0o777)
    assert not Path(server_name(data)).is_absolute()
