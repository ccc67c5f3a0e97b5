from hypothesis import given
from hypothesis import strategies as st

from engine.stop_strings import StoppableText

letters = st.text("ab", max_size=12)


@given(
    pieces=st.lists(letters, max_size=8), stops=st.lists(st.text("ab", min_size=1, max_size=4), max_size=3)
)
def test_text_ends_before_the_stop_string_complete_first_however_it_is_cut(pieces, stops):
    text = StoppableText(stops)
    given_out = "".join(text.add(piece) for piece in pieces) + text.finish("")
    whole = "".join(pieces)
    _, start = min(
        ((at + len(stop), at) for stop in stops if (at := whole.find(stop)) >= 0), default=(0, len(whole))
    )
    assert given_out == text.text == whole[:start]
    assert text.stopped == any(stop in whole for stop in stops)


def test_what_cannot_become_a_stop_string_is_given_out_at_once():
    text = StoppableText(["<end>"])
    assert text.add("hello <e") == "hello "
    assert text.add("m> ") == "<em> "
