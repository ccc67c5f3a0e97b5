"""Failed set-ups leave the old runtime working, and a retry finishes."""

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from engine import runtime
from engine.hub.errors import DiskFull
from engine.launch import interpreter
from engine.runtime.progress import STAGES
from tests.engine.runtime.conftest import App
from tests.engine.runtime.made_up import TORCH, Index, make_archive, make_wheel

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the miniature app has Linux's layout")


def test_a_wrong_hash_keeps_the_old_runtime_and_a_retry_finishes(app: App) -> None:
    old = app.set_up()
    wheel = make_wheel(app.wheels, "torch", "2.14.0", TORCH)
    app.list_torch(wheel, digest="0" * 64)
    setup = app.setup()
    assert not app.setup_done(setup)
    assert isinstance(setup.error, runtime.BadPackage)
    assert runtime.current() == old
    assert app.answer()["said"] == "one"
    app.list_torch(wheel)
    assert app.setup_done(setup)
    assert runtime.current() != old


def test_after_a_broken_connection_a_retry_downloads_only_the_rest(app: App, index: Index) -> None:
    old = app.set_up()
    index.cut_after = 500_000
    setup = app.setup(mirror=index.url)
    assert not app.setup_done(setup)
    assert isinstance(setup.error, runtime.Unreachable)
    assert setup.progress().stage == "torch"
    assert runtime.current() == old
    assert app.answer()["said"] == "one"
    index.cut_after = None
    index.requested.clear()
    assert app.setup_done(setup)
    assert runtime.current() != old
    files = [path for path in index.requested if path.startswith("/files/")]
    assert any("torch" in path for path in files)
    assert not any("thinking" in path for path in files)
    assert app.answer()["said"] == "one"


def test_a_missing_network_is_reported(app: App, index: Index) -> None:
    index.close()
    setup = app.setup(mirror=index.url)
    assert not app.setup_done(setup)
    assert isinstance(setup.error, runtime.Unreachable)
    assert "runtime file" in setup.error.hint


def test_too_little_disk_space_is_reported_before_any_download(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.hub.disk.free", lambda folder: 1 << 20)
    setup = app.setup()
    assert not app.setup_done(setup)
    assert setup.error is not None
    assert setup.error.kind == "disk"
    assert app.leftovers() == []


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="mounts a small file system")
@pytest.mark.parametrize("source", ["wheels", "file"])
def test_a_full_disk_is_reported_and_a_retry_finishes(
    app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    # Other programs fill the disk later.
    monkeypatch.setattr("engine.hub.disk.check_free", lambda folder, nbytes: None)
    archive = runtime.Archive(make_archive(app.wheels, tmp_path)) if source == "file" else None
    small = interpreter.runtimes_folder()
    small.mkdir(parents=True)
    if subprocess.run(["mount", "-t", "tmpfs", "tmpfs", str(small)], check=False).returncode:
        pytest.skip("mounting is not permitted")
    try:
        old = app.set_up()
        resize(small, shutil.disk_usage(small).used + 1_000_000)
        setup = runtime.Setup(runtime.backends()["cpu"], runtime.Sources(wheels=app.wheels), archive)
        assert not app.setup_done(setup)
        assert isinstance(setup.error, DiskFull)
        assert setup.error.message.startswith("The disk is full")
        assert runtime.current() == old
        assert app.answer()["said"] == "one"
        resize(small, 30_000_000)
        assert app.setup_done(setup)
        assert runtime.current() != old
    finally:
        subprocess.run(["umount", "-l", str(small)], check=True)


def resize(mounted: Path, nbytes: int) -> None:
    subprocess.run(["mount", "-o", f"remount,size={nbytes}", str(mounted)], check=True)


KILLED = """
import os, signal, sys
from pathlib import Path
from engine import files, runtime
archive, stage, moment = sys.argv[1:]
setup = runtime.Setup(runtime.backends()["cpu"], archive=runtime.Archive(Path(archive)))
def dying(owner, name, when):
    function = getattr(owner, name)
    def then_die(*arguments):
        function(*arguments)
        if (setup.progress().stage, when) == (stage, moment):
            os.kill(os.getpid(), signal.SIGKILL)
    setattr(owner, name, then_die)
dying(setup._meter, "enter", "begin")
dying(setup._meter, "continue_with", "begin")
dying(setup._meter, "set_activity", "inside")
dying(files, "sync_folder", "inside")
setup.start()
setup.wait()
"""
MOMENTS = [(stage, moment) for stage in STAGES for moment in ("begin", "inside")]
MOMENTS.remove(("checking", "inside"))  # this stage reports no activity


@pytest.mark.parametrize(("stage", "moment"), MOMENTS)
def test_a_kill_at_any_stage_keeps_the_old_runtime_and_the_next_set_up_finishes(
    app: App, tmp_path: Path, stage: str, moment: str
) -> None:
    old = app.set_up()
    archive = make_archive(app.wheels, tmp_path)
    program = [str(app.python), "-I", "-c", KILLED, str(archive), stage, moment]
    died = subprocess.run(program, cwd=app.root, check=False, timeout=60, capture_output=True)
    assert died.returncode == -signal.SIGKILL, died.stderr
    assert runtime.current() == old
    assert app.answer()["said"] == "one"
    new = app.set_up()
    assert new.folder != old.folder
    runtime.tidy()
    assert app.leftovers() == []
    assert app.answer()["said"] == "one"
