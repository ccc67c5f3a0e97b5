"""File names of a repository never lead out of the model's folder on any system."""

from pathlib import Path, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.hub import UnsafeName, names
from tests.engine.hub.conftest import FILE, ID, asked, finished, offer
from tests.engine.hub.lying_hub import Offered

EVIL = [
    "../../evil", "/etc/passwd", "a/../../evil", "..", ".", "", "a//b", "a/", "/a",
    "C:evil", "C:\\evil", "c:/evil", "\\\\server\\share\\evil", "a\\b", "..\\evil", "model.gguf:stream",
    "a:$DATA",
    "con", "NUL", "nul.json", "Aux.tar.gz", "COM1", "lpt9.txt", "com¹.gguf", "conin$", "nul .txt", "a/prn/b",
    "trailing.", "trailing ", "dir./a", " leading", "a\0b", "a\nb", "a\x7fb", "a?b", "a*b", 'a"b',
    "a<b", "a|b",
    "a" * 201, "b/" * 121 + "c", "\ud800", "specexec.json", "Specexec.JSON", "a.part",
    "a/b.part.json", "A.PART", "\x9b31m", "\u202efugg.exe", "a\u200b", "a\u2066b", "\ufeffa",
]  # fmt: skip


@pytest.mark.parametrize("name", EVIL)
def test_unsafe_names_are_refused(name, tmp_path):
    with pytest.raises(UnsafeName):
        names.place(tmp_path, name)


@pytest.mark.parametrize(
    "name",
    [
        "model.gguf",
        "Q4_K_M/model-00001-of-00002.gguf",
        ".gitattributes",
        "console.txt",
        "com10",
        "模型.gguf",
        "a..b",
    ],
)
def test_plain_names_are_paths_below_the_folder(name, tmp_path):
    assert names.place(tmp_path, name) == tmp_path / name


@given(st.text(st.sampled_from("abCN./\\: \0~-é") | st.characters(), max_size=20))
def test_accepted_names_stay_below_the_folder_on_every_system(name):
    folder = Path("/models/owner/name")
    try:
        place = names.place(folder, name)
    except UnsafeName:
        return
    assert place.is_relative_to(folder)
    assert ".." not in place.parts
    windows = PureWindowsPath("C:/models") / name
    assert windows.is_relative_to("C:/models")
    assert ".." not in windows.parts
    assert ":" not in name


@pytest.mark.parametrize(
    "together",
    [["a", "A"], ["é.json", "e\u0301.json"], ["a", "a/b"], ["a/b/c", "A/B"], ["straße", "STRASSE"]],
)
def test_two_names_are_never_one_file(together):
    with pytest.raises(UnsafeName):
        names.checked_together(together)
    names.checked_together(["a/b", "a/c", "ab"])


@pytest.mark.parametrize(
    "id", ["../evil", "owner", "owner/..", "owner/na me", "a/b/c", "nul/x", "owner/con", "/a"]
)
def test_ids_of_repositories_are_checked_like_names(id, server):
    wanted = offer(server).repositories[0]
    with pytest.raises(UnsafeName):
        type(wanted)(id, wanted.commit, "", False, "", wanted.files)


@pytest.mark.parametrize("name", ["../../evil.gguf", "/tmp/evil.gguf", "C:\\evil.gguf"])
def test_a_repository_with_such_a_file_is_refused_before_anything_is_written(server, models, name):
    server.repositories[ID] = Offered({FILE: b"good", name: b"evil"})
    with pytest.raises(UnsafeName) as caught:
        asked(server)
    assert caught.value.kind == "unsafe_name"
    assert not models.exists()


def test_a_record_of_an_unfinished_download_is_checked_as_well(server, models):
    from engine.hub import unfinished

    done = finished(server, offer(server), models)
    record = models / ".downloads" / f"{done.item.id}.json"
    record.write_text('{"name": "x", "repositories": [{"id": "../../x", "commit": "", "license": "",'
                      ' "gated": false, "page": "", "files": []}]}')  # fmt: skip
    assert unfinished(models) == []
