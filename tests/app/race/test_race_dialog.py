"""The dialog of a race: where it is found, the replay, the picture, recordings."""

from pathlib import Path

import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor, QGuiApplication, QImage
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.connection.engine import State
from app.header import local_models
from app.header.local_models import LocalModel
from app.race import race_picture, race_record
from app.race.race_dialog import RaceDialog
from app.race.race_page import RacePage
from app.rendering.message_actions import Action
from app.widgets import motion, theme
from app.widgets.elided_label import ElidedLabel
from app.window.window import Window
from engine.protocol import messages
from tests.app.fake_engine import FakeEngines, answer
from tests.app.pages.fit import misfits
from tests.app.pages.stage import settle
from tests.app.race.made import WORDS, lane, loads_by_name, race, say_answer
from tests.app.race.test_race_run import asked, targets
from tests.app.seen import labels, says
from tests.app.window.test_window import ask, reach


@pytest.fixture
def engines() -> FakeEngines:
    return FakeEngines(loads_by_name)


@pytest.fixture(autouse=True)
def two_models(monkeypatch: pytest.MonkeyPatch) -> None:
    models = [LocalModel("large", "Large · Q4", 1 << 30), LocalModel("small", "Small · Q4", 1 << 20)]
    monkeypatch.setattr(local_models, "models_here", lambda: models)


@pytest.fixture
def page(qtbot: QtBot) -> RacePage:
    page = RacePage()
    qtbot.addWidget(page)
    page.resize(760, 520)
    page.show()
    yield page
    page.clock.pause()


def dialog_of(window: Window) -> RaceDialog:
    return window.findChild(RaceDialog)


def opened(window: Window, question: str = "What is the sea?") -> RaceDialog:
    window.open_race()
    dialog = dialog_of(window)
    dialog.form.question.setPlainText(question)
    return dialog


def texts(page: RacePage) -> list[str]:
    return [each.text.toPlainText() for each in page.lanes]


def test_the_long_name_of_a_lane_is_shortened_beside_what_is_said_of_it(page: RacePage) -> None:
    name = "Qwen3-Coder-30B-A3B-Instruct-Q4_K_M"
    page.show_race(race(lane(target=name), lane(0.4, 3, target=f"Another-{name}")))
    page.clock.pause()
    page.clock.go_to(0.0)
    settle()
    assert page.width() == 760
    assert misfits(page) == []
    page.clock.go_to(page.clock.end_s)
    assert misfits(page) == [], "there is room for what is said at the end"
    (shown,) = (each for each in page.lanes[0].findChildren(ElidedLabel) if each.text() == name)
    assert shown.toolTip() == name


def test_an_answer_offers_a_race_with_its_question_and_what_was_before(
    window: Window, engines: FakeEngines, qtbot: QtBot
) -> None:
    for question, text in (("What is the sea?", "Water."), ("And a lake?", "Less water.")):
        request = ask(window, engines, qtbot, question)
        engines.last.say(answer(request, text))
        qtbot.waitUntil(lambda: window.chat.answering is None)
    window.transcript.rows[3].view.action_row.buttons[Action.RACE].click()
    dialog = dialog_of(window)
    assert dialog.form.question.toPlainText() == "And a lake?"
    dialog.form.start.click()
    sent = asked(engines, qtbot, 3)
    contents = [message.content for message in sent.messages]
    assert contents == ["What is the sea?", "Water.", "And a lake?"]
    dialog.close()
    engines.last.say(answer(sent.id, "", "cancelled"))
    reach(window, qtbot, State.READY)


def test_a_key_opens_a_race_with_the_last_question(
    window: Window, engines: FakeEngines, qtbot: QtBot
) -> None:
    request = ask(window, engines, qtbot, "What is the sea?")
    engines.last.say(answer(request, "Water."))
    reach(window, qtbot, State.READY)
    qtbot.keyClick(window, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)
    assert dialog_of(window).form.question.toPlainText() == "What is the sea?"
    dialog_of(window).close()


def test_the_speed_page_offers_a_race(window: Window) -> None:
    window.panel.speed_page.race.click()
    assert dialog_of(window).form.question.toPlainText() == ""
    assert not dialog_of(window).form.start.isEnabled(), "there is no question"
    dialog_of(window).close()


def test_a_race_is_run_and_replayed(window: Window, engines: FakeEngines, qtbot: QtBot) -> None:
    dialog = opened(window)
    dialog.form.start.click()
    say_answer(engines.last, asked(engines, qtbot, 1).id, 1, seconds=0.6)
    second = asked(engines, qtbot, 2)
    qtbot.waitUntil(lambda: texts(dialog.page)[0] == " ".join(WORDS))
    assert texts(dialog.page)[1] == ""
    say_answer(engines.last, second.id, 3, seconds=0.2)
    qtbot.waitUntil(lambda: dialog.page.race is not None)
    assert dialog.page.clock.is_playing
    qtbot.waitUntil(lambda: not dialog.page.clock.is_playing)
    assert texts(dialog.page) == [" ".join(WORDS)] * 2
    assert says(dialog.page, "SpecExec was 3.00 times as fast")
    assert says(dialog.page, "Same text: yes, all 13 tokens.")
    dialog.close()


def test_the_second_model_is_chosen_among_the_others(
    window: Window, engines: FakeEngines, qtbot: QtBot
) -> None:
    dialog = opened(window)
    assert [dialog.form.rivals.itemText(i) for i in range(dialog.form.rivals.count())] == [
        "Large · Q4",
        "Small · Q4",
    ]
    dialog.form.against_model.setChecked(True)
    dialog.form.start.click()
    say_answer(engines.last, asked(engines, qtbot, 1).id, 3, seconds=0.1)
    say_answer(engines.last, asked(engines, qtbot, 2).id, 3, seconds=0.1)
    with qtbot.waitSignal(window.core.race.returned):
        pass
    assert targets(engines) == [None, "large", None]
    assert says(dialog.page, "Two models, two texts.")
    dialog.close()


def test_stop_returns_to_the_form_with_the_question(
    window: Window, engines: FakeEngines, qtbot: QtBot
) -> None:
    dialog = opened(window)
    dialog.form.start.click()
    request = asked(engines, qtbot, 1).id
    dialog.page.stop.click()
    assert dialog.form.isVisible()
    assert not dialog.form.start.isEnabled()
    engines.last.say(answer(request, "", "cancelled"))
    qtbot.waitUntil(dialog.form.start.isEnabled)
    assert dialog.form.question.toPlainText() == "What is the sea?"
    dialog.close()


def test_closing_the_dialog_ends_the_race(window: Window, engines: FakeEngines, qtbot: QtBot) -> None:
    dialog = opened(window)
    dialog.form.start.click()
    request = asked(engines, qtbot, 1).id
    dialog.close()
    assert not window.core.race.is_running
    assert len(engines.last.asked(messages.Cancel)) == 1
    engines.last.say(answer(request, "", "cancelled"))
    reach(window, qtbot, State.READY)
    assert ask(window, engines, qtbot) > request, "the chat goes on"


def test_a_lost_engine_is_restarted_from_the_dialog(
    window: Window, engines: FakeEngines, qtbot: QtBot
) -> None:
    dialog = opened(window)
    dialog.form.start.click()
    asked(engines, qtbot, 1)
    engines.last.die()
    qtbot.waitUntil(lambda: "ended unexpectedly" in dialog.problem.message)
    assert says(dialog.form, "The model cannot answer now.")
    dialog.problem.findChild(type(dialog.form.start)).click()
    qtbot.waitUntil(dialog.form.start.isEnabled)
    assert dialog.problem.message == ""
    dialog.close()


# -- the replay ----------------------------------------------------------------------------------------------


def test_both_answers_are_shown_at_the_same_time(page: RacePage) -> None:
    page.show_race(race(lane(1.2), lane(0.4, 3)))
    page.clock.pause()
    for t, plain, tree in (
        (0.0, 1, 1),
        (0.25, 3, 7),
        (0.45, 5, 13),
        (1.2, 13, 13),
        (0.25, 3, 7),
    ):
        page.clock.go_to(t)
        assert texts(page) == [" ".join(WORDS[:plain]), " ".join(WORDS[:tree])], t
    page.clock.go_to(0.5)
    assert "finished after 0.40 s" in labels(page.lanes[1])
    assert not says(page.lanes[0], "finished")
    assert says(page, "0.50 of 1.20 s")


def test_the_figures_under_an_answer_are_those_of_the_time_shown(page: RacePage) -> None:
    page.show_race(race(lane(1.2), lane(0.4, 3)))
    page.clock.pause()
    page.clock.go_to(0.2)
    assert labels(page.lanes[1])[-8:][::2] == ["0.20", "7", "30.0", "3.00"]
    page.clock.go_to(1.2)
    assert labels(page.lanes[1])[-8:][::2] == ["0.40", "13", "30.0", "3.00"]
    assert labels(page.lanes[0])[-8:][::2] == ["1.20", "13", "10.0", "1.00"]


def test_the_newest_pass_is_marked(page: RacePage) -> None:
    page.show_race(race(lane(1.2), lane(0.4, 3, ["The", "🌊", "is", "deep", "."])))
    page.clock.pause()
    page.clock.go_to(0.25)
    (marked,) = page.lanes[1].text.extraSelections()
    assert marked.cursor.selectedText() == " 🌊 is deep"
    page.clock.go_to(1.2)
    assert page.lanes[1].text.extraSelections() == []


def test_the_slider_and_the_button_control_the_clock(page: RacePage, qtbot: QtBot) -> None:
    page.show_race(race())
    assert page.clock.is_playing
    page.slider.setValue(60)
    assert not page.clock.is_playing
    assert page.clock.t == pytest.approx(0.6)
    page.speed.setCurrentIndex(page.speed.count() - 1)
    page.play.click()
    qtbot.waitUntil(lambda: not page.clock.is_playing)
    assert (page.clock.t, page.slider.value()) == (1.2, 120)
    page.play.click()
    assert page.clock.t < 1.2, "it begins again"
    page.hide()
    assert not page.clock.is_playing


def test_with_reduced_motion_the_result_is_shown_at_once(
    page: RacePage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(motion, "is_reduced", lambda: True)
    page.show_race(race())
    assert (page.clock.is_playing, page.clock.t) == (False, 1.2)


def test_text_of_a_recording_is_never_read_as_html(page: RacePage) -> None:
    page.show_race(
        race(lane(1.0, 1, ["<b>x</b>", "<img src='file:///etc/passwd'>"]), lane(0.5, 1, ["<i>", "y"]))
    )
    page.clock.pause()
    page.clock.go_to(1.0)
    assert texts(page) == ["<b>x</b> <img src='file:///etc/passwd'>", "<i> y"]


# -- recordings and pictures ---------------------------------------------------------------------------------


def test_a_recording_is_saved_and_opened_again(window: Window, tmp_path: Path) -> None:
    dialog = opened(window)
    dialog.show_race(race())
    dialog.save_recording(tmp_path / "sea.race.json")
    assert says(dialog.page, "Saved as")
    dialog.show_race(race(lane(9.0), lane(1.0, 3)))
    dialog.open_recording(tmp_path / "sea.race.json")
    assert dialog.page.race == race()
    dialog.close()


def test_a_file_that_is_no_recording_leaves_what_is_shown(window: Window, tmp_path: Path) -> None:
    (tmp_path / "bad.race.json").write_text("{}")
    dialog = opened(window)
    dialog.show_race(race())
    dialog.open_recording(tmp_path / "bad.race.json")
    assert "bad.race.json is not a recorded race." in dialog.problem.message
    assert dialog.page.race == race()
    dialog.save_picture(tmp_path / "nowhere" / "a.png")
    assert "cannot be written" in dialog.problem.message
    dialog.close()


def test_the_picture_shows_both_times_on_one_scale(qapp: QApplication, tmp_path: Path) -> None:
    for scheme, colours in ((Qt.ColorScheme.Dark, theme.DARK), (Qt.ColorScheme.Light, theme.LIGHT)):
        theme.dress(qapp, scheme)
        path = tmp_path / "race.png"
        race_picture.save_picture(path, race())
        image = QImage(str(path))
        assert image.size() == QSize(race_picture.WIDTH, race_picture.HEIGHT) * race_picture.SCALE
        assert image.pixelColor(4, 4) == QColor(colours.window)
        lengths = []
        for place, colour in enumerate((colours.outline, colours.accent)):
            y = round((race_picture.BARS + 40 * place + 13) * race_picture.SCALE)
            lengths.append(sum(image.pixelColor(x, y) == QColor(colour) for x in range(image.width())))
        assert lengths[0] / lengths[1] == pytest.approx(3.0, rel=0.05)


def test_the_picture_is_copied(window: Window) -> None:
    dialog = opened(window)
    dialog.show_race(race())
    dialog.page.copy.click()
    assert QGuiApplication.clipboard().image().size() == race_picture.picture_of(race()).size()
    assert says(dialog.page, "The picture is in the clipboard.")
    dialog.close()


@pytest.mark.parametrize("size", [(800, 560), (1600, 960)])
def test_everything_fits_the_dialog(window: Window, size: tuple[int, int], qtbot: QtBot) -> None:
    dialog = opened(window)
    dialog.show_race(race())
    dialog.resize(*size)
    QApplication.processEvents()
    assert (dialog.width(), dialog.height()) == size
    page = dialog.page
    for widget in (page.play, page.slider, page.copy, page.keep, *page.lanes):
        corner = widget.mapTo(dialog, widget.rect().bottomRight())
        assert dialog.rect().contains(corner)
    dialog.close()


def test_recordings_of_long_answers_are_small_enough_to_be_read(tmp_path: Path) -> None:
    words = ["word"] * 20_000
    path = tmp_path / "long.race.json"
    race_record.save(path, race(lane(900.0, 1, words), lane(300.0, 3, words)))
    assert race_record.read(path).lanes[0].tokens == 20_000
