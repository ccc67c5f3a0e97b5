"""Newer files of a stored model: found on request, downloaded beside the old ones, verified, then swapped."""

from dataclasses import replace
from pathlib import Path

import pytest

from engine.errors import BadOption, ModelNotFound
from engine.hub import Hub, Renewal, Stop, find_renewal, find_stored, verify
from tests.engine.hub.conftest import FILE, ID, asked, content, finished, offer
from tests.engine.hub.lying_hub import COMMIT, LyingHub, Offered

NEWER = COMMIT[::-1]
FOLDER = {"config.json": b"{}", "tokenizer.json": b"[1]", "model.safetensors": content(9000, 1)}


def renewal(server: LyingHub, models: Path, name: str = ID) -> Renewal | None:
    return find_renewal(Hub(server.endpoint), find_stored(models, name), Stop())


def change(server: LyingHub, id: str, **files: bytes) -> None:
    """Make a commit in a repository. files: by name, with _ in place of a dot."""
    offered = server.repositories[id]
    changed = {name.replace("_", "."): data for name, data in files.items()}
    server.repositories[id] = replace(offered, commit=NEWER, files=offered.files | changed)


def states(models: Path, name: str) -> set[str]:
    return {file.state for file in verify(find_stored(models, name), Stop(), lambda done, total: None)}


@pytest.fixture
def folder(server: LyingHub, models: Path) -> str:
    server.repositories["some/folder"] = Offered(FOLDER, in_git={"config.json", "tokenizer.json"})
    finished(server, asked(server, "some/folder"), models)
    return "some/folder"


def test_a_model_at_the_newest_commit_is_up_to_date(server: LyingHub, models: Path) -> None:
    finished(server, offer(server, 5000), models)
    assert renewal(server, models) is None


def test_a_commit_that_changes_no_file_of_the_model_is_no_update(server: LyingHub, models: Path) -> None:
    finished(server, offer(server, 5000), models)
    change(server, ID, README_md=b"more words")
    assert renewal(server, models) is None


def test_only_the_changed_files_are_downloaded(server: LyingHub, models: Path, folder: str) -> None:
    change(server, folder, tokenizer_json=b"[2]")
    found = renewal(server, models, folder)
    assert found is not None
    assert [file.name for file in found.changed] == ["tokenizer.json"]
    assert found.nbytes == 3
    sent = server.sent_nbytes
    finished(server, found.item(folder), models)
    assert server.sent_nbytes - sent == 3
    assert (models / folder / "tokenizer.json").read_bytes() == b"[2]"
    assert find_stored(models, folder).commit == NEWER
    assert states(models, folder) == {"ok"}
    assert renewal(server, models, folder) is None


@pytest.mark.parametrize("nbytes", [5000, 7000], ids=["the same size", "another size"])
def test_a_changed_file_replaces_the_old_one_only_when_it_is_whole(
    server: LyingHub, models: Path, nbytes: int
) -> None:
    old, new = content(5000), content(nbytes, 7)
    finished(server, offer(server, 5000), models)
    change(server, ID, model_gguf=new)
    found = renewal(server, models)
    assert found is not None
    server.faults[FILE].append(lambda answer: answer.refuse(404))
    assert finished(server, found.item(ID), models).progress().state == "failed"
    assert (models / ID / FILE).read_bytes() == old
    assert find_stored(models, ID).commit == COMMIT
    assert finished(server, found.item(ID), models).progress().state == "done"
    assert (models / ID / FILE).read_bytes() == new
    assert states(models, ID) == {"ok"}


def test_another_model_of_the_repository_is_not_downloaded_with_it(server: LyingHub, models: Path) -> None:
    finished(server, offer(server, 5000), models)
    change(server, ID, model_gguf=content(6000, 2), other_gguf=content(100))
    found = renewal(server, models)
    assert found is not None
    assert [file.name for file in found.repository.files] == [FILE]


def test_what_cannot_be_renewed_is_named(server: LyingHub, models: Path, folder: str) -> None:
    (models / "by-hand.gguf").write_bytes(b"GGUF")
    with pytest.raises(BadOption, match=r"where by-hand\.gguf comes from"):
        renewal(server, models, "by-hand.gguf")
    finished(server, offer(server, 5000), models)
    server.repositories[ID] = Offered({"another.gguf": b"x"}, commit=NEWER)
    with pytest.raises(ModelNotFound, match=FILE):
        renewal(server, models)
    server.repositories[folder] = Offered({"only.gguf": b"x"}, commit=NEWER)
    with pytest.raises(BadOption, match="no longer has this form"):
        renewal(server, models, folder)
    assert states(models, folder) == {"ok"}
