"""Forms built from options, and their editors."""

from collections.abc import Callable

import pytest
from msgspec import structs
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication, QComboBox, QLabel
from pytestqt.qtbot import QtBot

from app.preferences import NEW_CHATS, Preferences
from app.settings.chat_options import chat_sections, drafter_choice
from app.settings.editors import (
    BiasesEditor,
    ChoiceEditor,
    FractionEditor,
    LargeEditor,
    LinesEditor,
    TextEditor,
    WholeEditor,
)
from app.settings.form import Form
from app.settings.options import Option, get, is_valid, range_at, replaced, type_at
from app.settings.program_options import appearance_sections, loading_sections
from app.settings.reset_button import ResetButton
from app.store import ChatSettings, SavedOptions
from engine.drafting import available
from tests.app.seen import labels, says

# Set by replays, by the panel and by the bar below the composer.
# Set by the program, or only by other programs.
INTERNAL = {
    "options.budgets", "options.recording", "options.telemetry", "options.constraint", "options.shown",
    "options.overlap", "engine", "left_out",
}  # fmt: skip


def options() -> list[Option]:
    return [option for section in chat_sections() for option in section.options]


@pytest.fixture
def form(qtbot: QtBot) -> Form[ChatSettings]:
    form = Form(chat_sections(), ChatSettings(), ChatSettings())
    qtbot.addWidget(form)
    form.show()
    return form


@pytest.fixture
def changed(form: Form[ChatSettings], qtbot: QtBot) -> Callable[[Callable[[], object]], ChatSettings]:
    """Call an action and return the record that the form then emits."""

    def after(act: Callable[[], object]) -> ChatSettings:
        with qtbot.waitSignal(form.changed) as emitted:
            act()
        return emitted.args[0]

    return after


# -- fields --------------------------------------------------------------------------------------------------


def test_every_chat_setting_has_exactly_one_option() -> None:
    fields = {name for name in ChatSettings.__struct_fields__ if name != "options"}
    fields |= {f"options.{name}" for name in SavedOptions.__struct_fields__}
    paths = [option.path for option in options()]
    assert sorted(paths) == sorted(fields - INTERNAL)


def test_every_choice_is_valid_in_the_protocol() -> None:
    program = [o for s in [*appearance_sections(), *loading_sections()] for o in s.options]
    for record, listed in ((ChatSettings, options()), (Preferences, program)):
        for option in listed:
            assert is_valid(record, option.path, get(record(), option.path)), option.path
            for value, _ in option.choices:
                assert is_valid(record, option.path, value), (option.path, value)
            if option.usual:
                assert all(is_valid(record, option.path, float(end)) for end in option.usual), option.path


def test_ranges_come_from_the_protocol() -> None:
    top_p = range_at(ChatSettings, "options.top_p")
    assert (top_p.lowest, top_p.highest, top_p.is_open, top_p.optional) == (0, 1, True, False)
    budget = range_at(ChatSettings, "options.budget")
    assert (budget.lowest, budget.highest, budget.is_open, budget.optional) == (1, 4096, False, True)
    assert not is_valid(ChatSettings, "options.temperature", 100.5)
    assert is_valid(ChatSettings, "options.seed", 2**63 - 1)
    assert not is_valid(ChatSettings, "options.seed", 2**63)
    assert not is_valid(ChatSettings, "options.logit_bias", {5: 1000.5})
    assert type_at(ChatSettings, "system") is str


def test_replacing_a_nested_field_leaves_the_rest() -> None:
    before = ChatSettings(system="s", options=SavedOptions(top_k=3, seed=1))
    after = replaced(before, "options.top_k", 9)
    assert (after.options.top_k, after.options.seed, after.system) == (9, 1, "s")
    assert before.options.top_k == 3


# -- editors -------------------------------------------------------------------------------------------------


def test_showing_values_changes_nothing_and_emits_nothing(form: Form[ChatSettings], qtbot: QtBot) -> None:
    full = ChatSettings(
        system="Be brief.\nAlways.",
        target="coder",
        draft="none",
        context=4096,
        options=SavedOptions(
            temperature=0.7, top_p=0.9, top_k=40, min_p=0.05, repetition_penalty=1.1, presence_penalty=-0.5,
            frequency_penalty=0.3, logit_bias={11: -2.5, 12: 1000.0}, log_probs=0, seed=2**62 + 1,
            max_new_tokens=100, stop=["\n\n", "끝"], drafter="pld", budget=64, beams=4, depth=8,
        ),
    )  # fmt: skip
    with qtbot.assertNotEmitted(form.changed, wait=0):
        form.show_record(full, ChatSettings())
        form.flush()
    assert form.value == full
    for path, row in form.rows.items():
        emitted: list[object] = []
        row.editor.edited.connect(emitted.append)
        row.editor.show_value(get(full, path))
        assert emitted == [], path


def test_the_lowest_position_of_an_optional_number_means_none(
    form: Form[ChatSettings], changed: Callable[..., ChatSettings]
) -> None:
    editor = form.rows["options.budget"].editor
    assert isinstance(editor, WholeEditor)
    assert editor.box.text() == "Automatic"
    assert changed(lambda: editor.box.setValue(64)).options.budget == 64
    assert changed(lambda: editor.box.setValue(0)).options.budget is None
    assert editor.box.maximum() == 4096


def test_steps_lead_to_multiples_of_the_step(form: Form[ChatSettings]) -> None:
    editor = form.rows["context"].editor
    assert isinstance(editor, WholeEditor)
    seen = []
    for steps in (1, 1, -1, -1):
        editor.box.stepBy(steps)
        seen.append(editor.box.value())
    assert seen == [1024, 2048, 1024, 15]  # 15: None
    editor.box.setValue(1500)
    editor.box.stepBy(-1)
    assert editor.box.value() == 1024


def test_a_slider_and_its_number_stay_in_step(
    form: Form[ChatSettings], changed: Callable[..., ChatSettings]
) -> None:
    editor = form.rows["options.temperature"].editor
    assert isinstance(editor, FractionEditor)
    assert changed(lambda: editor.slider.setValue(14)).options.temperature == 0.7
    assert editor.box.value() == 0.7
    assert changed(lambda: editor.box.setValue(1.13)).options.temperature == 1.13
    assert editor.slider.value() == 23
    top_p = form.rows["options.top_p"].editor
    assert isinstance(top_p, FractionEditor)
    assert top_p.box.minimum() == 0.01  # 0 is excluded


def test_an_invalid_value_is_not_used_and_is_marked(
    form: Form[ChatSettings], changed: Callable[..., ChatSettings], qtbot: QtBot
) -> None:
    row = form.rows["options.seed"]
    assert isinstance(row.editor, LargeEditor)
    line = row.editor.line
    assert changed(lambda: qtbot.keyClicks(line, "12")).options.seed == 12
    with qtbot.assertNotEmitted(form.changed, wait=0):
        qtbot.keyClicks(line, "x")
        form.flush()
    assert form.value.options.seed == 12
    assert says(row, "Invalid value, not used.")


def test_lines_and_biases_are_read_line_by_line(
    form: Form[ChatSettings], changed: Callable[..., ChatSettings]
) -> None:
    stop, biases = form.rows["options.stop"].editor, form.rows["options.logit_bias"].editor
    assert isinstance(stop, LinesEditor)
    assert isinstance(biases, BiasesEditor)
    emitted = changed(lambda: stop.text.setPlainText("END\n\n\\n\\nUser:"))
    assert emitted.options.stop == ["END", "\n\nUser:"]
    emitted = changed(lambda: biases.text.setPlainText(" 7: -1.5\n\n12:3"))
    assert emitted.options.logit_bias == {7: -1.5, 12: 3.0}
    biases.text.setPlainText("seven: 1")
    form.flush()
    assert form.value.options.logit_bias == {7: -1.5, 12: 3.0}


def test_a_choice_that_is_not_offered_is_shown_by_its_own_name(form: Form[ChatSettings]) -> None:
    drafter = replaced(ChatSettings(), "options.drafter", "medusa")
    form.show_record(drafter, ChatSettings())
    editor = form.rows["options.drafter"].editor
    assert isinstance(editor, ChoiceEditor)
    assert editor.box.currentText() == "medusa (not available)"
    form.offer("options.drafter", [("auto", "auto"), ("medusa", "medusa")])
    assert editor.box.currentText() == "medusa"
    assert form.value.options.drafter == "medusa"


# -- the page ------------------------------------------------------------------------------------------------


def test_typing_is_emitted_once_after_a_pause_and_at_once_when_the_page_is_hidden(
    form: Form[ChatSettings], qtbot: QtBot
) -> None:
    emitted: list[ChatSettings] = []
    form.changed.connect(emitted.append)
    editor = form.rows["system"].editor
    assert isinstance(editor, TextEditor)
    qtbot.keyClicks(editor.text, "Brief")
    assert emitted == []
    form.hide()
    assert [each.system for each in emitted] == ["Brief"]


def test_changed_options_are_marked_and_can_be_reset(
    form: Form[ChatSettings], changed: Callable[..., ChatSettings], qtbot: QtBot
) -> None:
    row = form.rows["options.top_k"]
    assert row.reset.isHidden()
    assert isinstance(row.editor, WholeEditor)
    changed(lambda: row.editor.box.setValue(40))
    assert not row.reset.isHidden()
    assert "name" in [label.property("role") for label in row.findChildren(QLabel)]
    emitted = changed(lambda: qtbot.mouseClick(row.reset, Qt.MouseButton.LeftButton))
    assert emitted.options.top_k == 0
    assert row.editor.box.value() == 0
    assert row.reset.isHidden()


def test_reset_all_restores_the_given_default(
    form: Form[ChatSettings], changed: Callable[..., ChatSettings]
) -> None:
    odd = structs.replace(NEW_CHATS, system="x", context=99)
    form.show_record(odd, NEW_CHATS)
    assert changed(form.reset_all) == NEW_CHATS


def test_search_finds_options_by_name_and_by_help_text(form: Form[ChatSettings]) -> None:
    def found() -> set[str]:
        return {path for path, row in form.rows.items() if not row.isHidden()}

    form.search.setText("penal VALUES")
    assert found() == {"options.repetition_penalty"}
    form.search.setText("most likely token")
    assert found() >= {"options.temperature", "options.min_p"}
    form.search.setText("qqq")
    assert found() == set()
    assert len(labels(form)) == 1, "a sentence says that nothing was found"
    form.search.clear()
    assert len(found()) == len(form.rows)


def test_the_wheel_changes_only_the_focused_editor(form: Form[ChatSettings], qapp: QApplication) -> None:
    box = form.rows["options.drafter"].editor.findChild(QComboBox)
    form.offer("options.drafter", [("auto", "auto"), ("pld", "pld")])
    box.clearFocus()
    wheel = QWheelEvent(
        QPointF(5, 5), QPointF(box.mapToGlobal(QPoint(5, 5))), QPoint(0, -120), QPoint(0, -120),
        Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    qapp.sendEvent(box, wheel)
    assert box.currentIndex() == 0


def test_every_editor_has_a_name_for_screen_readers(form: Form[ChatSettings]) -> None:
    for path, row in form.rows.items():
        assert row.editor.focus.accessibleName(), path
        assert row.editor.focus.accessibleDescription(), path


NUMBER_FORMATS = {"bfloat16", "float16", "float32"}


def test_choices_begin_with_a_capital() -> None:
    sections = [*chat_sections(), *loading_sections(), *appearance_sections()]
    options = [option for section in sections for option in section.options]
    texts = {text for option in options for _, text in option.choices} | {
        option.lowest for option in options if option.lowest
    }
    texts |= {
        drafter_choice(name)[1]
        for heads in ("eagle", "medusa", "p-eagle", "dflash")
        for name in available(True, heads)
    }
    assert {text for text in texts - NUMBER_FORMATS if text[0].islower()} == set()


def test_a_reset_can_be_undone_until_something_is_changed(form: Form[ChatSettings], qtbot: QtBot) -> None:
    reset = ResetButton(form, "Reset all")
    qtbot.addWidget(reset)
    reset.click()
    assert reset.text() == "Reset all", "there was nothing to reset"
    written = ChatSettings(system="Long instructions.")
    form.put(written)
    reset.click()
    assert form.value == ChatSettings()
    with qtbot.waitSignal(form.changed) as emitted:
        reset.click()
    assert emitted.args[0] == form.value == written
    assert reset.text() == "Reset all"
    reset.click()
    form.rows["thinks"].edited.emit(True)
    assert reset.text() == "Reset all"


def test_undoing_a_reset_drops_no_record_that_was_shown_since(form: Form[ChatSettings], qtbot: QtBot) -> None:
    reset = ResetButton(form, "Reset all")
    qtbot.addWidget(reset)
    form.put(ChatSettings(system="Long instructions."))
    reset.click()
    form.show_record(form.value, ChatSettings())
    assert reset.text() == "Undo the reset", "nothing else is shown"
    form.show_record(ChatSettings(system="A preset."), ChatSettings())
    assert reset.text() == "Reset all"


def test_a_reset_that_changes_no_option_of_the_form_offers_no_undo(qtbot: QtBot) -> None:
    form = Form(loading_sections(), Preferences(zoom=150), Preferences())
    reset = ResetButton(form, "Reset all")
    for widget in (form, reset):
        qtbot.addWidget(widget)
    reset.click()
    assert reset.text() == "Reset all"
