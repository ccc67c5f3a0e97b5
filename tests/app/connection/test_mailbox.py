from app.connection.mailbox import MOST_VERDICTS, Mailbox
from engine.protocol.messages import IterationDone, TextDelta, TreeGrown
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
