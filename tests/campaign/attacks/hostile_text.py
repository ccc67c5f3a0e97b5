"""Hostile answers: marks, HTML, formulas, links, control characters and huge words, rendered as they arrive.

No slice takes longer than LIMIT_MS, nothing is read or fetched, no control character reaches the document.
"""

import gc
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from PySide6.QtCore import QRect
from PySide6.QtWidgets import QApplication

from app.conversation.answer_view import AnswerView
from tests.campaign.attack import SURVIVED, Outcome, Try, Verdict

FIXED = 12
LIMIT_MS = 100.0  # processor time
SIZES = (200, 2_000, 10_000)

MARKS = (
    "\\[", "\\]", "$$", "$", "\\(", "\\)", "\\begin{align}", "\\end{align}", "\\begin{equation*}", "```",
    "~~~", "`", ">", "> ", "- ", "* ", "1. ", "#", "*", "_", "**", "~~", "[", "]", "![", "](", ")", "<", ">",
    "&", "|", "|-|-|\n", "\\", "---", "===", "[^1]:", "[a]: ", "\n", "\n\n", "    ", "\t", "\r", " ", "&#0;",
    "&#x202e;",
    "\u202e", "\u2066", "\u2069", "\u200f", "\0", "\x1b[2J", "\x7f", "\x9b", "\ufffc", "\ufdd0", "\ud800",
    "\u2028", "\U0001f30a", "e\u0301\u0302\u0303", "\u0e33" * 9, "<think>", "</think>", "$\\frac{1}{", "}",
    "x^{x^{x^{",
)  # fmt: skip
WORDS = (
    "word", "a", "x" * 3_000, "https://a.example/" + "b" * 500, "javascript:alert(1)", "mailto:a@b.example",
    "<script>alert(1)</script>", "<img src='{0}'>", "![a]({0})", "[a]({0})", "<a href='{0}'>b</a>", "<{0}>",
    "<link rel=stylesheet href='{0}'>", "\\input{{{0}}}", "<iframe src='{0}'></iframe>", "&lt;b&gt;",
)  # fmt: skip
RAW = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufdd0\ufdd1\ud800-\udfff]")


@contextmanager
def prepared(folder: Path) -> Iterator[Try]:
    application = QApplication.instance() or QApplication(["campaign"])
    bait = folder / "bait.png"
    bait.write_bytes(b"bait")
    reached: list[str] = []
    sys.addaudithook(lambda event, _: reached.append(event) if event.startswith("socket.") else None)

    def once(random: Random) -> Outcome:
        reached.clear()
        os.utime(bait, (1, 2))  # reading the file would set the first of these
        worst_ms, shown = _render(_text(random, bait), random)
        if reached or bait.stat().st_atime != 1:
            return Outcome(Verdict.RAW, f"something was opened: {reached or bait}")
        if found := RAW.search(shown):
            return Outcome(Verdict.RAW, f"{found[0]!r} reached the document")
        if worst_ms > LIMIT_MS:
            return Outcome(Verdict.RAW, f"a slice took {worst_ms:.0f} ms")
        return SURVIVED

    _render("Once, *so* that `code` and $x$ are loaded.", Random(0))
    gc.disable()  # a collection takes longer the longer the campaign runs
    yield once
    gc.enable()
    del application


def _text(random: Random, bait: Path) -> str:
    """Return a text of a few marks or words, in a random order or in a row."""
    chosen = [
        random.choice(MARKS if random.random() < 0.7 else WORDS) for _ in range(random.choice((1, 2, 5, 20)))
    ]
    chosen = [each.replace("{0}", random.choice((bait.as_uri(), str(bait)))) for each in chosen]
    length, text = random.choice(SIZES), ""
    is_mixed = random.random() < 0.6
    while len(text) < length:
        text += random.choice(chosen) if is_mixed else "".join(chosen)
    return text


def _render(text: str, random: Random) -> tuple[float, str]:
    """Show a text as it would arrive. Return the worst slice in milliseconds, and what the document has."""
    view = AnswerView()
    view.resize(600, 400)
    view.show()  # as in the window, which lays out what arrives and paints what is in view
    worst, begin = 0.0, 0
    while begin < len(text):
        end = begin + random.choice((1, 40, 1_000, 20_000))
        view.append(text[begin:end])
        begin = end
        worst = max(worst, _timed(view._render))
    view.finish("")
    while not view.is_up_to_date:
        view._timer.stop()  # as if it had run out
        worst = max(worst, _timed(view._render))
    worst = max(worst, _timed(lambda: view.grab(QRect(0, 0, 600, 400))))
    shown = view.body.toPlainText() + view.thought.body.toPlainText()
    view.deleteLater()
    return worst, shown


def _timed(function: Callable[[], object]) -> float:
    before = time.thread_time()
    function()
    return 1000 * (time.thread_time() - before)
