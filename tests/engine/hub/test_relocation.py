"""The move of the models from the cache to the user's data: killed at every step, nothing is lost."""

import multiprocessing
import os
import shutil
import sys
from multiprocessing.context import BaseContext
from pathlib import Path

import pytest

from engine import catalog
from engine.errors import DiskProblem
from engine.hub import DiskFull, Stop, Stopped, disk, find_stored, move, stored, verify
from tests.engine.hub.conftest import FILE, ID, asked, content, finished, offer
from tests.engine.hub.killed import KILLED, carry
from tests.engine.hub.lying_hub import LyingHub, Offered

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="names the folders by Linux's variables")

FORMER = ".cache/specexec-desktop/models"
USUAL = "data/specexec-desktop/models"


def unwatched(done: int, total: int) -> None:
    pass


@pytest.fixture
def home(tmp_path: Path, server: LyingHub, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with two downloaded models in the cache, as earlier versions left them."""
    monkeypatch.delenv(catalog.MODELS_VARIABLE, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    finished(server, offer(server, 5000), tmp_path / FORMER)
    server.repositories["some/folder"] = Offered(
        {"config.json": b"{}", "model.safetensors": content(9000, 1)}
    )
    finished(server, asked(server, "some/folder"), tmp_path / FORMER)
    return tmp_path


def all_there() -> None:
    """Every model is found, whole, in the one models folder."""
    models = catalog.models_folder()
    for name in (ID, "some/folder"):
        results = verify(find_stored(models, name), Stop(), unwatched)
        assert {result.state for result in results} == {"ok"}


@pytest.fixture
def processes() -> BaseContext:
    if os.name == "nt":
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.engine.hub.killed"])
    return context


def run(processes: BaseContext, home: Path, links: bool, deadly_step: int) -> int | None:
    process = processes.Process(target=carry, args=(str(home), links, deadly_step), daemon=True)  # type: ignore[attr-defined]
    process.start()
    process.join(30)
    return process.exitcode


@pytest.mark.timeout(180)
@pytest.mark.parametrize("links", [True, False], ids=["linked", "copied"])
def test_a_move_killed_at_any_step_loses_nothing_and_is_completed_by_the_next(
    home: Path, processes: BaseContext, links: bool
) -> None:
    original = shutil.copytree(home / FORMER, home / "original")
    step = 0
    while (ended := run(processes, home, links, step)) == KILLED:
        all_there()
        while catalog.left_behind() is not None:
            assert run(processes, home, links, -1) == 0
        all_there()
        assert catalog.models_folder() == home / USUAL
        assert {path.suffix for path in (home / FORMER).rglob("*") if path.is_file()} <= {".lock"}
        catalog.local._kept_folder().unlink(missing_ok=True)
        shutil.rmtree(home / USUAL)
        shutil.rmtree(home / FORMER, ignore_errors=True)
        shutil.copytree(original, home / FORMER)
        step += 1
    assert ended == 0
    assert step > 15
    all_there()


def test_models_in_the_cache_are_found_until_they_are_moved(home: Path) -> None:
    assert catalog.models_folder() == home / FORMER
    assert catalog.left_behind() == (home / FORMER, home / USUAL)
    move(home / FORMER, home / USUAL, Stop(), unwatched, catalog.keep_models_folder)
    all_there()
    assert catalog.models_folder() == home / USUAL
    assert catalog.left_behind() is None


def test_files_added_to_the_old_place_later_join_the_others_by_a_second_move(home: Path) -> None:
    move(home / FORMER, home / USUAL, Stop(), unwatched, catalog.keep_models_folder)
    (home / FORMER).mkdir()
    (home / FORMER / "late.gguf").write_bytes(b"late")
    assert catalog.models_folder() == home / USUAL, "downloads go to one place"
    move(*catalog.left_behind(), Stop(), unwatched, catalog.keep_models_folder)
    assert {model.name for model in stored(home / USUAL)} == {"late.gguf", f"{ID}/{FILE}", "some/folder"}


def test_the_models_folder_stays_in_use_while_others_join_it(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / USUAL).mkdir(parents=True)
    (home / USUAL / "mine.gguf").write_bytes(b"mine")
    monkeypatch.setattr(disk, "link", lambda *_: False)
    stop = Stop()
    with pytest.raises(Stopped):
        move(*catalog.left_behind(), stop, lambda done, total: stop.ask(), catalog.keep_models_folder)
    assert catalog.models_folder() == home / USUAL
    move(*catalog.left_behind(), Stop(), unwatched, catalog.keep_models_folder)
    all_there()
    assert find_stored(home / USUAL, "mine.gguf").nbytes == 4


def test_a_copy_that_differs_is_not_taken_for_the_file(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "link", lambda *_: False)
    monkeypatch.setattr(disk, "same_bytes", lambda *_: False)
    with pytest.raises(DiskProblem, match="differs"):
        move(home / FORMER, home / USUAL, Stop(), unwatched, lambda folder: pytest.fail("told"))
    assert catalog.models_folder() == home / FORMER
    all_there()


def test_without_room_nothing_is_copied(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "link", lambda *_: False)
    monkeypatch.setattr(disk, "free", lambda folder: disk.RESERVE + 100)
    with pytest.raises(DiskFull):
        move(home / FORMER, home / USUAL, Stop(), unwatched, lambda folder: pytest.fail("told"))
    assert not list((home / USUAL).rglob("*.gguf"))
    all_there()


def test_same_bytes_sees_a_changed_and_a_longer_file(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_bytes(content(3_000_000))
    for data, same in ((content(3_000_000), True), (content(3_000_000)[:-1] + b"x", False)):
        other.write_bytes(data)
        assert disk.same_bytes(one, other, Stop()) == same
    other.write_bytes(content(3_000_000) + b"x")
    assert not disk.same_bytes(one, other, Stop())
