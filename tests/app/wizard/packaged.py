"""A packaged program in miniature, and a stand-in for `engine.runtime.Setup` that the test leads."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from engine import launching, runtime
from engine.errors import SpecExecError
from engine.runtime import Archive, Backend, Progress, Sources

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
    """From now on the program is one; it has no runtime."""
    lists = root / "program" / "requirements"
    lists.mkdir(parents=True)
    (lists / "backends.toml").write_text(LISTS)
    for name in ("engine", "torch-cpu", "torch-cuda"):
        (lists / f"{name}.txt").write_text("")
    monkeypatch.setattr(launching, "lists", lambda: lists)
    monkeypatch.setattr(launching, "runtimes", lambda: root / "runtime")
    runtime.backends.cache_clear()


def put_runtime(backend: str = "cpu") -> Path:
    """As a set-up leaves it; its folder."""
    folder = launching.runtimes() / f"{backend}-1"
    torch = folder / "lib" / "torch"
    torch.mkdir(parents=True, exist_ok=True)
    (torch / "__init__.py").write_text("raise AssertionError('imported')")
    (torch / "version.py").write_text(TORCH[backend])
    key = runtime.backends()[backend].key()
    said = {"backend": backend, "key": key, "python": launching.python_version()}
    (folder / "runtime.json").write_text(json.dumps(said))
    (launching.runtimes() / "current.json").write_text(json.dumps({"folder": folder.name}))
    return folder


class FakeSetup:
    """Does nothing by itself. Attributes: `backend`, `sources`, `archive`: what it was asked for."""

    def __init__(self, backend: Backend, sources: Sources, archive: Archive | None) -> None:
        self.backend, self.sources, self.archive = backend, sources, archive
        self.error: SpecExecError | None = None
        self._progress = Progress("waiting", "checking", 0, 0, 0.0, None, "", "")

    def start(self) -> None:
        self.say(state="running")

    def progress(self) -> Progress:
        return self._progress

    def cancel(self) -> None:
        self.say(state="cancelled")

    def say(self, **progress: object) -> None:
        self._progress = replace(self._progress, **progress)  # type: ignore[arg-type]

    def fail(self, error: SpecExecError) -> None:
        self.error = error
        self.say(state="failed", trouble=error.message)

    def finish(self) -> None:
        """As the real one does, last of all."""
        put_runtime(self.backend.name)
        self.say(state="done", stage="switching")


class FakeSetups:
    """Stands in for the class. Attribute `made`: all of them."""

    def __init__(self) -> None:
        self.made: list[FakeSetup] = []

    def __call__(self, *arguments: object) -> FakeSetup:
        self.made.append(FakeSetup(*arguments))  # type: ignore[arg-type]
        return self.made[-1]

    @property
    def last(self) -> FakeSetup:
        return self.made[-1]
