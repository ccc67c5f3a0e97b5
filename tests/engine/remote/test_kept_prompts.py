"""Clearing by hand what is kept of earlier prompts."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from engine import cli
from engine.cli import cache
from engine.prompt_cache import BlockFiles, PromptCache, files
from engine.protocol.connection import EngineConnection
from tests.engine.server.conftest import ROOT, running

ROWS = np.arange(1000, dtype=np.uint8)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "own" / "prompts"
    monkeypatch.setattr(files, "default_folder", lambda: folder)
    monkeypatch.setattr(cache, "default_folder", lambda: folder)
    monkeypatch.setattr(EngineConnection, "join", lambda: None)
    return folder


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    status = cli.run(["cache", *arguments, "--json"])
    found = json.loads(capsys.readouterr().out)
    assert status == ("error" in found)
    return dict(found)


def test_clearing_drops_all_blocks_and_those_that_wait_to_be_written(folder: Path) -> None:
    prompts = PromptCache(1 << 20, BlockFiles(folder, 1 << 20))
    for number in range(20):
        key = bytes([number]) * 32
        prompts.put(key, ROWS, "a chat")
        assert prompts.files is not None
        prompts.files.write(key, ROWS, {"", "a chat"})
    ram, disk = prompts.clear()
    assert ram == 20 * ROWS.nbytes
    assert disk > 20 * ROWS.nbytes, "with headers"
    assert prompts.nbytes == prompts.files.nbytes == 0
    assert prompts.find(bytes(32), ROWS.nbytes, "") is None
    assert not list(folder.glob("*.rows"))
    prompts.files.write(bytes(32), ROWS, {""})  # the next ones are kept
    prompts.close()
    assert len(list(folder.glob("*.rows"))) == 1


def test_without_an_engine_the_disk_is_cleared(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "clear") == {"ram": 0, "disk": 0}
    before = BlockFiles(folder, 1 << 20)
    before.write(bytes(32), ROWS, {""})
    before.close()
    shown = said(capsys)
    assert (shown["folder"], said(capsys, "clear")) == (str(folder), {"ram": 0, "disk": shown["disk"]})
    assert said(capsys)["disk"] == 0
    assert cli.run(["cache", "clear"]) == 0
    assert capsys.readouterr().out == "Freed 0.0 MiB of RAM and 0.0 MiB on the disk.\n"


def test_a_folder_in_use_by_an_engine_that_cannot_be_joined(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = BlockFiles(folder, 1 << 20)
    error = said(capsys, "clear")["error"]
    assert error["kind"] == "disk"  # type: ignore[index]
    assert error["hint"]  # type: ignore[index]
    other.close()


@pytest.mark.skipif(sys.platform != "linux", reason="keeps caches apart by XDG_CACHE_HOME")
def test_the_engine_that_runs_drops_what_it_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = (
        Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "specexec-desktop" / "compiled"
    )
    own = tmp_path / "cache" / "specexec-desktop"
    own.mkdir(parents=True)
    if compiled.is_dir():
        (own / "compiled").symlink_to(compiled)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    runtime = tmp_path / "runtime"
    with running(runtime, "--prompt-cache-disk", "1") as server, server.client() as client:

        def cached(content: str) -> int:
            asked = server.chat(content, max_tokens=2)
            usage = client.post("/v1/chat/completions", json=asked).json()["usage"]
            return int(usage["prompt_tokens_details"]["cached_tokens"])

        long, other = ("A text about the sea. " * 40, "Old bridges of stone. " * 40)
        for content in (long, other):
            cached(content)
        assert cached(long) > 128
        command = [sys.executable, "-m", "engine.cli", "cache", "clear", "--json"]
        environment = {**os.environ, "XDG_RUNTIME_DIR": str(runtime)}
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        freed = json.loads(done.stdout)
        assert freed["ram"] > 1 << 20
        assert not list((own / "prompts").glob("*.rows"))
        assert cached(long) < 64, "read anew"
        assert client.get("/health").status_code == 200
