"""What stands in the way of kernels for a card is found without importing torch or Triton."""

import shutil
import sysconfig
from pathlib import Path

import pytest

from engine.machine import Gpu, TorchBuild
from engine.machine.torch_build import installed_torch, kernel_problem


def test_a_build_sees_the_cards_of_one_maker_only():
    nvidia, amd = Gpu("nvidia", "RTX 4090"), Gpu("amd", "RX 7900 XTX")
    builds = [TorchBuild("2", cuda="13.0"), TorchBuild("2", rocm="7.1"), TorchBuild("2")]
    assert [build.cards([amd, nvidia]) for build in builds] == [(nvidia,), (amd,), ()]


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """A folder of packages with torch, built for CUDA, and Triton."""
    for name in ("torch", "triton"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise AssertionError('imported')\n")
    (tmp_path / "torch" / "version.py").write_text(
        "__version__ = '2.13.0+cu130'\ncuda = '13.0'\nhip = None\n"
    )
    return tmp_path


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Python's headers; no compiler is found unless a test adds one."""
    (headers := tmp_path / "include").mkdir()
    (headers / "Python.h").touch()
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(headers))
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.delenv("CC", raising=False)
    return headers


@pytest.mark.usefixtures("tools")
def test_on_linux_a_compiler_is_needed_and_on_windows_none(packages, monkeypatch):
    assert kernel_problem(packages, "linux") == "no_compiler"
    assert kernel_problem(packages, "win32") is None
    monkeypatch.setenv("CC", "/opt/bin/cc")
    assert kernel_problem(packages, "linux") is None


def test_on_linux_the_headers_of_python_are_needed(packages, tools, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: "/usr/bin/clang" if name == "clang" else None)
    assert kernel_problem(packages, "linux") is None
    (tools / "Python.h").unlink()
    assert kernel_problem(packages, "linux") == "no_compiler"


def test_torch_without_triton_says_so(packages):
    shutil.rmtree(packages / "triton")
    build = installed_torch(packages)
    assert build is not None
    assert (build.cuda, build.kernel_problem) == ("13.0", "no_triton")
