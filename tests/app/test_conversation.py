from app.conversation import Conversation
from tests.app.fake_engine import answer


def test_whole_conversation_is_sent_with_roles_alternating() -> None:
    chat = Conversation()
    chat.ask("one").answer = "first"
    chat.ask("two")
    assert [(m.role, m.content) for m in chat.messages()] == [
        ("user", "one"),
        ("assistant", "first"),
        ("user", "two"),
    ]


def test_a_question_without_an_answer_is_not_sent_again() -> None:
    chat = Conversation()
    chat.ask("too long")
    chat.ask("short")
    assert [m.content for m in chat.messages()] == ["short"]


def test_an_outcome_is_kept_with_its_turn() -> None:
    turn = Conversation().ask("one")
    assert turn.outcome is None
    turn.outcome = answer(1)
    assert turn.outcome.seed == 7
