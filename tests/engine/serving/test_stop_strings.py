from hypothesis import given
from hypothesis import strategies as st

from engine.serving.stop_strings import StoppableText

letters = st.text("ab", max_size=12)


@given(
    pieces=st.lists(letters, max_size=8), stops=st.lists(st.text("ab", min_size=1, max_size=4), max_size=3)
)
def test_text_ends_before_the_first_complete_stop_string_however_it_is_split(pieces, stops):
    text = StoppableText(stops)
    given_out = "".join(text.add(piece) for piece in pieces) + text.finish("")
    whole = "".join(pieces)
    _, start = min(
        ((at + len(stop), at) for stop in stops if (at := whole.find(stop)) >= 0), default=(0, len(whole))
    )
    assert given_out == text.text == whole[:start]
    assert text.stopped == any(stop in whole for stop in stops)


def test_text_that_cannot_become_a_stop_string_is_released_at_once():
    text = StoppableText(["<end>"])
    assert text.add("hello <e") == "hello "
    assert text.add("m> ") == "<em> "
