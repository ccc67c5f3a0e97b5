"""What there is to remark about an answer: data in the protocol, sentences in the terminal."""

from typing import get_args

import msgspec
import pytest
from msgspec import structs

from engine import protocol
from engine.cli.remarks import about_answer, about_remark
from engine.protocol import AnswerRemark, PromptsDropped, SmallerPlan, latest
from tests.app.fake_engine import answer
from tests.engine.remarks import REMARKS

KINDS = get_args(AnswerRemark)


def test_the_examples_are_of_all_kinds():
    assert {type(remark) for remark in REMARKS} == set(KINDS)


def test_remarks_come_through_the_protocol_with_a_kind_each():
    said = structs.replace(answer(1), remarks=REMARKS)
    assert protocol.decode_event(protocol.encode(said)) == said
    kinds = {remark["kind"] for remark in msgspec.to_builtins(said)["remarks"]}
    assert len(kinds) == len(KINDS)
    assert all(kind.islower() and kind.isidentifier() for kind in kinds)


def test_each_remark_has_a_sentence_of_its_own_in_the_terminal():
    sentences = [about_remark(remark) for remark in REMARKS]
    assert len(set(sentences)) == len(sentences)
    assert all(sentence.endswith(".") and "None" not in sentence for sentence in sentences)


@pytest.mark.parametrize(
    ("why", "said"),
    [
        ("drafter", "The drafter sps keeps no tree beyond the verdict"),
        ("card", "while this target verifies on the graphics card"),
        ("memory", "wholly in memory"),
    ],
)
def test_the_terminal_names_its_option_where_draft_and_target_took_turns(why, said):
    sentence = about_remark(protocol.TookTurns(why=why, drafter="sps"))
    assert sentence.startswith("Draft and target took turns despite --overlap on. ")
    assert said in sentence


@pytest.mark.parametrize(
    ("without", "lost"),
    [
        (None, ""),
        ("heads", ", and without its draft heads"),
        ("own_layer", ", and without its layer for drafts"),
    ],
)
def test_a_smaller_plan_is_described_by_what_is_where_and_what_is_lost(without, lost):
    plan = protocol.SmallerPlan(full="vram", vram=12, ram=0, ssd=4, context=2048, without=without)
    assert about_remark(plan) == (
        "Memory ran out on the graphics card, so the model is loaded with 12 in VRAM, 4 on the SSD of its "
        f"layers and a context of 2,048 tokens{lost}."
    )


def test_all_remarks_about_an_answer_are_said_and_a_loop_last():
    said = structs.replace(answer(1), remarks=[protocol.Withheld()], stop_reason="repetition")
    withheld, loop = about_answer(said)
    assert withheld == "The engine withheld a part of the answer."
    assert "--allow-loops" in loop
    assert list(about_answer(answer(1))) == []


def test_a_second_shortage_hides_no_remark_of_another_kind():
    first, second = (SmallerPlan(full="ram", vram=0, ram=ram, ssd=9 - ram, context=64) for ram in (4, 2))
    assert latest([first, PromptsDropped(), second]) == [second, PromptsDropped()]
