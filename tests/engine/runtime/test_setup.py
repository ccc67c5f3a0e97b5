"""What a set-up does, and that nothing that goes wrong costs the runtime in use."""

import json
import os
import signal
import subprocess
import sys

import pytest

from engine import launching, runtime
from engine.runtime.progress import STAGES
from tests.engine.runtime.conftest import App
from tests.engine.runtime.made_up import BROKEN_TORCH, TORCH, Index, make_wheel

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the miniature app has Linux's layout")


def answer(*arguments: str) -> dict[str, object]:
    command = launching.command("engine.cli", *arguments)
    found: dict[str, object] = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return found


def left_over() -> list[str]:
    """Beside the runtime in use."""
    found = runtime.current()
    names = {place.name for place in launching.runtimes().iterdir()}
    return sorted(names - {"lock", "current.json", found.folder.name if found else ""})


def test_a_runtime_is_set_up_tried_and_used(app: App) -> None:
    assert runtime.current() is None
    with pytest.raises(runtime.RuntimeMissing):
        launching.command("engine.process")
    setup = app.setup()
    assert app.setup_done(setup)
    progress = setup.progress()
    assert (progress.stage, progress.trouble) == ("switching", "")
    found = runtime.current()
    assert found is not None
    assert found.backend == "cpu"
    assert runtime.is_up_to_date(found)
    assert answer("chat", "ä b")["arguments"] == ["chat", "ä b"]
    assert left_over() == []


def test_bytes_are_counted_while_packages_come(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.runtime.setup._MEASURE_S", 0.01)
    seen: list[runtime.Progress] = []
    setup = app.setup()
    setup.start()
    while (progress := setup.progress()).state == "running":
        seen.append(progress)
    stages = list(dict.fromkeys(progress.stage for progress in seen))
    assert stages == [stage for stage in STAGES if stage in stages]
    assert {"packages", "torch", "testing"} <= set(stages)
    before_torch = [progress.done_nbytes for progress in seen if progress.stage == "packages"]
    with_torch = [progress.done_nbytes for progress in seen if progress.stage == "torch"]
    assert max(before_torch) < 1_000_000
    assert 0 < max(with_torch) <= 3_000_000  # counting lags behind on a busy machine
    assert {progress.nbytes for progress in seen if progress.stage in ("packages", "torch")} == {3_000_000}


def test_a_new_runtime_replaces_the_old_one_which_lasts_as_long_as_it_is_used(app: App) -> None:
    old = app.set_up()
    command = launching.command_in(old.folder, "code")
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    new = app.set_up()
    assert new.folder != old.folder
    runtime.tidy()
    assert (old.folder / "lib" / "torch.py").exists()
    process.communicate(b"")
    runtime.tidy()
    assert not old.folder.exists()
    assert answer()["said"] == "one"


def test_other_lists_or_another_interpreter_ask_for_another_runtime(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = app.set_up()
    app.list_torch(make_wheel(app.wheels, "torch", "2.13.1", TORCH))
    assert not runtime.is_up_to_date(found)
    assert runtime.current() == found  # answers until it is replaced
    monkeypatch.setattr(sys.implementation, "cache_tag", "cpython-399")
    assert runtime.current() is None


def test_a_runtime_that_does_not_work_is_not_accepted(app: App) -> None:
    old = app.set_up()
    app.list_torch(make_wheel(app.wheels, "torch", "2.14.0", BROKEN_TORCH))
    setup = app.setup()
    assert not app.setup_done(setup)
    assert isinstance(setup.error, runtime.Refused)
    assert "the driver is too old" in setup.error.message
    assert setup.progress().stage == "testing"
    assert runtime.current() == old
    assert left_over() == ["cache"]


def test_a_model_that_does_not_answer_refuses_the_runtime(app: App) -> None:
    (app.root / "engine" / "cli.py").write_text("import json\nprint(json.dumps({'tokens': 0}))\n")
    setup = app.setup()
    assert not app.setup_done(setup)
    assert isinstance(setup.error, runtime.Refused)
    assert runtime.current() is None


def test_a_wrong_hash_is_named_and_the_old_runtime_stays(app: App) -> None:
    old = app.set_up()
    wheel = make_wheel(app.wheels, "torch", "2.14.0", TORCH)
    app.list_torch(wheel, digest="0" * 64)
    setup = app.setup()
    assert not app.setup_done(setup)
    assert isinstance(setup.error, runtime.BadPackage)
    assert runtime.current() == old
    app.list_torch(wheel)
    assert app.setup_done(setup)


def test_a_package_that_nobody_listed_is_not_installed(app: App) -> None:
    make_wheel(app.wheels, "uninvited", "1.0", "")
    found = app.set_up()
    modules = {path.stem for path in (found.folder / "lib").glob("*.py")}
    assert modules == {"torch", "thinking"}


def test_a_network_that_breaks_off_is_named_and_retry_fetches_only_what_is_missing(
    app: App, index: Index
) -> None:
    index.cut_after = 500_000
    setup = app.setup(mirror=index.url)
    assert not app.setup_done(setup)
    assert isinstance(setup.error, runtime.Unreachable)
    assert setup.progress().stage == "torch"
    assert runtime.current() is None
    index.cut_after = None
    index.asked.clear()
    assert app.setup_done(setup)
    files = [path for path in index.asked if path.startswith("/files/")]
    assert any("torch" in path for path in files)
    assert not any("thinking" in path for path in files)
    assert answer()["said"] == "one"


def test_no_network_at_all_is_named(app: App, index: Index) -> None:
    index.close()
    setup = app.setup(mirror=index.url)
    assert not app.setup_done(setup)
    assert isinstance(setup.error, runtime.Unreachable)
    assert "runtime file" in setup.error.hint


def test_a_proxy_is_used(app: App, index: Index) -> None:
    setup = app.setup(mirror="http://packages.invalid/simple/", proxy=index.url.removesuffix("simple/"))
    assert app.setup_done(setup)
    assert all(path.startswith("http://packages.invalid/") for path in index.asked)


def test_cancelling_ends_the_installer_and_leaves_nothing(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    setup = app.setup()
    say = setup._meter.say

    def cancel_then(words: str) -> None:
        setup.cancel()
        say(words)

    monkeypatch.setattr(setup._meter, "say", cancel_then)
    assert not app.setup_done(setup)
    assert (setup.progress().state, setup.error) == ("cancelled", None)
    assert left_over() == []
    monkeypatch.setattr(setup._meter, "say", say)
    assert app.setup_done(setup)


def test_only_one_set_up_runs_at_a_time(app: App) -> None:
    first, second = app.setup(), app.setup()
    first.start()
    while first.progress().stage == "checking":
        pass
    assert not app.setup_done(second)
    assert isinstance(second.error, runtime.SetupRunning)
    assert first.wait(60).state == "done"


def test_too_little_room_is_said_before_anything_comes(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.hub.disk.free", lambda folder: 1 << 20)
    setup = app.setup()
    assert not app.setup_done(setup)
    assert setup.error is not None
    assert setup.error.kind == "disk"
    assert left_over() == []


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="mounts a small file system")
def test_a_disk_that_runs_full_is_named_and_retry_finishes(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.hub.disk.RESERVE", 0)
    (app.root / "requirements" / "backends.toml").write_text("[cpu]\nnbytes = 0\ndownload_nbytes = 0\n")
    small = launching.runtimes()
    small.mkdir(parents=True)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1500k", "tmpfs", str(small)], check=False)
    if mounted.returncode:
        pytest.skip("mounting is not allowed here")
    try:
        setup = app.setup()
        assert not app.setup_done(setup)
        assert setup.error is not None
        assert (setup.error.kind, setup.error.message) == ("disk", "The disk is full.")
        assert runtime.current() is None
        subprocess.run(["mount", "-o", "remount,size=30m", str(small)], check=True)
        assert app.setup_done(setup)
    finally:
        subprocess.run(["umount", "-l", str(small)], check=True)


KILLED = """
import os, signal, sys
from pathlib import Path
from engine import runtime
from engine.runtime import progress
wheels, stage, moment = sys.argv[1:]
def dying(name):
    original = getattr(progress.Meter, name)
    def then(self, *arguments):
        original(self, *arguments)
        if self._stage == stage and (name == "say") == (moment == "inside"):
            os.kill(os.getpid(), signal.SIGKILL)
    setattr(progress.Meter, name, then)
for name in ("enter", "go_on", "say"):
    dying(name)
setup = runtime.Setup(runtime.backends()["cpu"], runtime.Sources(wheels=Path(wheels)))
setup.start()
setup.wait()
"""


@pytest.mark.parametrize(
    ("stage", "moment"),
    [
        ("packages", "begin"),
        ("packages", "inside"),
        ("torch", "begin"),
        ("torch", "inside"),
        ("testing", "begin"),
        ("testing", "inside"),
        ("switching", "begin"),
    ],
)
def test_killed_at_any_stage_the_old_runtime_stays_and_retry_finishes(
    app: App, stage: str, moment: str
) -> None:
    old = app.set_up()
    program = [str(app.python), "-I", "-c", KILLED, str(app.wheels), stage, moment]
    died = subprocess.run(program, cwd=app.root, check=False, timeout=60, capture_output=True)
    assert died.returncode == -signal.SIGKILL, died.stderr
    assert runtime.current() == old
    assert answer()["said"] == "one"
    new = app.set_up()
    assert new.folder != old.folder
    runtime.tidy()
    assert left_over() == []
    assert answer()["said"] == "one"
