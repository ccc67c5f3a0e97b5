"""What there is to remark about a load or an answer: data in the protocol, sentences in the terminal."""

from typing import get_args

import msgspec
import pytest
from msgspec import structs

from engine import protocol
from engine.cli.remarks import SLOWER, about_answer, about_load, about_remark
from engine.protocol import AnswerRemark, LoadRemark, PromptsDropped, Remark, SmallerPlan, latest
from tests.app.fake_engine import answer, loaded
from tests.engine.remarks import REMARKS

KINDS = get_args(Remark)


def test_the_examples_are_of_all_kinds():
    assert {type(remark) for remark in REMARKS} == set(KINDS)


def test_remarks_come_through_the_protocol_with_a_kind_each():
    about_answers = [remark for remark in REMARKS if isinstance(remark, AnswerRemark)]
    about_loads = [remark for remark in REMARKS if isinstance(remark, LoadRemark)]
    kinds = set()
    for event in (
        structs.replace(answer(1), remarks=about_answers),
        structs.replace(loaded(1), remarks=about_loads),
    ):
        assert protocol.decode_event(protocol.encode(event)) == event
        kinds |= {remark["kind"] for remark in msgspec.to_builtins(event)["remarks"]}
    assert len(kinds) == len(KINDS)
    assert all(kind.islower() and kind.isidentifier() for kind in kinds)


def test_each_remark_has_a_sentence_of_its_own_in_the_terminal():
    sentences = [about_remark(remark) for remark in REMARKS]
    assert len(set(sentences)) == len(sentences)
    assert all(sentence.endswith(".") and "None" not in sentence for sentence in sentences)
    assert not any("  " in sentence or "()" in sentence for sentence in sentences)


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


def test_what_a_draft_that_fits_badly_means_is_said_once_behind_all_remarks_about_a_load():
    remarks = [protocol.OtherSplitting(), protocol.OtherTemplate(lacks=None), PromptsDropped()]
    said = list(about_load(structs.replace(loaded(1), remarks=remarks)))
    assert said == [*map(about_remark, remarks), SLOWER]
    assert list(about_load(structs.replace(loaded(1), remarks=remarks[2:]))) == [about_remark(remarks[2])]
    assert list(about_load(loaded(1))) == []


def test_a_load_tells_its_remarks_apart_by_what_a_client_does_about_them():
    damage = protocol.DamagedWeights(model="tiny.gguf", damaged=1, weights=2, first="a")
    smaller = SmallerPlan(full="ram", vram=0, ram=2, ssd=1, context=64)
    event = structs.replace(loaded(1), remarks=[damage, smaller, PromptsDropped(), protocol.OtherSplitting()])
    assert event.damage == [damage]
    assert event.shortages == [smaller, PromptsDropped()]
    assert event.smaller_plan == smaller
    assert structs.replace(event, remarks=[PromptsDropped()]).smaller_plan is None


@pytest.mark.parametrize(
    ("remark", "sentence"),
    [
        (
            protocol.OtherEnds(target=("<|stop|>", "<|end|>"), draft=()),
            "An answer ends with <|stop|>, <|end|> in the target and no token in the draft.",
        ),
        (
            protocol.RenamedToken(token=1259, target="<|stop|>", draft="<|other|>"),
            "Special tokens differ: token 1,259 is <|stop|> in the target and <|other|> in the draft.",
        ),
        (
            protocol.SpecialInOne(other="text", tokens=1, first="<|image|>"),
            "One model treats 1 token as special and the other as plain text; the first is <|image|>.",
        ),
        (
            protocol.SpecialInOne(other="missing", tokens=2, first="<|call|>"),
            "Only one model has 2 special tokens; the first is <|call|>.",
        ),
        (
            protocol.LittleFreeRam(free_nbytes=3 << 29, limit_nbytes=8 << 30),
            "Only 1.5 GiB of RAM is free for weights, less than the limit of 8.0 GiB.",
        ),
        (
            protocol.SaferWay(kernel="unpack Q4_K bfloat16", failed="triton", fault="wrong", way="torch"),
            "Unpacking weights (Q4_K, bfloat16; triton) gives wrong numbers on this graphics card, so plain "
            "torch unpacks them, which is several times slower.",
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_remark_about_a_load_names_what_it_is_about(remark, sentence):
    assert about_remark(remark) == sentence
