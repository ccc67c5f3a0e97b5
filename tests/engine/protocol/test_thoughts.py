"""Thoughts split off from the text that follows."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.protocol.thoughts import THOUGHT_MARKS, ThoughtSplitter, opened

HOSTILE = st.lists(
    st.sampled_from([*THOUGHT_MARKS, *THOUGHT_MARKS.values(), "<thi", "</", " ", "\n", "a", "é", "<", "[TH"]),
    max_size=12,
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
