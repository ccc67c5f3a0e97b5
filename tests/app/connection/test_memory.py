"""Which turns are sent when the context does not hold all of them."""

from msgspec import structs

from app.connection.memory import fitting, turn_tokens, turns, used, without_oldest
from app.store import AnswerReport, ChatSettings, ModelPair, StoredMessage
from tests.app.fake_engine import answer, loaded


def path(*sizes: int, counted: int | None = None, left_out: int = 0) -> list[StoredMessage]:
    """Turns with these numbers of tokens each, of question and answer together, as estimated. counted: the
    engine's count for the last answer's request."""
    messages: list[StoredMessage] = []
    for number, size in enumerate(sizes):
        for role, text in (("user", "abcd" * (size // 2)), ("assistant", "abcd" * (size - size // 2))):
            id, parent = len(messages) + 1, len(messages) or None
            messages.append(StoredMessage(id=id, parent=parent, role=role, text=text, created_at=number))
    if counted is not None:
        given = structs.replace(answer(1), prompt_tokens=counted - 3)
        report = AnswerReport.of(given, ChatSettings(left_out=left_out), ModelPair.of(loaded(1)))
        messages[-1] = structs.replace(messages[-1], reports=[report])
    return messages


def question(messages: list[StoredMessage], size: int) -> list[StoredMessage]:
    asked = StoredMessage(id=99, parent=messages[-1].id, role="user", text="abcd" * size, created_at=9)
    return [*messages, asked]


def test_turns_are_left_out_whole() -> None:
    messages = path(4, 4, 4)
    assert [len(turn) for turn in turns(question(messages, 2))] == [2, 2, 2, 1]
    assert without_oldest(messages, 1) == messages[2:]
    assert without_oldest(messages, 0) == messages
    assert without_oldest(messages, 5) == []


def test_an_unanswered_question_is_a_turn_and_messages_before_the_first_question_are_one() -> None:
    first, *rest = path(4, 4)
    assert [len(turn) for turn in turns(rest)] == [1, 2]
    assert [len(turn) for turn in turns([first, rest[1]])] == [1, 1]


def test_tokens_are_the_engines_count_and_estimates_for_what_came_later() -> None:
    messages = path(10, 30, counted=80)
    assert turn_tokens(messages) == [20, 60]
    assert turn_tokens(question(messages, 7)) == [20, 60, 7]
    assert used(messages, 0) == 80
    assert used(messages, 1) == 60
    assert turn_tokens(path(10, 30, counted=60, left_out=1)) == [20, 60], "counted without the first turn"
    assert used(path(10, 30), 0) == 40


def test_turns_are_left_out_when_the_rest_does_not_fit_and_then_down_to_half() -> None:
    messages = path(20, 20, 20, 20)
    assert fitting(messages, 1, 100) == 1, "what is left out stays left out"
    assert fitting(question(messages, 10), 1, 100) == 1
    assert fitting(question(messages, 30), 1, 100) == 3
    assert fitting(question(messages, 500), 1, 100) == 4, "the question itself is always sent"


def test_a_path_that_branches_off_early_is_sent_as_far_as_it_fits() -> None:
    assert fitting(path(20, 20), 7, 100) == 0
    assert fitting(path(80, 20), 7, 100) == 1
