"""Errors in the window's language."""

import inspect
import re
from collections.abc import Iterator
from importlib import import_module

import pytest
from PySide6.QtCore import Qt, QTranslator
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from app.startup import languages
from app.store.errors import StoreError
from app.widgets.fault_words import findings, in_one, in_words, sentences
from app.widgets.notice import Problem
from engine.errors import ModelNotFound, SpecExecError
from engine.machine import findings as machine_findings


def kinds(parent: type[SpecExecError]) -> Iterator[str]:
    yield parent.kind
    for child in parent.__subclasses__():
        yield from kinds(child)


@pytest.fixture
def korean(qapp: QApplication) -> Iterator[None]:
    translator = QTranslator()
    assert translator.load(str(languages.FOLDER / "specexec_ko.qm"))
    qapp.installTranslator(translator)
    yield
    qapp.removeTranslator(translator)


MISSING = ModelNotFound("The model “x” is not installed.", "Download it.")


def test_english_keeps_the_engines_own_sentence(qapp: QApplication) -> None:
    assert in_words(MISSING) == (MISSING.message, MISSING.hint)


@pytest.mark.usefixtures("korean")
def test_other_languages_say_the_kind_first_and_keep_what_it_is_about() -> None:
    said, below = in_words(MISSING)
    assert said == "모델이 없습니다."
    assert below == "The model “x” is not installed. Download it."
    assert in_one(MISSING) == f"{said} {below}"


@pytest.mark.usefixtures("korean")
def test_in_other_languages_a_notice_has_the_engines_sentence_among_its_details(qtbot: QtBot) -> None:
    problem = Problem()
    qtbot.addWidget(problem)
    notice = problem.show_error(MISSING, "do")
    (more,) = (each for each in notice.findChildren(QLabel) if "not installed" in each.text())
    assert not more.isVisible()
    assert "모델이 없습니다." in problem.message
    assert notice.details is not None
    notice.details.click()
    assert more.isVisible()
    assert more.textInteractionFlags() & Qt.TextInteractionFlag.TextSelectableByMouse, "it can be copied"
    notice.details.click()
    assert not more.isVisible()


def test_in_english_a_notice_has_no_details(qtbot: QtBot) -> None:
    problem = Problem()
    qtbot.addWidget(problem)
    notice = problem.show_error(MISSING)
    assert notice.details is None
    assert notice.accessibleDescription() == MISSING.hint


def test_every_kind_of_error_has_a_sentence() -> None:
    for module in ("app.settings.dialog", "app.tools.toolbox", "app.wizard.wizard", "engine.serving.process"):
        import_module(module)  # with their kinds of errors
    assert StoreError.kind in set(kinds(SpecExecError))
    untold = {"unreadable_file", "count_unknown", "diverged"}  # shown otherwise, never, in the terminal only
    assert set(kinds(SpecExecError)) - untold <= set(sentences(str))


def test_every_kind_of_finding_about_the_machine_has_a_sentence() -> None:
    source = inspect.getsource(machine_findings)
    found = re.findall(r'Finding\(\s*"(\w+)"', source) + re.findall(r'kind(?:, place)? = "(\w+)"', source)
    assert len(found) > 15
    assert set(found) == set(findings(str))
