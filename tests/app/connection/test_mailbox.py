from app.connection.mailbox import MOST_VERDICTS, Mailbox
from engine.protocol.messages import Committed, IterationDone, TextDelta, TokenLogProbs, TreeGrown
from tests.app.fake_engine import answer, grown, verdict


def test_text_is_joined_and_never_dropped() -> None:
    box = Mailbox()
    for i in range(1000):
        box.put(TextDelta(request=1, text=f"{i} ", tokens=i))
        box.put(grown(1, i))
    events = box.take()
    texts = [event for event in events if isinstance(event, TextDelta)]
    assert [text.text for text in texts] == ["".join(f"{i} " for i in range(1000))]
    assert texts[0].tokens == 999


def test_only_the_newest_growing_tree_and_a_bounded_number_of_verdicts_are_kept() -> None:
    box = Mailbox()
    for i in range(1000):
        box.put(grown(1, i))
        box.put(verdict(1, i))
        box.put(grown(1, i + 1))
    events = box.take()
    assert [(type(event), event.iteration) for event in events] == [
        *((IterationDone, number) for number in range(1000 - MOST_VERDICTS, 1000)),
        (TreeGrown, 1000),
    ]


def test_the_reader_is_woken_once_per_batch() -> None:
    box = Mailbox()
    assert box.put(grown(1))
    assert not box.put(verdict(1))
    box.take()
    assert box.put(answer(1))


def test_text_of_two_answers_is_kept_apart() -> None:
    box = Mailbox()
    box.put(TextDelta(request=1, text="a", tokens=1))
    box.put(answer(1))
    box.put(TextDelta(request=2, text="b", tokens=1))
    assert [getattr(event, "text", "") for event in box.take()] == ["a", "Hello.", "b"]


def told(start: int, text: str) -> TextDelta:
    tokens = Committed(
        start=start, pieces=[text], log_probs=[TokenLogProbs(log_prob=-1.0, top=[])], top_texts=[[]]
    )
    return TextDelta(request=1, text=text, tokens=1, committed=tokens)


def test_tokens_are_joined_with_their_text_and_stay_where_they_are_in_it() -> None:
    box = Mailbox()
    plain = TextDelta(request=1, text="gap", tokens=2)
    for delta in (told(0, "ab"), told(2, "c"), plain, told(6, "d"), told(7, "e")):
        box.put(delta)
    events = [event for event in box.take() if isinstance(event, TextDelta)]
    assert "".join(event.text for event in events) == "abcgapde"
    found = [(event.committed.start, event.committed.pieces) for event in events if event.committed]
    assert found == [(0, ["ab", "c"]), (6, ["d", "e"])]
