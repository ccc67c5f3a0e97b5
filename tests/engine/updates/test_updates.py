"""Updates against a release server that lies, and against new versions that do not start."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine import updates
from engine.errors import SpecExecError
from engine.hub import BadDownload, DownloadRunning, Stop, Stopped
from engine.hub.connection import Bounds
from engine.hub.progress import TransferMeter
from engine.launch import interpreter
from engine.updates import BadRelease, Installation, Package, ReleaseIndex, ReleasesUnreachable
from engine.updates import index as index_module
from tests.engine.hub.lying_hub import (
    Fault,
    LyingHub,
    bursts,
    drops,
    endless,
    flips_a_bit,
    redirects_to,
    silent,
    tells,
    trickles,
)
from tests.engine.updates.made_up import KEY, NEW, OLD, install, make_program, make_run_file, offer, started

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="installs with a shell script")
CRASHES = "#!/bin/sh\nexit 3\n"
HANGS = "#!/bin/sh\nexec sleep 600\n"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LyingHub]:
    for variable in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(variable, raising=False)
    serving = LyingHub()
    yield serving
    serving.close()


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installation:
    """The program, installed for one user; this process is its old version."""
    found = install(tmp_path / "prefix with ä space", tmp_path / "scratch")
    run_as(found.place / found.running, monkeypatch)
    return found


def run_as(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreter, "ROOT", folder)
    monkeypatch.setattr(sys, "executable", str(folder / "python"))


def newest(url: str, version: str = OLD) -> ReleaseIndex | None:
    return updates.newest_release(Package("run", version, url, KEY))


def prepare(here: Installation, url: str, stop: Stop | None = None) -> None:
    release = newest(url)
    assert release is not None
    updates.prepare(here, release, TransferMeter("", 0), stop or Stop())


def offer_run(server: LyingHub, folder: Path, **made: str) -> str:
    return offer(server, "run", make_run_file(folder, NEW, **made))


def nothing_changed(here: Installation) -> bool:
    return here.trial is None and started(here) == OLD


# -- the index -----------------------------------------------------------------------------------------------


def test_versions_only_rise(server: LyingHub) -> None:
    url = offer(server, "run", b"x")
    release = newest(url)
    assert release is not None
    assert (release.version, release.page) == (NEW, "https://example.org/new")
    assert release.files[0].url == url.replace("releases.json", f"program-{NEW}.run")
    assert newest(url, NEW) is None
    assert newest(url, "2.0.1") is None
    assert newest(url, "10.0") is None
    assert newest(url, "2.0.0rc1") is not None


@pytest.mark.parametrize("spoil", ["text", "signature", "key", "field"])
def test_an_index_that_is_not_signed_as_it_stands_is_refused(server: LyingHub, spoil: str) -> None:
    url = offer(server, "run", b"x", secret=bytes(32) if spoil == "key" else bytes(range(32)))
    files = server.repositories["owner/program"].files
    document = json.loads(files["releases.json"])
    if spoil == "text":
        document["signed"] = document["signed"].replace("2.0.0", "3.0.0")
    if spoil == "signature":
        document["signature"] = document["signature"][:-1] + "_"
    if spoil == "field":
        del document["signature"]
    files["releases.json"] = json.dumps(document).encode()
    with pytest.raises(BadRelease, match="cannot be trusted"):
        newest(url)


@pytest.mark.parametrize(
    "lie",
    [
        silent,
        trickles,
        endless,
        bursts(),
        tells(b"[" * 20_000 + b"]" * 20_000),
        redirects_to("http://["),
        redirects_to("file:///etc/passwd"),
    ],
    ids=["silence", "a byte at a time", "no end", "bomb", "deep", "redirect nowhere", "redirect to a file"],
)
def test_a_lying_server_is_left_soon(monkeypatch: pytest.MonkeyPatch, server: LyingHub, lie: Fault) -> None:
    monkeypatch.setattr(index_module, "BOUNDS", Bounds(silence_s=0.3, whole_s=0.6, nbytes=100_000))
    server.faults["releases.json"].append(lie)
    with pytest.raises((ReleasesUnreachable, BadRelease)):
        newest(offer(server, "run", b"x"))


# -- the package ---------------------------------------------------------------------------------------------


def test_a_new_version_is_prepared_beside_the_old_one_and_opens_at_the_next_start(
    here: Installation, server: LyingHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(here, offer_run(server, tmp_path / "new"))
    assert started(here) == OLD
    assert here.trial == f"app-{NEW}"
    assert updates.try_new_version(here, ["--budget", "3"]) == 0
    assert started(here) == NEW
    assert here.trial is None
    assert updates.try_new_version(here, []) is None

    run_as(here.place / f"app-{NEW}", monkeypatch)
    now = updates.this_installation()
    assert now == Installation("run", here.place, here.work, f"app-{NEW}")
    assert not updates.confirm(now)
    updates.tidy(now)
    assert [path.name for path in here.place.glob("*app-*")] == [f"app-{NEW}"]
    assert not updates.confirm(now)


def test_a_download_that_broke_off_is_continued(here: Installation, server: LyingHub, tmp_path: Path) -> None:
    url = offer_run(server, tmp_path / "new")
    name = f"program-{NEW}.run"
    server.faults[name].extend([drops(100_000), drops(50_000)])
    prepare(here, url)
    assert here.trial == f"app-{NEW}"
    assert len([each for each in server.ranges() if not each.startswith("bytes=0-")]) == 2


def test_a_stopped_download_is_continued_later(here: Installation, server: LyingHub, tmp_path: Path) -> None:
    url = offer_run(server, tmp_path / "new")
    stop = Stop()

    def stops(request: object) -> None:
        stop.ask()
        drops(1000)(request)  # type: ignore[arg-type]

    server.faults[f"program-{NEW}.run"].extend([drops(100_000), stops])
    with pytest.raises(Stopped):
        prepare(here, url, stop)
    assert nothing_changed(here)
    sent = server.sent_nbytes
    prepare(here, url)
    assert server.sent_nbytes - sent < len(server.repositories["owner/program"].files[f"program-{NEW}.run"])
    assert updates.try_new_version(here, []) == 0


def other_bytes(server: LyingHub, name: str) -> None:
    files = server.repositories["owner/program"].files
    files[name] = bytes(len(files[name]))


def half_a_file(server: LyingHub, name: str) -> None:
    files = server.repositories["owner/program"].files
    files[name] = files[name][: len(files[name]) // 2]


def flipped(server: LyingHub, name: str) -> None:
    server.faults[name].extend([flips_a_bit, flips_a_bit])


def elsewhere(server: LyingHub, name: str) -> None:
    files = server.repositories["owner/program"].files
    files["other"] = b"#!/bin/sh\ntouch /tmp/should-not-exist\n".ljust(len(files[name]))
    server.faults[name].extend([redirects_to("other")] * 3)


def gone(server: LyingHub, name: str) -> None:
    del server.repositories["owner/program"].files[name]


def unencrypted_nowhere(server: LyingHub, name: str) -> None:
    server.faults[name].append(redirects_to("ftp://127.0.0.1/x"))


@pytest.mark.parametrize("lie", [other_bytes, half_a_file, flipped, elsewhere, gone, unencrypted_nowhere])
def test_a_package_other_than_the_one_listed_is_never_used(
    here: Installation, server: LyingHub, tmp_path: Path, lie
) -> None:
    url = offer_run(server, tmp_path / "new")
    lie(server, f"program-{NEW}.run")
    with pytest.raises(BadDownload):
        prepare(here, url)
    assert nothing_changed(here)
    assert not (here.place / f"app-{NEW}").exists()


@pytest.mark.parametrize("content", [b"#!/bin/sh\nexit 1\n", b"#!/bin/sh\nexit 0\n", b"\0\1\2"])
def test_a_package_that_does_not_unpack_is_refused(
    here: Installation, server: LyingHub, content: bytes
) -> None:
    with pytest.raises(SpecExecError):
        prepare(here, offer(server, "run", content))
    assert nothing_changed(here)


def test_a_package_with_another_version_inside_is_refused(
    here: Installation, server: LyingHub, tmp_path: Path
) -> None:
    with pytest.raises(BadRelease, match="another version"):
        prepare(here, offer_run(server, tmp_path / "new", says="0.5.0"))
    assert nothing_changed(here)


def test_a_release_without_this_kind_of_package_is_refused(here: Installation, server: LyingHub) -> None:
    with pytest.raises(BadRelease, match="no package"):
        prepare(here, offer(server, "setup", b"x"))


def test_only_one_process_updates(
    here: Installation, server: LyingHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.updates.update.LOCK_S", 0)
    url = offer_run(server, tmp_path / "new")
    with here.lock(), pytest.raises(DownloadRunning):
        prepare(here, url)
    prepare(here, url)
    with here.lock():
        assert updates.try_new_version(here, []) is None
    assert here.trial is not None
    assert not here.was_tried


# -- the trial -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("window", [CRASHES, HANGS, "not a program"])
def test_a_version_that_opens_no_window_is_rolled_back_at_once(
    here: Installation, server: LyingHub, tmp_path: Path, window: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.updates.trial.PATIENCE_S", 0.5)
    prepare(here, offer_run(server, tmp_path / "new", window=window))
    assert updates.try_new_version(here, []) is None
    assert nothing_changed(here)
    assert here.refused == NEW
    assert not (here.place / f"app-{NEW}").exists()
    assert updates.try_new_version(here, []) is None
    here.forget_refused()
    assert here.refused == ""


def test_a_version_during_whose_first_start_the_machine_went_down_is_rolled_back(
    here: Installation, server: LyingHub, tmp_path: Path
) -> None:
    prepare(here, offer_run(server, tmp_path / "new"))
    here.mark_tried()
    assert updates.try_new_version(here, []) is None
    assert nothing_changed(here)
    assert here.refused == NEW


def test_what_was_downloaded_can_be_given_up(here: Installation, server: LyingHub, tmp_path: Path) -> None:
    prepare(here, offer_run(server, tmp_path / "new"))
    here.discard()
    assert nothing_changed(here)
    assert here.refused == ""


def test_an_appimage_is_replaced_in_place_once_the_new_one_has_opened(
    server: LyingHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "My Äpp.AppImage"
    place.write_text(f"#!/bin/sh\nprintf {OLD}\n")
    place.chmod(0o755)
    root = make_program(tmp_path / "unpacked" / "usr", OLD, "appimage")
    monkeypatch.setattr(interpreter, "ROOT", root)
    monkeypatch.setenv("APPDIR", str(tmp_path / "unpacked"))
    monkeypatch.setenv("APPIMAGE", str(place))
    here = updates.this_installation()
    assert here is not None
    assert (here.kind, here.place) == ("appimage", place)
    content = f'#!/bin/sh\nprintf {NEW}\nrm -f "$(dirname "$0")/trial"\n'.encode()
    prepare(here, offer(server, "appimage", content))
    assert started(here) == OLD

    monkeypatch.setenv("APPIMAGE", str(here.path(f"app-{NEW}")))  # as the new version sees it
    new = updates.this_installation()
    assert new is not None
    assert (new.place, new.running) == (place, f"app-{NEW}")
    assert updates.try_new_version(new, []) is None, "it does not start itself"
    assert updates.confirm(new)
    assert started(here) == NEW
    assert here.trial is None


def test_an_appimage_that_opens_no_window_stays_out(
    server: LyingHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "x.AppImage"
    place.write_text(f"#!/bin/sh\nprintf {OLD}\n")
    place.chmod(0o755)
    here = Installation("appimage", place, tmp_path / ".x.AppImage.update", "")
    prepare(here, offer(server, "appimage", CRASHES.encode()))
    assert updates.try_new_version(here, []) is None
    assert nothing_changed(here)
    assert here.refused == NEW
    assert not here.path(f"app-{NEW}").exists()


def test_nothing_but_an_own_installation_updates_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert updates.this_package() is None, "a checkout"
    assert updates.this_installation() is None
    for kind, folder in (("deb", "opt"), ("run", "app-1"), ("appimage", "loose")):
        monkeypatch.setattr(interpreter, "ROOT", make_program(tmp_path / folder, OLD, kind))
        assert updates.this_installation() is None
        assert updates.this_package() == Package(kind, OLD)  # type: ignore[arg-type]
        assert not Package(kind, OLD).can_look  # type: ignore[arg-type]


def test_no_name_leads_out_of_the_installation(here: Installation, tmp_path: Path) -> None:
    here.work.mkdir()
    (here.place.parent / "app-out").mkdir()
    for name in ("../app-out", "app-/../../app-out", "app-gone", "", "x" * 5000, "current"):
        (here.work / "trial").write_text(name)
        assert here.trial is None


# -- killed --------------------------------------------------------------------------------------------------


def test_killed_at_any_point_the_old_or_the_new_version_starts(
    here: Installation, server: LyingHub, tmp_path: Path
) -> None:
    url = offer_run(server, tmp_path / "new")
    # A process of its own, without threads, forks a child for each point.
    killing = [sys._base_executable, "-m", "tests.engine.updates.killed", here.place, url, tmp_path]
    environment = {"PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run(killing, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    points = json.loads(done.stdout)
    assert sum(points.values()) >= 20, points
    assert min(points.values()) >= 2, points
