"""A packaged program in miniature, and a stand-in for `engine.runtime.Setup` under the test's control."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel, QWidget

from engine import runtime
from engine.errors import SpecExecError
from engine.launch import interpreter
from engine.machine import Gpu
from engine.runtime import Archive, Backend, SetupProgress, Sources

CARD = Gpu("nvidia", "GeForce RTX 4090", driver="581.20", compute_capability=(8, 9))
LISTS = """
[cpu]
nbytes = 1_000_000_000
download_nbytes = 300_000_000
[cuda]
nbytes = 6_000_000_000
download_nbytes = 3_000_000_000
driver = "580.65"
"""
TORCH = {
    "cpu": '__version__ = "2.13.0+cpu"\ncuda = None\n',
    "cuda": '__version__ = "2.13.0+cu130"\ncuda = "13.0"\n',
}


def package(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make this program look packaged, without a runtime."""
    lists = root / "program" / "requirements"
    lists.mkdir(parents=True)
    (lists / "backends.toml").write_text(LISTS)
    for name in ("engine", "torch-cpu", "torch-cuda"):
        (lists / f"{name}.txt").write_text("")
    monkeypatch.setattr(interpreter, "is_packaged", lambda: True)
    monkeypatch.setattr(interpreter, "requirements_folder", lambda: lists)
    monkeypatch.setattr(interpreter, "runtimes_folder", lambda: root / "runtime")
    runtime.backends.cache_clear()


def put_runtime(backend: str = "cpu") -> Path:
    """Write a runtime like a set-up does and return its folder."""
    folder = interpreter.runtimes_folder() / f"{backend}-1"
    torch = folder / "lib" / "torch"
    torch.mkdir(parents=True, exist_ok=True)
    (torch / "__init__.py").write_text("raise AssertionError('imported')")
    (torch / "version.py").write_text(TORCH[backend])
    key = runtime.backends()[backend].key()
    said = {"backend": backend, "key": key, "python": interpreter.python_abi()}
    (folder / "runtime.json").write_text(json.dumps(said))
    (interpreter.runtimes_folder() / "current.json").write_text(json.dumps({"folder": folder.name}))
    return folder


class FakeSetup:
    """A set-up that does nothing by itself. Attributes: `backend`, `sources`, `archive`: the arguments."""

    def __init__(self, backend: Backend, sources: Sources, archive: Archive | None) -> None:
        self.backend, self.sources, self.archive = backend, sources, archive
        self.error: SpecExecError | None = None
        self._progress = SetupProgress("waiting", "checking", 0, 0, 0.0, None, "", "")

    def start(self) -> None:
        self.say(state="running")

    def progress(self) -> SetupProgress:
        return self._progress

    def cancel(self) -> None:
        self.say(state="cancelled")

    def say(self, **progress: object) -> None:
        self._progress = replace(self._progress, **progress)  # type: ignore[arg-type]

    def fail(self, error: SpecExecError) -> None:
        self.error = error
        self.say(state="failed", error=error.message)

    def finish(self) -> None:
        """Finish as the real set-up does."""
        put_runtime(self.backend.name)
        self.say(state="done", stage="switching")


class FakeSetups:
    """Stands in for the class. Attribute `made`: all instances."""

    def __init__(self) -> None:
        self.made: list[FakeSetup] = []

    def __call__(self, *arguments: object) -> FakeSetup:
        self.made.append(FakeSetup(*arguments))  # type: ignore[arg-type]
        return self.made[-1]

    @property
    def last(self) -> FakeSetup:
        return self.made[-1]


def said(widget: QWidget) -> str:
    """Return the text of all visible labels."""
    return " ".join(label.text() for label in widget.findChildren(QLabel) if label.isVisible())
