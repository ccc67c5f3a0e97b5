"""Runtime files, whole and in parts."""

import io
import os
import zipfile
from pathlib import Path

import pytest

from engine import runtime
from engine.hub import Stop
from engine.runtime.archive import Joined
from engine.runtime.progress import SetupMeter
from tests.engine.runtime.conftest import App
from tests.engine.runtime.made_up import make_archive

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the miniature app has Linux's layout")


@pytest.mark.parametrize("parts", [1, 5])
def test_a_runtime_file_is_the_only_source_needed(app: App, tmp_path: Path, parts: int) -> None:
    make_archive(app.wheels, tmp_path, parts)
    for wheel in app.wheels.glob("*.whl"):
        wheel.unlink()
    last = tmp_path / ("cpu.zip" if parts == 1 else "cpu.zip.003")  # any part identifies the set
    setup = runtime.Setup(runtime.backends()["cpu"], archive=runtime.Archive(last))
    assert app.setup_done(setup), setup.error
    found = runtime.current()
    assert found is not None
    assert found.backend == "cpu"
    assert not (found.folder.parent / "wheels").exists()
    assert not list(tmp_path.rglob("outside.whl"))


@pytest.mark.parametrize("with_sums", [True, False])
def test_a_damaged_part_is_named(app: App, tmp_path: Path, with_sums: bool) -> None:
    archive = runtime.Archive(make_archive(app.wheels, tmp_path, 3))
    if not with_sums:
        (tmp_path / "cpu.zip.sha256").unlink()
    second = tmp_path / "cpu.zip.002"
    data = bytearray(second.read_bytes())
    data[len(data) // 2] ^= 1
    second.write_bytes(data)
    with pytest.raises(runtime.BadArchive, match="is damaged"):
        archive.unpack(tmp_path / "to", Stop(), SetupMeter())


def test_a_missing_part_or_another_file_is_named(app: App, tmp_path: Path) -> None:
    first = make_archive(app.wheels, tmp_path, 3)
    (tmp_path / "cpu.zip.003").unlink()
    with pytest.raises(runtime.BadArchive, match="a part of it is missing"):
        runtime.Archive(first)
    with pytest.raises(runtime.BadArchive, match="does not exist"):
        runtime.Archive(tmp_path / "none.zip")


@pytest.mark.parametrize("manifest", [{"key": "0" * 16}, {"backend": "cuda"}])
def test_a_file_of_another_version_is_refused(app: App, tmp_path: Path, manifest: dict[str, str]) -> None:
    with pytest.raises(runtime.BadArchive, match="another version"):
        runtime.Archive(make_archive(app.wheels, tmp_path, **manifest))


def test_joined_files_read_as_one_stream(tmp_path: Path) -> None:
    data = bytes(range(256)) * 5
    paths = []
    for number, (begin, end) in enumerate([(0, 7), (7, 7), (7, 600), (600, len(data))]):
        paths.append(tmp_path / str(number))
        paths[-1].write_bytes(data[begin:end])
    with Joined(paths) as joined:
        for begin, nbytes in [(0, 3), (5, 4), (6, 700), (599, 2), (1270, 100), (0, -1)]:
            joined.seek(begin)
            assert joined.read(nbytes) == data[begin:][: nbytes if nbytes >= 0 else None]
        joined.seek(-10, io.SEEK_END)
        assert joined.read() == data[-10:]


def rewritten(file: Path, manifest: bytes, compression: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(file, "w", compression) as archive:
        archive.writestr("runtime.json", manifest)
    return file


@pytest.mark.parametrize(
    "manifest",
    [b"[" * 20_000, b"[]", b'{"backend": [], "key": {}}', b'{"backend": "cpu"}', b"\xff", b" " * (1 << 25)],
    ids=["deep", "list", "wrong", "cut off", "no text", "bomb"],
)
def test_a_damaged_manifest_is_named(app: App, tmp_path: Path, manifest: bytes) -> None:
    with pytest.raises(runtime.BadArchive, match="is not a runtime file"):
        runtime.Archive(rewritten(tmp_path / "cpu.zip", manifest))


@pytest.mark.parametrize(("place", "value"), [(6, 1), (8, 99)], ids=["encrypted", "unknown packing"])
def test_an_archive_that_cannot_be_unpacked_is_named(
    app: App, tmp_path: Path, place: int, value: int
) -> None:
    """`place`: of the field in the local header; the one in the directory lies 2 bytes further."""
    file = rewritten(tmp_path / "cpu.zip", b'{"backend": "cpu", "key": ""}')
    data = bytearray(file.read_bytes())
    for start in (0, data.rindex(b"PK\x01\x02") + 2):
        data[start + place] = value
    file.write_bytes(data)
    with pytest.raises(runtime.BadArchive, match="is not a runtime file"):
        runtime.Archive(file)
