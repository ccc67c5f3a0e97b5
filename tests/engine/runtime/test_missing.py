"""What needs torch says so where a package has no runtime."""

import json
import subprocess
import sys

import pytest

from engine.errors import SpecExecError
from engine.launch import interpreter
from engine.launch.interpreter import RuntimeMissing, missing_runtime, need_runtime
from engine.model.devices import choose_device
from engine.serving.process import named

WITHOUT_TORCH = """
import sys
sys.modules.update({name: None for name in ("torch", "transformers", "accelerate", "safetensors")})
from engine import cli
sys.exit(cli.run(sys.argv[1:]))
"""


@pytest.fixture
def lacking(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make torch look uninstalled."""
    monkeypatch.setattr(interpreter, "find_spec", lambda name: None)


@pytest.mark.usefixtures("lacking")
def test_the_hint_leads_to_the_setup_of_an_installed_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreter, "is_packaged", lambda: True)
    with pytest.raises(RuntimeMissing, match=r"The model x needs PyTorch, which is not set up\.") as missing:
        need_runtime("The model x")
    assert "specexec setup" in missing.value.hint


@pytest.mark.usefixtures("lacking")
def test_a_card_cannot_be_asked_for_without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.machine.installed_torch", lambda: None)
    assert choose_device("auto") == "cpu"
    with pytest.raises(RuntimeMissing, match="A graphics card needs PyTorch"):
        choose_device("cuda")


def test_only_packages_of_a_runtime_count_as_missing() -> None:
    lacking, other = (ModuleNotFoundError(f"No module named {name!r}", name=name) for name in ("torch", "x"))
    assert isinstance(named(lacking), RuntimeMissing)
    assert missing_runtime(other) is None
    assert type(named(other)) is SpecExecError
    need_runtime("A test")  # torch is installed here


@pytest.mark.parametrize(
    "command", [["quantize", "smollm2", "to"], ["chat", "hello", "--dtype", "float32"]], ids=lambda it: it[0]
)
def test_a_command_that_needs_torch_says_so(command: list[str]) -> None:
    program = [sys.executable, "-c", WITHOUT_TORCH, *command, "--json"]
    done = subprocess.run(program, cwd=interpreter.ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1, done.stderr
    error = json.loads(done.stdout.splitlines()[-1])["error"]
    assert error["kind"] == "runtime_missing"
    assert "needs PyTorch" in error["message"]
    assert "Traceback" not in done.stderr
