"""Triton's module for NVIDIA's driver, as the Linux packages bring it, on a machine without a C compiler."""

import importlib
import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from engine.machine import driver_module
from engine.machine.torch_build import kernel_problem

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the package for Windows brings a compiler")
PACKAGING = Path(__file__).resolve().parents[2] / "packaging"
# What Triton does when it first sees a card.
CONNECT = """
import json, sys
from pathlib import Path
from engine.machine import driver_module
find = driver_module.find
driver_module.find = lambda source: find(source, Path(sys.argv[1]))
from engine.quantization.triton import bring_driver_module
bring_driver_module()
from triton.backends.nvidia.driver import CudaUtils
try:
    print(json.dumps(callable(CudaUtils().launch)))
except RuntimeError as error:
    print(json.dumps(str(error)))
"""


def triton() -> Path:
    spec = importlib.util.find_spec("triton")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the module, compiled from the installed Triton as a package's build does it."""
    monkeypatch.syspath_prepend(str(PACKAGING))
    build = importlib.import_module("installers.driver_module")
    build.compiled(triton() / "backends" / "nvidia", tmp_path / "modules")
    return tmp_path / "modules"


def connect(modules: Path, tmp_path: Path) -> object:
    """What `CONNECT` prints where there is a driver, but no compiler.

    The driver is one with all functions that Triton names, which do nothing: loading needs no more.
    """
    stub, source = tmp_path / "driver" / "libcuda.so.1", tmp_path / "driver.c"
    stub.parent.mkdir()
    names = sorted(set(re.findall(r"\bcu[A-Z]\w+(?=\()", (triton() / driver_module.SOURCE).read_text())))
    source.write_text("".join(f"int {name}(void) {{ return 0; }}\n" for name in names))
    making = ["gcc", "-shared", "-Wl,-soname,libcuda.so.1", "-o", str(stub), str(source)]
    subprocess.run(making, check=True)
    there = {
        "PATH": "/nowhere",
        "LD_LIBRARY_PATH": str(stub.parent),
        "TRITON_CACHE_DIR": str(tmp_path / "cache"),
    }
    program = [sys.executable, "-c", CONNECT, str(modules)]
    done = subprocess.run(program, env=there, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_triton_connects_without_a_compiler(modules: Path, tmp_path: Path) -> None:
    assert [file.name.partition("-")[0] for file in modules.iterdir()] == ["cuda_utils"]
    assert connect(modules, tmp_path) is True


def test_without_the_module_it_says_what_is_missing(tmp_path: Path) -> None:
    assert "Failed to find C compiler" in str(connect(tmp_path / "none", tmp_path))


def test_another_triton_has_no_module(modules: Path, tmp_path: Path) -> None:
    source = triton() / driver_module.SOURCE
    assert driver_module.find(source, modules) in set(modules.iterdir())
    (tmp_path / "driver.c").write_bytes(source.read_bytes() + b"\n")
    assert driver_module.find(tmp_path / "driver.c", modules) is None
    assert driver_module.find(tmp_path / "missing.c", modules) is None


def test_kernels_for_nvidia_have_no_problem_then(modules: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("CC", raising=False)
    assert kernel_problem(system="linux") == "no_compiler"
    found = driver_module.find
    monkeypatch.setattr(driver_module, "find", lambda source: found(source, modules))
    assert kernel_problem(system="linux") is None
    assert kernel_problem(system="linux", cuda=False) == "no_compiler"
