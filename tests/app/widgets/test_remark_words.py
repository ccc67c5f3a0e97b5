"""What there is to remark about a load or an answer, in the window's languages."""

import re
from collections.abc import Iterator
from typing import get_args

import pytest
from PySide6.QtCore import QTranslator
from PySide6.QtWidgets import QApplication

from app.settings.chat_options import chat_sections
from app.settings.program_options import loading_sections
from app.startup import languages
from app.widgets.remark_words import about_plan, in_one, paragraphs, words_of
from engine.protocol.messages import (
    OtherSplitting,
    OtherTemplate,
    PromptsDropped,
    Remark,
    SaferWay,
    SmallerPlan,
    Withheld,
)
from tests.engine.remarks import REMARKS

PLAN = SmallerPlan(full="ram", vram=0, ram=20, ssd=10, context=512)


@pytest.fixture(params=["en", "ko", "zh_CN"])
def language(request: pytest.FixtureRequest, qapp: QApplication) -> Iterator[str]:
    """Let the window speak each of its languages."""
    translator = QTranslator()
    if request.param != "en":
        assert translator.load(str(languages.FOLDER / f"specexec_{request.param}.qm"))
        qapp.installTranslator(translator)
    yield request.param
    qapp.removeTranslator(translator)


def test_every_kind_of_remark_is_worded_and_says_what_to_do(language: str) -> None:
    assert {type(remark) for remark in REMARKS} == set(get_args(Remark))
    said = [words_of(remark) for remark in REMARKS]
    assert len({words.message for words in said}) == len(REMARKS)
    for words in said:
        assert words.message
        assert words.hint
        text = " ".join(words)
        assert "--" not in text, "the window has no command line"
        assert "{}" not in text
        if language != "en":
            assert not re.search(r"[a-z]+ [a-z]+ [a-z]+", text), "it is translated as a whole"


def test_settings_are_called_as_on_their_pages(language: str) -> None:
    names = {option.text for section in [*chat_sections(), *loading_sections()] for option in section.options}
    named = {name for remark in REMARKS for name in re.findall("“(.+?)”", words_of(remark).hint)}
    assert len(named) == 4
    assert named <= names


def test_a_smaller_plan_says_what_is_where() -> None:
    assert about_plan(PLAN) == (
        "Memory ran out, so the model was loaded by a smaller plan. Its layers: 20 in RAM, 10 on the disk. "
        "Its context: 512 tokens."
    )


def test_several_remarks_are_one() -> None:
    one, other = words_of(PromptsDropped()), words_of(Withheld())
    both = in_one([PromptsDropped(), Withheld()])
    assert both.message == f"{one.message} {other.message}"
    assert both.hint == f"{one.hint} {other.hint}"


def test_what_remarks_have_in_common_is_said_once() -> None:
    remarks = [OtherSplitting(), PromptsDropped(), OtherTemplate(lacks="draft")]
    one, other, last = map(words_of, remarks)
    assert one.hint == last.hint
    assert in_one(remarks).hint == f"{one.hint} {other.hint}"
    assert paragraphs(remarks) == [
        f"{one.message} {last.message} {one.hint}",
        f"{other.message} {other.hint}",
    ]
    assert paragraphs([]) == []


def test_a_kernel_that_takes_a_safer_way_is_called_by_what_it_does() -> None:
    way = SaferWay(kernel="unpack Q4_K bfloat16", failed="triton", fault="wrong", way="torch")
    assert words_of(way).message == (
        "The graphics card gives wrong numbers: unpacking weights (Q4_K, bfloat16). Plain PyTorch unpacks "
        "them instead, which is several times slower."
    )
