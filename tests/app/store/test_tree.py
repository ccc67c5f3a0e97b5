from typing import Any

from app.store import StoredMessage, to_send
from app.store.tree import path_to, shown_path


def said(*texts: tuple[str, str]) -> list[StoredMessage]:
    roles: Any = {"q": "user", "a": "assistant"}
    return [
        StoredMessage(id=i, parent=i - 1 or None, role=roles[role], text=text, created_at=1)
        for i, (role, text) in enumerate(texts, 1)
    ]


def sent(*texts: tuple[str, str], system: str = "") -> list[tuple[str, str]]:
    return [(one.role, one.content) for one in to_send(said(*texts), system)]


def test_roles_alternate_in_a_request() -> None:
    assert sent(("q", "1"), ("a", "2"), ("q", "3"), system="s") == [
        ("system", "s"),
        ("user", "1"),
        ("assistant", "2"),
        ("user", "3"),
    ]
    assert sent(("q", "failed"), ("a", ""), ("q", "again")) == [("user", "again")]
    assert sent(("a", "greeting"), ("q", "1")) == [("user", "1")]
    assert sent(("q", "1"), ("a", "2"), ("a", "3"), ("q", "4"))[1] == ("assistant", "2\n\n3")
    assert sent() == []


def test_a_path_leads_from_the_first_message() -> None:
    messages = said(("q", "1"), ("a", "2"), ("q", "3"))
    assert path_to(messages, 2) == messages[:2]
    assert [one.message for one in shown_path(messages)] == messages
