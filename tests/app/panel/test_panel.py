import os
from pathlib import Path

import msgspec
import pytest
from msgspec import structs
from PySide6.QtCore import QElapsedTimer, QPointF, Qt, QTimer
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QApplication, QMessageBox, QToolButton
from pytestqt.qtbot import QtBot

from app import formatting
from app.header.memory import by_tier
from app.panel.export import LONGEST, MOST_PIXELS, RunExport
from app.panel.glossary import Glossary
from app.panel.panel import Panel
from app.panel.run_figures import seconds_of
from app.panel.tree_geometry import MARGIN
from app.panel.tree_layout import ROOT
from app.panel.tree_painter import Kind
from app.startup.replay import Replay, show
from app.widgets import motion, theme
from engine.protocol.messages import ExpertFigures, IterationDone, Memory, MemoryPart, PassProgress
from tests.app.fake_engine import answer, grown, verdict
from tests.app.panel.recorded import RUN
from tests.app.seen import labels, says


@pytest.fixture
def panel(qtbot: QtBot) -> Panel:
    panel = Panel()
    qtbot.addWidget(panel)
    panel.resize(520, 600)
    panel.show()
    qtbot.waitExposed(panel)
    yield panel
    panel.begin()


def test_a_verdict_stays_briefly_before_the_newest_growing_tree_follows(panel: Panel, qtbot: QtBot) -> None:
    panel.show_tree(verdict(1, 1))
    panel.show_tree(grown(1, 2))
    assert panel.tree.kind(0) is Kind.ACCEPTED
    qtbot.waitUntil(lambda: panel.tree.kind(0) is Kind.GROWING)


def test_the_tree_is_described_in_words(panel: Panel) -> None:
    panel.show_tree(verdict(1, 41))
    assert panel.tree.accessibleDescription() == "Iteration 41: 2 of 6 accepted"


@pytest.mark.parametrize(
    ("processors", "reduced", "fades"), [(1000, False, True), (1000, True, False), (0.01, False, False)]
)
def test_a_verdict_fades_if_there_is_time_for_frames(
    panel: Panel, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, processors: float, reduced: bool, fades: bool
) -> None:
    shares: list[float] = []
    monkeypatch.setattr(panel.tree, "fade", shares.append)
    monkeypatch.setattr(os, "cpu_count", lambda: processors)
    monkeypatch.setattr(motion, "is_reduced", lambda: reduced)
    panel.tree.cost_s = 0.005
    panel.show_tree(verdict(1, 1))
    qtbot.waitUntil(lambda: not running(panel))
    assert bool(shares) == fades
    assert not fades or (shares[0] < 0.5 and shares[-1] == 1.0 and len(shares) > 3)


def running(panel: Panel) -> list[int]:
    """Return the intervals of the panel's timers that are running, in milliseconds."""
    return [timer.interval() for timer in panel.findChildren(QTimer) if timer.isActive()]


def test_no_timer_waits_after_the_answer(panel: Panel, qtbot: QtBot) -> None:
    panel.show_tree(verdict(1, 1))
    panel.show_tree(grown(1, 2))
    panel.show_answer(answer(1))
    qtbot.waitUntil(lambda: not running(panel))
    assert panel.tree.kind(0) is Kind.ACCEPTED


def test_a_hidden_panel_paints_nothing(panel: Panel, qtbot: QtBot) -> None:
    panel.hide()
    paints = panel.tree.paints
    for i in range(100):
        panel.show_tree(verdict(1, i))
    assert panel.tree.placed is None
    panel.show()
    qtbot.waitUntil(lambda: panel.tree.paints > paints)
    assert panel.tree.accessibleDescription().startswith("Iteration 99")


def test_a_large_tree_costs_less_than_a_frame(panel: Panel) -> None:
    event = grown(1)
    size = 2048
    event.tree.tokens = [0] * size
    event.tree.parents = [(i - 1) // 3 if i else -1 for i in range(size)]
    event.tree.log_probs = [-1.0 - i % 7 / 10 for i in range(size)]
    event.tree.sources = [1] * size
    event.tree.texts = [" token"] * size
    clock = QElapsedTimer()
    clock.start()
    for _ in range(10):
        panel.show_tree(event)
        panel.tree.grab()
    assert clock.elapsed() / 10 < 60  # measured: see specexec bench panel; a frame is 34


def test_many_verdicts_at_once_are_painted_once(panel: Panel, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: panel.tree.paints > 0)
    before = panel.tree.paints
    for i in range(30):
        panel.show_tree(verdict(1, i))
    QApplication.processEvents()
    assert panel.tree.paints == before + 1  # frames of the fading follow


@pytest.fixture
def played(panel: Panel) -> Panel:
    panel.show_loaded(RUN.header.loaded)
    for timed in RUN.events:
        show(panel, timed.event)
    return panel


def shown(panel: Panel) -> int:
    event = panel.tree.event_shown
    assert isinstance(event, IterationDone)
    return event.iteration


def test_a_recorded_run_is_stepped_through(played: Panel) -> None:
    stepper = played.tree_page.stepper
    assert shown(played) == 4
    assert not stepper.newer.isEnabled()
    for expected in (3, 2, 1):
        stepper.older.click()
        assert shown(played) == expected
    assert not stepper.older.isEnabled()
    stepper.newer.click()
    assert shown(played) == 2
    assert stepper.pause.isChecked()
    stepper.pause.click()
    assert shown(played) == 4


def test_the_slider_reaches_every_iteration_and_follows_the_newest_at_its_end(played: Panel) -> None:
    slider = played.tree_page.stepper.slider
    assert (slider.minimum(), slider.maximum(), slider.value()) == (0, 3, 3)
    for place, expected in ((0, 1), (2, 3), (1, 2)):
        slider.setValue(place)
        assert shown(played) == expected
        assert played.tree_page.stepper.pause.isChecked()
        assert says(played.tree_page.stepper, f"{expected} of 4")
    slider.setValue(3)
    assert not played.tree_page.stepper.pause.isChecked()
    played.show_tree(verdict(1, 5))
    assert (shown(played), slider.maximum(), slider.value()) == (5, 4, 4)


def test_a_held_iteration_is_not_replaced(panel: Panel) -> None:
    panel.show_tree(verdict(1, 1))
    panel.tree_page.stepper.pause.click()
    panel.show_tree(verdict(1, 2))
    panel.show_tree(grown(1, 3))
    assert shown(panel) == 1


def test_a_character_leads_to_its_iteration_and_an_iteration_to_its_text(played: Panel, qtbot: QtBot) -> None:
    start, end = played.origins.of_iteration(2)
    with qtbot.waitSignal(played.text_asked) as asked:
        played.show_origin(start)
    assert shown(played) == 2
    assert asked.args == [start, end]
    played.show_origin(10**6)
    assert shown(played) == 2


def test_the_table_holds_every_iteration_and_is_copied(played: Panel, qapp: QApplication) -> None:
    played.pages.setCurrentWidget(played.run_page)
    table = played.run_page.table
    assert table.topLevelItemCount() == 4
    played.run_page.copy()
    lines = QApplication.clipboard().text().splitlines()
    assert [len(line.split("\t")) for line in lines] == [6] * 5
    assert lines[2].split("\t")[:3] == ["2", "16", "24"]
    table.itemActivated.emit(table.topLevelItem(0), 0)
    assert shown(played) == 1


def test_numbers_of_the_table_are_aligned_right_like_their_headings(played: Panel) -> None:
    played.pages.setCurrentWidget(played.run_page)
    table = played.run_page.table
    for row in (table.headerItem(), table.topLevelItem(0)):
        is_right = [bool(row.textAlignment(column) & Qt.AlignmentFlag.AlignRight) for column in range(6)]
        assert is_right == [True] * 5 + [False]


def test_the_newest_iteration_is_described_in_words(played: Panel) -> None:
    assert played.newest_in_words.startswith("iteration 4: 13 of 24 accepted, ")
    assert played.newest_in_words.endswith(" s for the disk")


def test_a_run_and_a_tree_are_exported(played: Panel, tmp_path: Path) -> None:
    played.save(tmp_path / "run.json", "json")
    run = msgspec.json.decode((tmp_path / "run.json").read_bytes(), type=RunExport)
    assert (len(run.iterations), run.answer.tokens) == (4, 60)
    played.save(tmp_path / "tree.svg", "svg")
    assert "function" in (tmp_path / "tree.svg").read_text() or "<path" in (tmp_path / "tree.svg").read_text()
    played.save(tmp_path / "tree.png", "png")
    image = QImage(str(tmp_path / "tree.png"))
    assert image.size() == 2 * played.tree.extent
    assert image.width() > 2 * played.tree.width(), "the picture has the part out of view, too"
    box = played.tree.box(played.history.current.accepted[0])
    box.translate(-played.tree.box(ROOT).left() + MARGIN, 0)
    beside_glyph = QPointF(box.left() + 4, box.center().y())
    assert image.pixelColor((2 * beside_glyph).toPoint()) == QColor(theme.LIGHT.accent)


@pytest.mark.parametrize("kind", ["json", "svg", "png"])
def test_a_full_disk_leaves_the_file_that_was_to_be_replaced(
    kind: str, played: Panel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / f"mine.{kind}"
    path.write_text("of the user")
    monkeypatch.setattr("os.fsync", full)
    played.save(path, kind)
    (box,) = played.findChildren(QMessageBox)
    assert "No space left on device" in box.text()
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    assert path.read_text() == "of the user"


def test_a_tree_of_any_size_is_exported(panel: Panel, tmp_path: Path) -> None:
    event, size = verdict(1), 900
    event.tree.tokens = [0] * size
    event.tree.parents = [*range(-1, size // 2 - 1), *[-1] * (size // 2)]
    event.tree.log_probs = [-0.1] * size
    event.tree.sources = [1] * size
    event.tree.texts = [" a token"] * size
    event.accepted = []
    panel.show_tree(event)
    panel.tree.zoom(1.25)
    whole = panel.tree.extent
    assert 4 * whole.width() * whole.height() > MOST_PIXELS, "twice the size would be too large"
    panel.save(tmp_path / "tree.png", "png")
    image = QImage(str(tmp_path / "tree.png"))
    assert 0 < image.width() <= LONGEST
    assert image.width() * image.height() <= 1.01 * MOST_PIXELS


def test_every_page_is_drawn_in_both_themes(played: Panel, qapp: QApplication) -> None:
    for scheme, ground in ((Qt.ColorScheme.Light, theme.LIGHT), (Qt.ColorScheme.Dark, theme.DARK)):
        theme.dress(qapp, scheme)
        for i in range(played.pages.count()):
            played.pages.setCurrentIndex(i)
            image = played.grab().toImage()
            assert image.pixelColor(3, image.height() - 3) == QColor(ground.surface)


def test_layers_light_up_as_the_pass_advances(panel: Panel) -> None:
    panel.show_loaded(RUN.header.loaded)
    panel.pages.setCurrentWidget(panel.time_page)
    panel.show_pass(PassProgress(request=1, iteration=1, done=7, total=28))
    strip = panel.time_page.layers
    image = strip.grab().toImage()
    lit = [
        image.pixelColor(cell.center().toPoint()) == QColor(theme.LIGHT.time_target) for cell in strip.cells()
    ]
    assert lit == [True] * 7 + [False] * 21


def test_a_bar_leads_to_its_iteration_and_its_height_is_the_duration(played: Panel, qtbot: QtBot) -> None:
    played.pages.setCurrentWidget(played.time_page)
    bars = played.time_page.bars
    heights = [bars.bar(i).height() for i in range(4)]
    seconds = [seconds_of(done) for done in RUN.iterations]
    assert heights == pytest.approx([max(heights) * each / max(seconds) for each in seconds])
    qtbot.mouseClick(bars, Qt.MouseButton.LeftButton, pos=bars.bar(2).center().toPoint())
    assert shown(played) == 3


def test_memory_is_listed_by_tier_and_part(played: Panel) -> None:
    text = played.memory.accessibleDescription()
    assert "RAM: target weights" in text
    assert "SSD, read in every pass: target weights" in text
    assert "VRAM" not in text


def test_experts_are_not_said_to_be_read_in_every_pass(panel: Panel) -> None:
    parts = [
        MemoryPart(what="target_experts", tier="ram", nbytes=1 << 20),
        MemoryPart(what="target_experts", tier="ssd", nbytes=4 << 20),
    ]
    memory = Memory(vram=0, ram=1 << 20, peak=1 << 21, parts=parts)
    panel.memory.show_memory(memory)
    text = panel.memory.accessibleDescription()
    assert "RAM: experts in memory 1.0 MB" in text
    assert "SSD: all experts, read when needed 4.0 MB" in text
    assert by_tier(memory) == "RAM 1.0 MB · experts of 4.0 MB on the disk"


def test_how_the_model_was_loaded_is_said_with_its_memory(played: Panel) -> None:
    played.pages.setCurrentIndex(2)
    assert says(played, formatting.model_details(RUN.header.loaded))


def test_what_the_cache_of_experts_did_is_said_until_the_next_answer(panel: Panel) -> None:
    panel.pages.setCurrentIndex(2)
    figures = ExpertFigures(hits=3, misses=1, bytes_read=4096, predicted=0, right=0)
    panel.show_answer(structs.replace(answer(1), experts=figures))
    assert says(panel, "75 % of the experts")
    panel.begin()
    assert not says(panel, "of the experts")


def test_the_words_of_the_panel_are_explained(played: Panel, qtbot: QtBot) -> None:
    (button,) = [each for each in played.findChildren(QToolButton) if each.text() == "What the words mean"]
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    glossary = played.findChild(Glossary)
    for word in ("drafter", "bonus token", "float32, bfloat16, float16", "iteration", "KV cache"):
        assert word in labels(glossary)
    glossary.close()


def test_a_trace_is_replayed_at_its_speed(panel: Panel, qtbot: QtBot) -> None:
    panel.show_loaded(RUN.header.loaded)
    replay = Replay(panel, RUN.events, speed=100.0)
    with qtbot.waitSignal(replay.finished):
        assert panel.history.current is None, "no event is shown before its time"
    assert [done.iteration for done in panel.history.iterations] == [1, 2, 3, 4]
    assert says(panel.stats, "4.46")


def test_the_drafter_shown_is_the_one_that_the_figures_are_about(panel: Panel) -> None:
    def shown(drafter: str) -> bool:
        return says(panel.stats, drafter)

    panel.show_loaded(structs.replace(RUN.header.loaded, drafter="recycling+pld"))
    assert shown("drafter: Token Recycling + Prompt lookup")
    panel.show_answer(structs.replace(answer(1), drafter="pld", budget=3))
    assert shown("drafter: Prompt lookup, budget: 3")
    panel.show_loaded(structs.replace(RUN.header.loaded, drafter="specexec"))
    assert shown("drafter: Prompt lookup, budget: 3")
    panel.begin()
    assert shown("drafter: SpecExec")
    assert not shown("budget")


def test_growing_trees_leave_the_processors_to_decoding(
    panel: Panel, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 20)
    panel.tree.cost_s = 0.02
    panel.show_tree(grown(1, 1))
    assert running(panel) == [100], "painting takes a hundredth of all processors together"
    panel.show_tree(grown(1, 2))
    assert panel.tree.event_shown.iteration == 1
    qtbot.waitUntil(lambda: panel.tree.event_shown.iteration == 2)
