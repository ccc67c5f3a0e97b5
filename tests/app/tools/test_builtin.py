"""The program's own tools."""

from datetime import datetime

import pytest

from app.store import Store
from app.tools.builtin import built_in
from app.tools.calculator import calculate
from app.tools.fault import ToolFault


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("2 + 3 * 4", "14"),
        ("2 ^ 10", "1024"),
        ("-(7 // 2) % 5", "2"),
        ("sqrt(16) + max(1, 2.5)", "6.5"),
        ("round(pi, 4)", "3.1416"),
    ],
)
def test_arithmetic_is_calculated(expression: str, value: str) -> None:
    assert calculate(expression) == value


@pytest.mark.parametrize(
    "expression",
    [
        "__import__('os').system('true')",
        "(1).__class__",
        "[1 for _ in (1, 2)]",
        "'a' * 9",
        "9 ** 9 ** 9",
        "10 ** 1000 * 10 ** 1000",
        "(-8) ** 0.5",
        "1 / 0",
        "round(number=1)",
        "True + 1",
        "(" * 300 + ")" * 300,
        "1+" * 400 + "1",
        "",
    ],
)
def test_anything_else_is_refused(expression: str) -> None:
    with pytest.raises(ToolFault, match="cannot be calculated"):
        calculate(expression)


def test_the_date_and_chats_are_told(store: Store) -> None:
    tools = {tool.known.name: tool for tool in built_in(store, lambda: datetime(2026, 11, 23, 9, 5))}
    assert tools["date"].run({}).startswith("Monday, 2026-11-23 09:05")
    assert tools["search_chats"].run({"words": "toml"}) == "No message contains these words."
    store.messages.ask(store.chats.create(), "Explain TOML files")
    assert "Explain TOML files" in tools["search_chats"].run({"words": "toml"})
    with pytest.raises(ToolFault, match="must be a text"):
        tools["search_chats"].run({"words": ["toml"]})
