import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.store import Store, tree
from app.store.exchange.chatgpt import Malformed, chat_of
from tests.app.store.exchange.chatgpt_export import conversation, message, node


def test_visible_messages_are_kept_with_their_versions(store: Store) -> None:
    chat = chat_of(conversation())
    assert (chat.title, chat.named, chat.created_at, chat.updated_at) == ("Seoul", True, 1.7e9, 1.7e9 + 60)
    (id,) = store.chats.add([chat])
    shown = store.messages.shown(id)
    assert [(one.message.role, one.message.text, one.version, len(one.versions)) for one in shown] == [
        ("user", "[image]\n\nWhat is 서울?", 2, 2),
        ("assistant", "The capital\n\n of Korea.", 2, 2),
    ]
    assert shown[0].message.created_at == 1.7e9 + 5
    assert shown[1].message.created_at == 1.7e9, "where there is no time, the conversation's"
    texts = [one.text for one in store.messages.all(id)]
    assert sorted(texts) == sorted(
        [
            "What is Seoul",
            "A city.",
            "[image]\n\nWhat is 서울?",
            "Another try.",
            "The capital\n\n of Korea.",
        ]
    )
    assert [hit.message for hit in store.search("서울")] == [shown[0].message.id]


@pytest.mark.parametrize("title", [None, "", 3])
def test_without_a_title_it_has_none(title: Any) -> None:
    assert (chat_of(conversation(title)).title, chat_of(conversation(title)).named) == ("", False)


@pytest.mark.parametrize("leaf", [None, "absent", 7, "root"])
def test_without_a_current_node_the_newest_versions_are_shown(store: Store, leaf: Any) -> None:
    (id,) = store.chats.add([chat_of({**conversation(), "current_node": leaf})])
    assert store.messages.shown(id)[-1].message.text == "The capital\n\n of Korea."


def test_a_long_chain_is_read() -> None:
    mapping = {str(i): node(str(i), str(i - 1), message("user", "x"), str(i + 1)) for i in range(20_000)}
    assert len(chat_of({"mapping": mapping, "current_node": "19999"}).messages) == 20_000


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        "x",
        {},
        {"mapping": None},
        {"mapping": []},
        {"mapping": {}},
        {"mapping": {"a": None, "b": 3}},
        {"mapping": {"a": node("a", "b", message("user", "x")), "b": node("b", "a", message("user", "y"))}},
        {"mapping": {"a": node("a", "a", message("user", "x"), "a")}, "current_node": "a"},
        {"mapping": {"a": node("a", None, {"author": None, "content": 3})}},
    ],
)
def test_a_conversation_without_messages_is_malformed(value: object) -> None:
    with pytest.raises(Malformed, match="no messages"):
        chat_of(value)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path to every value in it."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in inner for place in places(item, (*path, key)))]


PLACES = [place for place in places(conversation()) if place]
json_values = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3)
json_values |= st.sampled_from(["root", "new", "final"]) | st.lists(json_values, max_size=2)
json_values |= st.dictionaries(st.text(max_size=3), st.none(), max_size=2)


@given(st.lists(st.tuples(st.sampled_from(PLACES), json_values), max_size=3))
def test_any_corruption_gives_a_chat_or_malformed(
    changes: list[tuple[tuple[Any, ...], Any]],
) -> None:
    value: Any = copy.deepcopy(conversation())
    for (*way, last), new in changes:
        at = value
        try:
            for key in way:
                at = at[key]
            at[last] = new
        except (KeyError, IndexError, TypeError):
            pass  # removed by an earlier change
    try:
        chat = chat_of(json.loads(json.dumps(value)))
    except Malformed:
        return
    assert tree.with_one_shown(chat.messages) is not None
