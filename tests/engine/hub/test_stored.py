"""Models on this machine: listed, verified, deleted, imported, and moved to another folder."""

import hashlib
import json
import os
import shutil
import tempfile
from pathlib import Path

import pytest

from engine import catalog
from engine.errors import BadCheckpoint, BadOption, ModelNotFound
from engine.hub import (
    DownloadRunning,
    RemoteFile,
    Repository,
    Stop,
    Stopped,
    StoredModel,
    delete,
    disk,
    find_stored,
    import_model,
    manifest,
    move,
    stored,
    unfinished,
    verify,
)
from engine.hub.lock import locked
from tests.engine.checkpoints.files import write_folder, write_gguf
from tests.engine.hub.conftest import FILE, ID, asked, content, download, finished, offer, wait_for
from tests.engine.hub.lying_hub import COMMIT, Offered, stalls

FOLDER = {"config.json": b"{}", "model.safetensors": content(9000, 1)}
BOTH = ["a-00001-of-00002.gguf", "a-00002-of-00002.gguf"]


def unwatched(done: int, total: int) -> None:
    pass


def states(models: Path, name: str) -> dict[str, str]:
    return {file.path.name: file.state for file in verify(find_stored(models, name), Stop(), unwatched)}


@pytest.fixture
def here(server, models) -> Path:
    """A models folder with a downloaded folder, a downloaded file, and a file put there by hand."""
    server.repositories["some/folder"] = Offered(FOLDER)
    finished(server, asked(server, "some/folder"), models)
    finished(server, offer(server, 5000), models)
    (models / "by-hand.gguf").write_bytes(b"hand")
    (models / "some/folder/pooling").mkdir()
    (models / "some/folder/pooling/config.json").write_text("no model of its own")
    return models


def test_all_models_are_listed_whatever_their_source(here):
    assert [(model.name, model.nbytes) for model in stored(here)] == [
        ("by-hand.gguf", 4), (f"{ID}/{FILE}", 5000), ("some/folder", 9002),
    ]  # fmt: skip
    folder = find_stored(here, "some/folder")
    assert (folder.repository, folder.commit, folder.license) == ("some/folder", COMMIT, "apache-2.0")
    assert find_stored(here, ID).path == here / ID / FILE
    assert find_stored(here, "by-hand.gguf").repository == ""
    assert stored(here / "nowhere") == []


def test_models_are_found_by_the_catalogue_once_downloaded(server, models, monkeypatch):
    monkeypatch.setenv("SPECEXEC_MODELS", str(models))
    gguf, folder = catalog.entries()["coder"], catalog.entries()["qwen2.5-coder-1.5b-awq"]
    server.repositories[gguf.repository] = Offered({gguf.file: b"gguf"})
    server.repositories[folder.repository] = Offered(FOLDER)
    for variant in (gguf, folder):
        finished(server, asked(server, variant.repository), models)
    assert catalog.resolve("coder") == models / gguf.repository / gguf.file
    assert catalog.resolve("qwen2.5-coder-1.5b-awq") == models / folder.repository
    assert find_stored(models, "coder").path == catalog.resolve("coder")
    assert find_stored(models, "qwen2.5-coder-1.5b-awq").path == catalog.resolve("qwen2.5-coder-1.5b-awq")


def test_an_unfinished_download_is_not_listed(server, models):
    server.repositories[ID] = Offered(FOLDER)
    server.faults["model.safetensors"].append(stalls(4000))
    running = download(server, asked(server), models)
    running.start()
    server.wait_sent(4000)
    assert stored(models) == []
    running.pause()
    running.wait(10)


def test_an_unknown_or_ambiguous_name_is_an_error_that_lists_the_models(here):
    with pytest.raises(ModelNotFound) as caught:
        find_stored(here, "nothing")
    assert "some/folder" in caught.value.hint
    (here / ID / "second.gguf").write_bytes(b"2")
    found = manifest.read(here / ID)
    entry = found.files[FILE]
    found.files["second.gguf"] = type(entry)("second.gguf", 1, "", COMMIT)
    manifest.write(here / ID, found)
    with pytest.raises(BadOption):
        find_stored(here, ID)


def test_verify_finds_damaged_missing_and_unknown_files(here):
    assert states(here, "some/folder") == {"config.json": "ok", "model.safetensors": "ok"}
    with (here / "some/folder/model.safetensors").open("r+b") as file:
        file.seek(5000)
        file.write(b"?")
    (here / "some/folder/notes.txt").write_text("mine")
    assert states(here, "some/folder") == {
        "config.json": "ok", "model.safetensors": "damaged", "notes.txt": "unknown",
    }  # fmt: skip
    assert states(here, "by-hand.gguf") == {"by-hand.gguf": "unknown"}


def test_a_deleted_part_is_reported_as_missing(server, models):
    server.repositories[ID] = Offered({name: content(100) for name in BOTH})
    finished(server, asked(server), models)
    (models / ID / BOTH[1]).unlink()
    assert states(models, ID) == {BOTH[0]: "ok", BOTH[1]: "missing"}


def test_verify_reports_progress_and_can_be_stopped(here):
    seen = []
    verify(find_stored(here, "some/folder"), Stop(), lambda done, total: seen.append((done, total)))
    assert seen[-1] == (9002, 9002)
    stop = Stop()
    stop.ask()
    with pytest.raises(Stopped):
        verify(find_stored(here, "some/folder"), stop, unwatched)


def test_delete_returns_the_bytes_freed_and_leaves_other_models(here):
    assert delete(here, find_stored(here, "some/folder")) == 9002
    assert not (here / "some/folder/config.json").exists()
    assert not (here / "some/folder/specexec.json").exists()
    (here / ID / "second.gguf").write_bytes(b"2")
    assert delete(here, find_stored(here, f"{ID}/{FILE}")) == 5000
    assert [path.name for path in (here / ID).iterdir()] == ["second.gguf"]
    assert [model.name for model in stored(here)] == ["by-hand.gguf", f"{ID}/second.gguf"]
    assert delete(here, find_stored(here, "by-hand.gguf")) == 4
    assert here.is_dir()


def test_a_model_being_downloaded_is_not_deleted(here):
    with locked(here, [ID]), pytest.raises(DownloadRunning):
        delete(here, find_stored(here, ID))
    assert (here / ID / FILE).exists()


# -- import --------------------------------------------------------------------------------------------------


def test_a_file_is_imported_without_copying_it(tmp_path, models):
    source = write_gguf(tmp_path / "My model.gguf")
    models.mkdir()
    seen = []
    got = import_model(models, source, Stop(), lambda done, total: seen.append((done, total)))
    assert got.name == "imported/My-model/My model.gguf"
    assert got.path.samefile(source)
    assert states(models, got.name) == {"My model.gguf": "ok"}
    assert seen[-1] == (got.nbytes, got.nbytes)
    delete(models, got)
    assert source.exists()
    assert list(models.glob("[!.]*")) == []


def test_a_catalogue_file_is_imported_to_where_the_catalogue_looks(tmp_path, models, monkeypatch):
    monkeypatch.setenv("SPECEXEC_MODELS", str(models))
    models.mkdir()
    got = import_model(models, write_gguf(tmp_path / catalog.entries()["coder"].file), Stop(), unwatched)
    assert catalog.resolve("coder") == got.path


def test_a_folder_is_imported_without_files_that_are_not_part_of_the_model(tmp_path, models, monkeypatch):
    source = write_folder(tmp_path / "source", shards=2)
    (source / "pytorch_model.bin").write_bytes(b"pickle")
    models.mkdir()

    def elsewhere(self, target):
        raise OSError("another file system")

    monkeypatch.setattr(Path, "hardlink_to", elsewhere)
    got = import_model(models, source, Stop(), unwatched)
    assert got.path == models / "imported/source"
    assert not (got.path / "pytorch_model.bin").exists()
    for file in got.files:
        assert file.read_bytes() == (source / file.name).read_bytes()
    with pytest.raises(BadOption, match="already"):
        import_model(models, source, Stop(), unwatched)


def test_the_cache_of_huggingface_hub_keeps_its_names_and_commit(tmp_path, models):
    cached = tmp_path / "hub/models--owner--model"
    blobs = write_folder(cached / "blobs")
    snapshot = cached / "snapshots" / COMMIT
    snapshot.mkdir(parents=True)
    for blob in blobs.iterdir():
        (snapshot / blob.name).symlink_to(blob)
    models.mkdir()
    got = import_model(models, snapshot, Stop(), unwatched)
    assert (got.name, got.commit) == (ID, COMMIT)
    assert not any(file.is_symlink() for file in got.files)


def test_a_file_that_is_not_a_model_is_not_imported(tmp_path, models):
    models.mkdir()
    (tmp_path / "notes.gguf").write_text("my notes")
    with pytest.raises(BadCheckpoint):
        import_model(models, tmp_path / "notes.gguf", Stop(), unwatched)
    assert list(models.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="changes the effective user")
def test_a_read_only_file_is_copied_with_its_mode_and_times():
    folder = Path(tempfile.mkdtemp())  # pytest's own folders are closed to other users
    folder.chmod(0o777)
    source = folder / "model.gguf"
    source.write_bytes(content(5000))
    source.chmod(0o444)
    os.utime(source, ns=(10**18, 10**18 + 7))
    user = os.geteuid()
    try:
        if user == 0:  # root may write everything
            os.seteuid(65534)
        disk.copy(source, folder / "copy.gguf", Stop(), lambda done: None)
    finally:
        os.seteuid(user)
    copy = (folder / "copy.gguf").stat()
    assert (copy.st_mode & 0o777, copy.st_mtime_ns) == (0o444, 10**18 + 7)
    assert (folder / "copy.gguf").read_bytes() == content(5000)
    shutil.rmtree(folder)


def test_an_import_that_is_stopped_leaves_nothing(tmp_path, models):
    source = write_folder(tmp_path / "source", shards=2)
    models.mkdir()
    stop = Stop()
    with pytest.raises(Stopped):
        import_model(models, source, stop, lambda done, total: stop.ask() if done > total / 2 else None)
    assert list(models.glob("[!.]*")) == []
    assert len(list(source.iterdir())) == 4


# -- move ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("linked", [True, False], ids=["one file system", "two"])
def test_the_whole_folder_moves_and_unfinished_downloads_continue_there(
    server, here, tmp_path, monkeypatch, linked
):
    server.repositories["third/model"] = Offered({"x.gguf": content(8000, 4)})
    server.faults["x.gguf"].append(stalls(3000))
    running = download(server, asked(server, "third/model"), here)
    running.start()
    wait_for(running, 3000)
    running.pause()
    running.wait(10)
    before = [(model.name, model.nbytes, model.commit) for model in stored(here)]
    if not linked:
        monkeypatch.setattr(disk, "link", lambda *_: False)
    target = tmp_path / "new disk" / "models"
    told = []
    move(here, target, Stop(), unwatched, told.append)
    assert told == [target]
    assert not here.exists()
    assert [(model.name, model.nbytes, model.commit) for model in stored(target)] == before
    [item] = unfinished(target)
    done = finished(server, item, target)
    assert done.progress().fetched_nbytes == 5000
    assert (target / "third/model/x.gguf").read_bytes() == content(8000, 4)


def test_a_stopped_move_leaves_the_old_folder_unchanged_and_can_be_continued(here, tmp_path, monkeypatch):
    monkeypatch.setattr(disk, "link", lambda *_: False)
    stop, told = Stop(), []
    target = tmp_path / "target"
    with pytest.raises(Stopped):
        move(here, target, stop, lambda done, total: stop.ask() if done > 4000 else None, told.append)
    assert told == []
    assert len(stored(here)) == 3
    assert move(here, target, Stop(), unwatched, told.append) > 14_000
    assert len(stored(target)) == 3
    assert not here.exists()


def test_nothing_is_overwritten_by_a_move(here, tmp_path):
    (tmp_path / "target").mkdir()
    (tmp_path / "target/by-hand.gguf").write_text("another")
    for target in (tmp_path / "target", here / "below", here.parent):
        with pytest.raises(BadOption):
            move(here, target, Stop(), unwatched, lambda folder: pytest.fail("told"))
    assert len(stored(here)) == 3


def test_nothing_is_moved_under_a_running_download(here, tmp_path):
    with locked(here, [ID]), pytest.raises(DownloadRunning):
        move(here, tmp_path / "target", Stop(), unwatched, lambda folder: pytest.fail("told"))
    assert len(stored(here)) == 3


# -- damaged manifests ---------------------------------------------------------------------------------------

BAD_ENTRIES = {
    "leads out": ("../../etc/passwd", {"name": "x", "nbytes": 1, "sha256": "", "commit": ""}),
    "no size": ("b.gguf", {"name": "b.gguf", "nbytes": "many", "sha256": "", "commit": ""}),
    "huge size": ("b.gguf", {"name": "b.gguf", "nbytes": 1 << 60, "sha256": "", "commit": ""}),
    "negative size": ("b.gguf", {"name": "b.gguf", "nbytes": -1, "sha256": "", "commit": ""}),
    "no entry": ("b.gguf", None),
}


def two_models(models: Path) -> None:
    for id in ("one/a", "two/c"):
        (models / id).mkdir(parents=True)
        (models / id / "a.gguf").write_bytes(b"a")
        listed = Repository(id, "0" * 40, "mit", False, "", (RemoteFile("a.gguf", 1),))
        sums = {"a.gguf": hashlib.sha256(b"a").hexdigest()}
        manifest.write(models / id, manifest.added(None, listed, sums))


def state_of(model: StoredModel) -> str:
    return verify(model, Stop(), lambda done, total: None)[0].state


@pytest.mark.parametrize("bad", BAD_ENTRIES.values(), ids=BAD_ENTRIES.keys())
def test_a_bad_entry_is_left_out_and_named_and_the_others_stay(models: Path, bad: tuple[str, object]) -> None:
    two_models(models)
    path = models / "one/a/specexec.json"
    content = json.loads(path.read_text())
    content["files"][bad[0]] = bad[1]
    path.write_text(json.dumps(content))
    hurt, other = stored(models)
    assert state_of(hurt) == state_of(other) == "ok"
    assert other.faults == ()
    [fault] = hurt.faults
    assert str(path) in fault
    assert bad[0] in fault
    delete(models, hurt)
    assert [model.name for model in stored(models)] == ["two/c/a.gguf"]


BROKEN = {"empty": b"", "cut off": b"{", "deep": b"[" * 20_000, "wrong": b'{"files": 3}', "no text": b"\xff"}


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN.keys())
def test_a_manifest_that_cannot_be_read_is_named_and_its_models_stay_listed(
    models: Path, content: bytes
) -> None:
    two_models(models)
    (models / "one/a/specexec.json").write_bytes(content)
    hurt, other = stored(models)
    assert (state_of(hurt), state_of(other)) == ("unknown", "ok")
    assert "cannot be read" in hurt.faults[0]
    delete(models, hurt)
    assert [model.name for model in stored(models)] == ["two/c/a.gguf"]


def test_a_manifest_of_no_repository_locks_by_the_name_of_the_model(models: Path) -> None:
    two_models(models)
    path = models / "one/a/specexec.json"
    path.write_text(path.read_text().replace("one/a", "../" + "x" * 5000))
    hurt, _ = stored(models)
    assert hurt.repository == ""
    assert "names no repository" in hurt.faults[0]
    delete(models, hurt)
    assert not list(models.parent.glob("*.lock"))


def test_a_link_to_nowhere_is_no_model(models: Path) -> None:
    two_models(models)
    (models / "one/a/gone.gguf").symlink_to(models / "nowhere.gguf")
    assert [model.name for model in stored(models)] == ["one/a/a.gguf", "two/c/a.gguf"]


@pytest.mark.parametrize(
    "content", [b"[" * 20_000, b'{"name": "x", "repositories": []}'], ids=["deep", "empty"]
)
def test_damaged_records_of_downloads_are_ignored(models: Path, content: bytes) -> None:
    (models / ".downloads").mkdir(parents=True)
    (models / ".downloads/x.json").write_bytes(content)
    assert unfinished(models) == []
