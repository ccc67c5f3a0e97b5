"""Setting up, replacing and refusing runtimes."""

import os
import subprocess
import sys
import threading
from typing import Any

import pytest

from engine import runtime
from engine.launch import interpreter
from engine.runtime.progress import STAGES
from engine.runtime.subprocess_run import run
from tests.engine.runtime.conftest import App
from tests.engine.runtime.made_up import BROKEN_TORCH, TORCH, Index, make_wheel

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the miniature app has Linux's layout")


def test_a_runtime_is_set_up_tested_and_used(app: App) -> None:
    assert runtime.current() is None
    without = interpreter.command("engine.serving.process")
    assert without == interpreter.command_in(app.root, "engine.serving.process")
    setup = app.setup()
    assert app.setup_done(setup)
    progress = setup.progress()
    assert (progress.stage, progress.error) == ("switching", "")
    found = runtime.current()
    assert found is not None
    assert found.backend == "cpu"
    assert runtime.is_up_to_date(found)
    assert app.answer("chat", "ä b")["arguments"] == ["chat", "ä b"]
    assert app.leftovers() == []


def test_bytes_are_counted_during_installation(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.runtime.setup._MEASURE_S", 0.2)
    setup = app.setup()
    seen: list[runtime.SetupProgress] = []
    counted = threading.Event()

    def look_after(name: str) -> None:
        function = getattr(setup._meter, name)

        def then_look(*arguments: object) -> None:
            function(*arguments)
            seen.append(setup.progress())
            if name == "set_done":
                counted.set()

        monkeypatch.setattr(setup._meter, name, then_look)

    def run_once_counted(*arguments: Any) -> tuple[int, str]:
        counted.clear()
        assert counted.wait(30)
        return run(*arguments)

    for name in ("enter", "continue_with", "set_done"):
        look_after(name)
    monkeypatch.setattr("engine.runtime.setup.run", run_once_counted)
    assert app.setup_done(setup)
    stages = list(dict.fromkeys(progress.stage for progress in seen))
    assert stages == [stage for stage in STAGES if stage != "unpacking"]
    before_torch = [progress.done_nbytes for progress in seen if progress.stage == "packages"]
    with_torch = [progress.done_nbytes for progress in seen if progress.stage == "torch"]
    assert 0 < max(before_torch) < 1_000_000
    assert before_torch[-1] == with_torch[0]  # the count continues
    assert 2_000_000 <= max(with_torch) <= 3_000_000
    assert {progress.nbytes for progress in seen if progress.stage in ("packages", "torch")} == {3_000_000}


def test_a_replaced_runtime_stays_while_a_process_uses_it(app: App) -> None:
    old = app.set_up()
    command = interpreter.command_in(old.folder, "code")
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
    assert app.answer()["said"] == "one"


def test_changed_lists_or_another_interpreter_require_a_new_runtime(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = app.set_up()
    app.list_torch(make_wheel(app.wheels, "torch", "2.13.1", TORCH))
    assert not runtime.is_up_to_date(found)
    assert runtime.current() == found  # works until it is replaced
    monkeypatch.setattr(sys.implementation, "cache_tag", "cpython-399")
    assert runtime.current() is None


def test_a_runtime_that_does_not_work_is_not_accepted(app: App) -> None:
    old = app.set_up()
    app.list_torch(make_wheel(app.wheels, "torch", "2.14.0", BROKEN_TORCH))
    setup = app.setup()
    assert not app.setup_done(setup)
    assert isinstance(setup.error, runtime.RuntimeRefused)
    assert "the driver is too old" in setup.error.message
    assert setup.progress().stage == "testing"
    assert runtime.current() == old
    assert app.leftovers() == ["cache"]


def test_a_model_that_does_not_answer_refuses_the_runtime(app: App) -> None:
    (app.root / "engine" / "cli.py").write_text("import json\nprint(json.dumps({'tokens': 0}))\n")
    setup = app.setup()
    assert not app.setup_done(setup)
    assert isinstance(setup.error, runtime.RuntimeRefused)
    assert runtime.current() is None


def test_an_unlisted_package_is_not_installed(app: App) -> None:
    make_wheel(app.wheels, "uninvited", "1.0", "")
    found = app.set_up()
    modules = {path.stem for path in (found.folder / "lib").glob("*.py")}
    assert modules == {"torch", "thinking"}


def test_a_proxy_is_used(app: App, index: Index) -> None:
    setup = app.setup(mirror="http://packages.invalid/simple/", proxy=index.url.removesuffix("simple/"))
    assert app.setup_done(setup)
    assert all(path.startswith("http://packages.invalid/") for path in index.requested)


def test_cancelling_ends_the_installer_and_leaves_nothing(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    setup = app.setup()
    set_activity = setup._meter.set_activity

    def cancel_then(activity: str) -> None:
        setup.cancel()
        set_activity(activity)

    monkeypatch.setattr(setup._meter, "set_activity", cancel_then)
    assert not app.setup_done(setup)
    assert (setup.progress().state, setup.error) == ("cancelled", None)
    assert app.leftovers() == []
    monkeypatch.setattr(setup._meter, "set_activity", set_activity)
    assert app.setup_done(setup)


def test_only_one_set_up_runs_at_a_time(app: App) -> None:
    first, second = app.setup(), app.setup()
    first.start()
    while first.progress().stage == "checking":
        pass
    assert not app.setup_done(second)
    assert isinstance(second.error, runtime.SetupRunning)
    assert first.wait(60).state == "done"
