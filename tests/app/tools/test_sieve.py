"""Calls taken out of an answer while it arrives."""

import pytest

from app.tools.sieve import CallSieve
from engine.calls.formats import FORMATS
from engine.calls.offer import OfferedTool

HERMES = next(form for form in FORMATS if form.name == "hermes")
CALL = '<tool_call>\n{"name": "date", "arguments": {"a": 1}}\n</tool_call>'


def sift(text: str, size: int, mark: str = "") -> tuple[str, list[tuple[str, str]]]:
    sieve = CallSieve(HERMES.reader([OfferedTool("date", "", {})]))
    sieve.open_thought(mark)
    shown = "".join(sieve.add(text[start : start + size]) for start in range(0, len(text), size))
    shown += sieve.finish()
    assert shown == sieve.text
    return shown, [(call.name, call.arguments) for call in sieve.calls]


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
@pytest.mark.parametrize(
    ("text", "mark", "shown"),
    [
        (f"I look.\n{CALL}", "", "I look.\n"),
        (f"<think>\nWhich day?\n</think>\n\n{CALL}", "", "<think>\nWhich day?\n</think>\n\n"),
        (f"Which {CALL}?\n</think>\n\nSo:{CALL}", "<think>", f"Which {CALL}?\n</think>\n\nSo:"),
    ],
)
def test_a_call_is_taken_out_and_a_thought_stays(size: int, text: str, mark: str, shown: str) -> None:
    assert sift(text, size, mark) == (shown, [("date", '{"a": 1}')])


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize("text", ["plain <tool_", "<think>so", "<thi", "a <table> b", "  x"])
def test_text_without_calls_is_unchanged(size: int, text: str) -> None:
    assert sift(text, size) == (text, [])
