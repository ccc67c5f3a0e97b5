"""Thoughts split off from the text that follows."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.protocol.thoughts import (
    ANSWER_HEADERS,
    THOUGHT_MARKS,
    ThoughtSplitter,
    closing_of,
    opened,
)

PIECES = ["<|start|>", "<thi", "</", " ", "\n", "a", "é", "<", "[TH"]
HOSTILE = st.lists(
    st.sampled_from([*THOUGHT_MARKS, *THOUGHT_MARKS.values(), *ANSWER_HEADERS, *PIECES]), max_size=12
).map("".join)


def split(pieces: list[str], mark: str = "") -> tuple[str, str]:
    splitter = ThoughtSplitter(mark)
    found = [splitter.add(piece) for piece in pieces] + [splitter.finish()]
    return "".join(thought for thought, _ in found), "".join(rest for _, rest in found)


@settings(deadline=None)
@given(HOSTILE, st.lists(st.integers(0, 80)), st.sampled_from(["", *THOUGHT_MARKS]))
def test_cuts_change_nothing(text, cuts, mark):
    places = [0, *sorted(cut for cut in cuts if cut <= len(text)), len(text)]
    pieces = [text[start:stop] for start, stop in pairwise(places)]
    assert split(pieces, mark) == split([text], mark) == split(list(text), mark)


@settings(deadline=None)
@given(st.text(alphabet="ab<>/think \n"), st.text(alphabet="ab \n", min_size=1))
def test_nothing_but_white_space_and_marks_is_lost(thought, text):
    thought = thought.replace("</think>", "")
    found, rest = split([f"<think>{thought}</think>{text}"])
    assert (found, rest) == (thought.strip(), text.lstrip())


@settings(deadline=None)
@given(st.text())
def test_a_text_without_marks_stays_as_it_is(text):
    if not any(text.lstrip().startswith(mark) for mark in THOUGHT_MARKS):
        assert split(list(text)) == ("", text)


def test_text_is_released_as_soon_as_it_is_certain():
    splitter = ThoughtSplitter()
    assert splitter.add("<th") == ("", "")
    assert splitter.add("ink>I") == ("I", "")
    assert splitter.add(" see </t") == (" see", "")
    assert splitter.add("here") == (" </there", "")
    assert splitter.add("</think>\n") == ("", "")
    assert splitter.add("\nYes") == ("", "Yes")
    assert splitter.add(" no ") == ("", " no ")


def test_what_a_prompt_leaves_open():
    assert opened("<|im_start|>assistant\n<think>\n") == "<think>"
    assert opened("<think>\n\n</think>\n\n") == ""
    assert opened("<seed:think><seed:cot_budget_reflect>\n") == "<seed:think>"


def test_the_mark_that_closes_an_open_thought_is_known() -> None:
    assert closing_of("<think>so far") == "</think>"
    assert closing_of("so far", "[THINK]") == "[/THINK]"
    assert closing_of("<think>so</think> far") == closing_of("so far") == ""


@pytest.mark.parametrize("start", ["<|start|>assistant", ""])
def test_the_header_of_an_answer_is_left_out(start):
    thought, final = "<|channel|>analysis<|message|>Hm.<|end|>", f"{start}<|channel|>final<|message|>Yes <|b"
    assert split(list(thought + final)) == ("Hm.", "Yes <|b")
    assert split(list(final)) == ("", "Yes <|b")
    call = "<|start|>assistant<|channel|>commentary to=functions.now"
    assert split(list(thought + call)) == ("Hm.", call)
    assert split(list(thought + "<|start|>assis")) == ("Hm.", "<|start|>assis")


def test_a_thought_of_gemma_4_is_told_from_its_answer() -> None:
    assert split(["<|channel>thought\nHm", "m.\n<channel|>", "Yes."]) == ("Hmm.", "Yes.")
    assert split(["<|channel>thought\n<channel|>Yes."]) == ("", "Yes.")
    assert not opened("<|turn>model\n<|channel>thought\n<channel|>"), "closed, to skip thinking"
