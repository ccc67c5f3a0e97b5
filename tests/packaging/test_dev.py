"""packaging/dev.py without a network: decisions, errors, stamp, lock, model. .ci/run does real set-ups."""

import contextlib
import errno
import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.packaging.conftest import SCRIPT, Disk, posix_only

# --- The stamp ---


def test_the_stamp_matches_the_requirements(dev):
    stamp = {"key": "k", "dev": True, "torch": "cpu", "forced": "", "gpu": False}
    assert dev.stamp_fits(stamp, "k", False, "", False)  # `run` accepts an environment of `test`
    assert dev.stamp_fits(stamp, "k", True, "cpu", False)
    assert not dev.stamp_fits({**stamp, "dev": False}, "k", True, "", False)
    assert not dev.stamp_fits(stamp, "other", False, "", False)
    assert not dev.stamp_fits(stamp, "k", False, "cuda", False)
    assert not dev.stamp_fits(stamp, "k", False, "", True), "a new card"
    assert dev.stamp_fits({**stamp, "gpu": True}, "k", False, "", True), (
        "a known card, but a folder without CUDA"
    )
    assert dev.stamp_fits({**stamp, "torch": "cuda", "gpu": True}, "k", False, "", False), (
        "the card was removed"
    )
    assert not dev.stamp_fits(None, "k", False, "", False)
    assert not dev.stamp_fits({}, "k", False, "", False)


def test_the_first_start_installs_pinned_packages_and_the_second_does_nothing(
    dev, started, monkeypatch, capsys
):
    dev.set_up(dev=False, window=True)
    pips = [argv[3:] for argv in started if argv[1:3] == ["-m", "pip"]]
    assert [pip[0] for pip in pips] == ["config", "install", "install", "install", "download"]
    assert pips[3][-2:] == ["-e", ".[torch]"]
    assert "packaging/constraints.txt" in pips[3]
    assert dev.model_path().read_bytes() == dev.model
    capsys.readouterr()

    def no_work(*args, **options):
        raise AssertionError(f"the second start did work: {args}")

    for name in ("Popen", "run", "call", "check_output"):
        monkeypatch.setattr(dev.subprocess, name, no_work)
    monkeypatch.setattr(dev.logged_pip, "run_logged", no_work)
    for name in ("locked", "sha256", "check_qt"):
        monkeypatch.setattr(dev, name, no_work)
    dev.set_up(dev=False, window=True)
    assert capsys.readouterr() == ("", "")


def test_run_after_test_and_test_after_run(dev, started):
    dev.set_up(dev=False, window=False)
    started.clear()
    dev.set_up(dev=True, window=True)
    assert started[-1][-2:] == ["-e", ".[dev]"]
    assert not any("venv" in argv for argv in started), "the environment is kept"
    started.clear()
    dev.set_up(dev=False, window=True)
    assert started == []
    dev.ROOT.joinpath("pyproject.toml").write_text("[project]\nname = 'x'\n")
    dev.set_up(dev=False, window=True)
    assert started[-1][-2:] == ["-e", ".[dev]"], "the test tools are kept"


@pytest.mark.parametrize("moment", ["venv", "config", "install", "-e"])
def test_a_set_up_killed_at_any_moment_is_repeated(dev, started, monkeypatch, moment):
    install = dev.logged_pip.run_logged

    def killed(argv, log, lock):
        if moment in argv:
            raise SystemExit  # no cleanup, as after a kill
        return install(argv, log, lock)

    monkeypatch.setattr(dev.logged_pip, "run_logged", killed)
    with pytest.raises(SystemExit):
        dev.set_up(dev=False, window=False)
    assert not dev.fits(dev=False)
    (dev.venv() / "half a package").touch()
    monkeypatch.setattr(dev.logged_pip, "run_logged", install)
    dev.set_up(dev=False, window=False)
    assert dev.fits(dev=False)
    assert not (dev.venv() / "half a package").exists()
    assert [path.name for path in dev.part().iterdir()] == ["lock"]


@pytest.mark.parametrize(
    ("output", "kept"), [("NewConnectionError", True), ("Installing collected packages", False)]
)
def test_packages_are_kept_when_pip_failed_before_changing_them(dev, started, monkeypatch, output, kept):
    install = dev.logged_pip.run_logged
    monkeypatch.setattr(
        dev.logged_pip,
        "run_logged",
        lambda argv, *rest: (1, output) if "-e" in argv else install(argv, *rest),
    )
    with pytest.raises(dev.Fault):
        dev.set_up(dev=False, window=False)
    (dev.venv() / "torch").touch()
    monkeypatch.setattr(dev.logged_pip, "run_logged", install)
    dev.set_up(dev=False, window=False)
    assert dev.fits(dev=False)
    assert (dev.venv() / "torch").exists() == kept


def test_a_moved_folder_or_another_python_is_set_up_again(dev, started, monkeypatch):
    dev.set_up(dev=False, window=False)
    started.clear()
    monkeypatch.setattr(dev, "base", lambda: "3.99 elsewhere")
    dev.set_up(dev=False, window=False)
    assert started[0][1:3] == ["-m", "venv"]


def test_a_foreign_environment_is_not_touched(dev, started):
    dev.venv().mkdir()
    dev.venv().joinpath("pyvenv.cfg").touch()
    with pytest.raises(dev.Fault, match="not created by this script"):
        dev.set_up(dev=False, window=False)
    assert dev.venv().joinpath("pyvenv.cfg").exists()
    assert started == []


def test_a_missing_library_is_checked_until_it_is_installed(dev, started, monkeypatch):
    def lacking():
        raise dev.Fault("libEGL")

    check = dev.check_qt
    monkeypatch.setattr(dev, "check_qt", lacking)
    for _ in range(2):
        with pytest.raises(dev.Fault, match="libEGL"):
            dev.set_up(dev=False, window=True)
    dev.set_up(dev=False, window=False)  # not needed without a window
    monkeypatch.setattr(dev, "check_qt", check)
    dev.set_up(dev=False, window=True)
    assert json.loads((dev.venv() / "setup.json").read_text())["qt"]


# --- The lock ---


def test_only_one_set_up_at_a_time(dev):
    with dev.locked():
        other = os.open(dev.part() / "lock", os.O_RDWR)
        assert not dev.try_lock(other)
    assert dev.try_lock(other)
    os.close(other)


def test_a_second_set_up_waits_and_reports_it(dev, monkeypatch, capsys):
    stack = contextlib.ExitStack()
    stack.enter_context(dev.locked())
    monkeypatch.setattr(
        dev.time, "sleep", lambda seconds: stack.close()
    )  # the first one ends while the second one waits
    with dev.locked():
        pass
    assert capsys.readouterr().err.count("waiting") == 1


@posix_only
def test_a_pip_that_outlives_its_set_up_holds_the_lock(dev):
    code = "import sys; sys.stdin.read()"
    with dev.locked() as lock:
        child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, pass_fds=(lock,))
    other = os.open(dev.part() / "lock", os.O_RDWR)
    assert not dev.try_lock(other)
    child.communicate()
    assert dev.try_lock(other)
    os.close(other)


# --- The model ---


def test_a_cached_model_is_copied_not_downloaded(dev, started, tmp_path):
    cached = tmp_path / "models" / dev.MODEL
    cached.parent.mkdir()
    cached.write_bytes(dev.model)
    dev.set_up(dev=False, window=False)
    assert not any("download" in argv for argv in started)
    assert dev.model_path().read_bytes() == dev.model
    assert not dev.model_path().samefile(cached)


def test_a_cached_model_with_other_content_is_not_used(dev, started, tmp_path):
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / dev.MODEL).write_bytes(b"x" * len(dev.model))
    dev.set_up(dev=False, window=False)
    assert dev.model_path().read_bytes() == dev.model
    assert not dev.model_path().samefile(tmp_path / "models" / dev.MODEL)


def test_a_damaged_download_is_refused_and_removed(dev, started, monkeypatch):
    monkeypatch.setattr(dev, "model", b"damaged")
    with pytest.raises(dev.Fault, match="SHA-256"):
        dev.set_up(dev=False, window=False)
    assert not dev.model_path().exists()
    assert [path.name for path in dev.part().iterdir()] == ["lock"]


def test_a_truncated_model_is_installed_again(dev, started):
    dev.set_up(dev=False, window=False)
    dev.model_path().write_bytes(b"short")
    dev.set_up(dev=False, window=False)
    assert dev.model_path().read_bytes() == dev.model


# --- Error messages ---

UNREACHABLE = """\
WARNING: Retrying (Retry(total=0, connect=None, read=None, redirect=None, status=None)) after
connection broken by 'NewConnectionError('<HTTPConnection object>: Failed to establish a new connection')'
ERROR: Could not find a version that satisfies the requirement setuptools==84.2.1 (from versions: none)
ERROR: No matching distribution found for setuptools==84.2.1"""
FULL = "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device"
CHANGED = """\
ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE. If you have updated the package
versions, please update the hashes. Otherwise, examine the package contents carefully"""
CONFLICT = """\
ERROR: Cannot install specexec-desktop[dev] because these package versions have conflicting dependencies.
The conflict is caused by:
    specexec-desktop[dev] 0.1.0 depends on PySide6-Essentials<6.12 and >=6.11.3
    The user requested (constraint) pyside6-essentials==6.12.0"""


@pytest.mark.parametrize(
    ("output", "line"),
    [
        (UNREACHABLE, "cannot be reached: check the network"),
        (
            "socket.gaierror: [Errno -3] Temporary failure in name resolution",
            "cannot be reached: check the network",
        ),
        (FULL, "the disk is full: free space"),
        (CHANGED, "does not match its hash"),
        (CONFLICT, "dev.py lock"),
        (
            "ERROR: Could not install packages due to an OSError: [Errno 13] Permission denied: '/x'",
            "be written",
        ),
        (
            "SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED]",
            "certificate is not trusted",
        ),
        (
            "ProxyError('Cannot connect to proxy.', OSError('Tunnel connection failed: 407'",
            "check HTTPS_PROXY",
        ),
        ("ERROR: No matching distribution found for torch===2.13.0", "64-bit Python 3.11"),
    ],
)
def test_pips_errors_become_one_line_with_a_remedy(dev, output, line):
    message = dev.logged_pip.pip_fault(output, "setup.log")
    assert line in message
    assert "setup.log" in message
    assert "\n" not in message


def test_an_unknown_error_shows_pips_last_lines_and_the_path_of_the_log(dev):
    message = dev.logged_pip.pip_fault("\n".join(f"line {i}" for i in range(100)), "the/setup.log")
    assert "line 99" in message
    assert "line 85" in message
    assert "line 84" not in message
    assert "the/setup.log" in message


@pytest.mark.parametrize(
    ("number", "line"),
    [(errno.ENOSPC, "disk is full"), (errno.EROFS, "cannot be written"), (errno.EACCES, "cannot be written")],
)
def test_errors_of_the_system_become_one_line(dev, monkeypatch, capsys, number, line):
    def fail(args):
        raise OSError(number, os.strerror(number), "/place")

    monkeypatch.setattr(dev, "run", fail)
    assert dev.main(["run"]) == 1
    message = capsys.readouterr().err
    assert line in message
    assert "/place" in message
    assert message.count("\n") == 1


def test_missing_libraries_are_named_with_their_packages(dev):
    message = dev.qt_fault(
        "\tlibEGL.so.1 => not found\n\tlibc.so.6 => /lib/libc.so.6 (0x0)\n\tlibxcb-cursor.so.0 => not found\n"
        "\tlibEGL.so.1 => not found\n\tlibodd.so.2 => not found\n"
    )
    assert "`apt install libegl1 libxcb-cursor0`" in message
    assert "`dnf install libglvnd-egl xcb-util-cursor`" in message
    assert "libodd.so.2 on your system" in message
    imported = "ImportError: libGL.so.1: cannot open shared object file: No such file or directory"
    assert "apt install libgl1`" in dev.qt_fault(imported)
    assert dev.qt_fault("\tlibc.so.6 => /lib/libc.so.6 (0x0)\n") is None


def test_the_table_of_libraries_has_three_columns(dev):
    words = sys.modules[dev.qt_fault.__module__].QT_LIBRARIES.split()
    assert len(words) % 3 == 0
    assert all(".so." in word for word in words[::3])
    assert not any(".so." in word for word in words[1::3] + words[2::3])


def test_too_little_disk_space_is_reported_before_any_download(dev, started, monkeypatch):
    monkeypatch.setattr(dev.shutil, "disk_usage", lambda path: Disk(2**30))
    with pytest.raises(dev.Fault, match=r"1\.0 GiB of free disk space and set-up needs 2\.5"):
        dev.install_torch("python", dev.ROOT / "log", None, dev.torch_attempts("linux", False, "", []))
    assert started == []


def test_without_venv_the_error_names_debians_package(dev, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "ensurepip" else find(name))
    with pytest.raises(dev.Fault, match=r"apt install python3\.\d+-venv"):
        dev.make_venv(dev.venv(), dev.ROOT / "log", None)


def test_an_old_python_is_reported_in_one_line(dev, monkeypatch, capsys):
    monkeypatch.setattr(dev.sys, "version_info", (3, 8, 18))
    assert dev.main(["run"]) == 1
    assert re.fullmatch(r".*Python 3\.11 or newer is needed, this is 3\.8.*\n", capsys.readouterr().err)


@pytest.mark.parametrize("name", ["dev", "faults", "logged_pip", "torch_build"])
def test_the_script_and_what_it_imports_parse_on_python_3_8(name):
    import ast

    ast.parse(SCRIPT.with_stem(name).read_text("utf-8"), feature_version=(3, 8))


def test_ctrl_c_during_set_up_gives_one_line_and_status_130(dev, monkeypatch, capsys):
    def interrupted(args):
        raise KeyboardInterrupt

    monkeypatch.setattr(dev, "run", interrupted)
    assert dev.main(["run"]) == 130
    assert "the next start continues it" in capsys.readouterr().err


# --- Commands ---


@posix_only
def test_the_program_receives_arguments_and_input_and_returns_its_status(dev, started, tmp_path):
    dev.set_up(dev=False, window=False)
    dev.program("specexec").write_text('#!/bin/sh\nread line; echo "$line $*"; exit 7\n')
    dev.program("specexec").chmod(0o755)
    code = (
        f"import importlib.util as u, pathlib, sys; sys.path.insert(0, {str(SCRIPT.parent)!r})\n"
        f"s = u.spec_from_file_location('dev', {str(SCRIPT)!r}); d = u.module_from_spec(s)\n"
        "s.loader.exec_module(d)\n"
        f"d.ROOT = pathlib.Path({str(dev.ROOT)!r}); d.NVIDIA_SIGNS = ()\n"
        f"d.MODEL_NBYTES = {dev.MODEL_NBYTES}\n"
        "sys.exit(d.main(sys.argv[1:]))"
    )
    argv = [sys.executable, "-c", code, "run", "chat", "--json", "two words"]
    done = subprocess.run(argv, input="said\n", capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (7, "said chat --json two words\n", "")


class Compiling:
    """A stand-in for the process that compiles what the tests import."""

    runs = 0

    def __init__(self, argv, **streams):
        assert argv[-3:] == ["-m", "pytest", "--collect-only"]
        Compiling.runs += 1
        self.ended = False

    def wait(self):
        Compiling.runs -= not self.ended
        self.ended = True

    def kill(self):
        pass


@pytest.fixture
def gates(dev, monkeypatch):
    """Return the names of the gates that ran."""
    ran = []
    monkeypatch.setattr(dev, "set_up", lambda dev, window: None)
    monkeypatch.setattr(dev, "hand_over", lambda argv: ran.append(" ".join(argv[1:])) or 0)
    monkeypatch.setattr(dev.subprocess, "Popen", Compiling)
    monkeypatch.setattr(dev.os, "chdir", lambda folder: None)
    return ran


def test_gates_run_in_order_and_pytest_last(dev, gates, monkeypatch):
    monkeypatch.setattr(dev.subprocess, "call", lambda argv: gates.append(Path(argv[0]).stem) or 0)
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    monkeypatch.setattr(dev.os, "cpu_count", lambda: 2)
    assert dev.main(["test"]) == 0
    assert gates == ["ruff", "ruff", "mypy", "lint-imports", "-m pytest -n 2 --dist loadfile"]
    assert Compiling.runs == 0


def test_the_first_failing_gate_determines_the_status(dev, gates, monkeypatch):
    monkeypatch.setattr(dev.subprocess, "call", lambda argv: 3 if "mypy" in argv[0] else 0)
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    assert dev.main(["test"]) == 3
    assert gates == []
    assert Compiling.runs == 0


def test_with_arguments_only_pytest_runs(dev, gates, monkeypatch):
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    assert dev.main(["test", "-k", "tree"]) == 0
    assert gates == ["-m pytest -k tree"]


def test_unknown_commands_print_the_usage(dev, capsys):
    assert dev.main(["dance"]) == 2
    assert dev.main([]) == 2
    assert dev.main(["--help"]) == 0
    assert "usage" in capsys.readouterr().out


# --- The pins ---


def test_every_pin_is_exact_and_has_no_url():
    lines = (SCRIPT.parent / "constraints.txt").read_text("utf-8").splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert all(re.fullmatch(r"[\w.-]+==[\w.!]+", pin) for pin in pins)
    assert not [pin for pin in pins if re.match(r"(nvidia-c|nvidia-n|cuda)", pin)]
    assert "colorama" in {pin.partition("==")[0] for pin in pins}, "needed on Windows"


def test_pins_match_the_project_and_dev_pys_torch(dev):
    import tomllib

    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    lines = (SCRIPT.parent / "constraints.txt").read_text("utf-8").splitlines()
    pins = {
        canonicalize_name(n): v for n, _, v in (x.partition("==") for x in lines if not x.startswith("#"))
    }
    project = tomllib.loads((SCRIPT.parent.parent / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    assert extras["dev"][0] == "specexec-desktop[torch]"
    for line in project["dependencies"] + extras["torch"] + extras["dev"][1:]:
        wanted = Requirement(line)
        assert wanted.specifier.contains(pins[canonicalize_name(wanted.name)]), line
    assert pins["torch"] == dev.TORCH
