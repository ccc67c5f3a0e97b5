"""A deleted message takes what follows from it along; undo brings everything back as it was."""

import pytest

from app.store import NotInStore, Store, StoreError
from tests.app.store.made import PAIR, SETTINGS, answer


def answered(store: Store, question: int, text: str) -> int:
    under_way = store.messages.answer(question, SETTINGS, PAIR)
    under_way.finish(answer(text))
    return under_way.id


def shown(store: Store, chat: int) -> list[str]:
    return [one.message.text for one in store.messages.shown(chat)]


@pytest.fixture
def chat(store: Store) -> int:
    """first question (two versions) – answer (two versions) – second question – answer"""
    chat = store.chats.create(SETTINGS)
    old = store.messages.ask(chat, "old question")
    answered(store, old, "old answer")
    first = store.messages.edit(old, "first question")
    answered(store, first, "another answer")
    one = answered(store, first, "first answer")
    second = store.messages.ask(chat, "second question", one)
    answered(store, second, "second answer")
    return chat


def id_of(store: Store, chat: int, text: str) -> int:
    return next(one.id for one in store.messages.all(chat) if one.text == text)


@pytest.mark.parametrize(
    ("deleted", "count", "left"),
    [
        ("second answer", 1, ["first question", "first answer", "second question"]),
        ("second question", 2, ["first question", "first answer"]),
        ("first answer", 3, ["first question", "another answer"]),
        ("another answer", 1, ["first question", "first answer", "second question", "second answer"]),
        ("first question", 5, ["old question", "old answer"]),
    ],
)
def test_a_message_takes_along_what_follows_from_it_and_leaves_other_versions(
    store: Store, chat: int, deleted: str, count: int, left: list[str]
) -> None:
    before = store.messages.all(chat), store.messages.shown(chat), store.chats.line(chat).title
    gone = store.messages.delete(id_of(store, chat, deleted))
    assert gone.count == count
    assert shown(store, chat) == left
    assert store.search(deleted) == []
    store.messages.restore(gone)
    assert (store.messages.all(chat), store.messages.shown(chat), store.chats.line(chat).title) == before
    assert [hit.message for hit in store.search(deleted)][:1] == [id_of(store, chat, deleted)]


def test_a_chat_without_messages_stays_and_gets_its_title_from_the_next_question(
    store: Store, chat: int
) -> None:
    for text in ("first question", "old question"):
        store.messages.delete(id_of(store, chat, text))
    assert shown(store, chat) == []
    assert store.chats.line(chat).title == ""
    store.messages.ask(chat, "Something else")
    assert store.chats.line(chat).title == "Something else"


def test_an_answer_being_written_is_not_deleted(store: Store, chat: int) -> None:
    question = store.messages.ask(chat, "third", id_of(store, chat, "second answer"))
    under_way = store.messages.answer(question, SETTINGS, PAIR)
    with pytest.raises(StoreError, match="still being written"):
        store.messages.delete(question)
    under_way.interrupt()
    store.messages.delete(question)
    assert "third" not in shown(store, chat)


def test_what_nothing_leads_to_any_more_cannot_be_brought_back(store: Store, chat: int) -> None:
    gone = store.messages.delete(id_of(store, chat, "second question"))
    store.messages.delete(id_of(store, chat, "first question"))
    with pytest.raises(NotInStore):
        store.messages.restore(gone)
    assert shown(store, chat) == ["old question", "old answer"]


def test_a_branch_keeps_its_copy(store: Store, chat: int) -> None:
    branch = store.chats.branch(id_of(store, chat, "second answer"))
    store.messages.delete(id_of(store, chat, "first question"))
    assert shown(store, branch)[-1] == "second answer"
