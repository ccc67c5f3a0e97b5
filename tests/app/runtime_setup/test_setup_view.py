"""The widget that chooses a backend and shows the set-up of the engine."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.runtime_setup import setup_view
from app.runtime_setup.setup_view import SetupView
from engine import runtime
from engine.runtime import BadArchive
from tests.app.runtime_setup.packaged import CARD, FakeSetups, said
from tests.app.shared_fixtures import GIB


@pytest.mark.parametrize("width", [300, 1000])
def test_all_backends_are_visible_at_any_width(
    make_view: Callable[[], SetupView],
    seen: Callable[..., None],
    qtbot: QtBot,
    width: int,
) -> None:
    seen(replace(CARD, driver="550.1"))
    view = make_view().backends
    view.setFixedWidth(width)
    last = view.item(view.count() - 1)
    qtbot.waitUntil(lambda: view.visualItemRect(last).bottom() == view.viewport().rect().bottom())


def test_too_little_disk_space_is_shown_before_the_set_up_starts(
    make_view: Callable[[], SetupView], seen: Callable[..., None]
) -> None:
    seen(CARD, free_nbytes=2 * GIB)
    view = make_view()
    assert "Not enough disk space: 5.6 GB needed, 2.0 GB free" in said(view)
    view.backends.choose("cpu")
    assert "Not enough disk space" not in said(view)


def test_a_runtime_file_is_used_without_a_network_and_a_bad_one_is_reported(
    make_view: Callable[[], SetupView],
    setups: FakeSetups,
    qtbot: QtBot,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    view = make_view()
    bad = tmp_path / "bad.zip"
    bad.write_bytes(b"no zip")
    view.use_file(bad)
    qtbot.waitUntil(view.problem.isVisible)
    assert "bad.zip is not a runtime file" in view.problem.message

    class Whole:
        backend = runtime.backends()["cuda"]

    monkeypatch.setattr(setup_view, "Archive", lambda path: Whole())
    view.use_file(tmp_path / "cuda.zip")
    qtbot.waitUntil(lambda: len(setups.made) == 1)
    assert (setups.last.backend.name, type(setups.last.archive)) == ("cuda", Whole)
    assert not view.problem.isVisible()
    setups.last.fail(BadArchive("It is damaged.", "Copy it again."))
    qtbot.waitUntil(view.progress.resume.isVisible)
    assert "Unpack the file" in said(view.progress)
    view.progress.resume.click()
    assert type(setups.last.archive) is Whole
    assert len(setups.made) == 2
    setups.last.cancel()
    qtbot.waitUntil(lambda: not view.progress.isVisible())
