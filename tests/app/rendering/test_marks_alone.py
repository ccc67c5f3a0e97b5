"""Text of nothing but marks, streamed as the window streams it: no slice blocks the window, and the time is
linear."""

import gc
import time
from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from app.rendering.growing_text import MAX_GROWING, slice_end
from app.rendering.text_body import MAX_COPY_BUTTONS, TextBody

# Seconds of processor time; measured: 0.05 at most (Intel Xeon).
SLICE_LIMIT_S = 0.1

MARKS = [
    *("\\[", "$$", "\\(", "$", "\\begin{align}", "```", "~~~", "`", ">", "> ", "- ", "+ ", "1. ", "#"),
    *("*", "_", "**", "~~", "[", "![", "]", "](", "[a](", "![a](", "[a][", "<", "<http://", "&", "&#"),
    *("&amp;", "|", "|-|", "a|", "- a|", ":-", "=", "---", "[^1]:", "[a]: b\n[", "\\", "*a", "_a", "`a"),
    *("$a ", "\t", "> - ", "a\n", "> ```\n", "*_", "[[]()](", "\\[\n\\]\n", "**a `b` $c$ [d](e) "),
    *("\u202e", "\0", "\U0001f30a"),
]


@pytest.fixture(autouse=True)
def without_collections() -> Iterator[None]:
    """A collection takes longer than any slice."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def slices(text: str, body: TextBody) -> list[float]:
    """Stream a text. Return the processor seconds of each slice."""
    seconds = []
    while True:
        before = time.thread_time()
        is_whole = body.show_markdown(text, budget_ms=0)
        seconds.append(time.thread_time() - before)
        if is_whole:
            return seconds


@pytest.mark.parametrize("end", ["", "\n"], ids=["line", "lines"])
@pytest.mark.parametrize("mark", MARKS)
def test_no_slice_of_marks_blocks_the_window(qtbot: QtBot, mark: str, end: str) -> None:
    body = TextBody()
    qtbot.addWidget(body)
    text = (mark + end) * (6_000 // len(mark + end))
    assert max(slices(text, body)) < SLICE_LIMIT_S
    assert len(body.copy_buttons) <= MAX_COPY_BUTTONS


def test_no_slice_of_a_long_table_blocks_the_window(qtbot: QtBot) -> None:
    """Programs that share the core and its caches make a slice slower, and never quicker: of three tries, the
    quickest of each slice counts."""
    text = "| a | b | c | d |\n|---|--:|:-:|---|\n" + "| e | 1 | **f** | `g` |\n" * 300
    bodies = [TextBody() for _ in range(3)]
    for body in bodies:
        qtbot.addWidget(body)
    quickest = map(min, zip(*(slices(text, body) for body in bodies), strict=True))
    assert max(quickest) < SLICE_LIMIT_S


@pytest.mark.parametrize("mark", ["\\begin{align}\n", "[", "- \n", "```\n", "![a]("])
def test_the_time_is_linear(qtbot: QtBot, mark: str) -> None:
    body = TextBody()
    qtbot.addWidget(body)
    seconds = slices(mark * (60_000 // len(mark)), body)
    quarter = len(seconds) // 4
    assert sum(seconds[-quarter:]) < 2.5 * sum(seconds[:quarter]) + 0.1


def test_a_slice_of_prose_is_longer_than_one_of_marks() -> None:
    prose = "The sea is blue, and so is the sky. " * 1_000
    assert slice_end(prose, 0) == slice_end(prose, 36) - 36 > 1_500
    assert slice_end("[" * 10_000, 5_000) - 5_000 < 500
    assert slice_end("ab", 1) == 2
    assert slice_end("a" * MAX_GROWING, 0) < MAX_GROWING
