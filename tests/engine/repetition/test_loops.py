"""Loops are found, at the same token however it was proposed; ordinary text is not taken for one."""

import json
import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.repetition import LoopDetector
from engine.repetition.loops import LOOPED, LOOPED_SHORT, PERIODS
from tests.engine.tokenizer.samples import real


def found_at(tokens) -> int | None:
    """Return the number of tokens at which a loop is found, or None."""
    detector = LoopDetector()
    for number, token in enumerate(tokens, start=1):
        detector.add(token)
        if detector.found:
            return number
    return None


@settings(max_examples=100, deadline=None)
@given(
    before=st.lists(st.integers(0, 9), max_size=80),
    period=st.lists(st.integers(10, 10_000), min_size=1, max_size=200),
)
def test_a_loop_is_found_after_a_few_periods(before, period):
    at = found_at([*before, *period * 600])
    assert at is not None
    # A period that repeats itself inside is found later, because its first half is taken for the period.
    most = max(LOOPED_SHORT, 2 * PERIODS * len(period)) + 2 * len(period)
    assert LOOPED <= at - len(before) <= most


def test_the_same_words_have_to_stand_there_four_times():
    paragraph = list(range(400))
    assert found_at(paragraph * 4) == 4 * len(paragraph)
    assert found_at(paragraph * 4) > found_at([1, 2, 3] * 200) == 3 + LOOPED_SHORT
    assert found_at(paragraph * 3 + [*range(9000, 9400)]) is None


def test_a_loop_that_is_left_is_counted_anew():
    loop = [5, 6, 7] * 60
    assert found_at([*loop, 1, *loop, 2, *loop, 3]) is None


# A file of the standard library's size in lines that resemble each other.
CODE = "\n".join(
    f"    if name == 'field_{n}':\n        return self._fields[{n}]\n    total += weights[{n}] * 0.5"
    for n in range(300)
)
SWITCH = "\n".join(f"case {n}:\n    handle(event);\n    break;" for n in range(300))
TABLE = "| n | square | note |\n|---|---|---|\n" + "\n".join(f"| {n} | {n * n} | – |" for n in range(400))
LIST = "\n".join(f"{n}. The cat sat on the mat." for n in range(1, 400))
RECORDS = json.dumps([{"id": n, "active": True, "tags": [], "parent": None} for n in range(200)], indent=2)
SAME_RECORDS = json.dumps([{"active": True, "tags": []}] * 12, indent=2)
REFRAIN = "And the rain, it raineth every day,\nWith hey, ho, the wind and the rain;\n" * 2
POEM = "".join(f"Verse {n} has other words than {n + 1},\nand so on it goes.\n{REFRAIN}" for n in range(60))
LINES = "Title\n" + "-" * 80 + "\n" + "=" * 120 + "\n" + " " * 200 + "end\n"
ZEROS = "x = [" + "0, " * 100 + "0]\n"
ART = "\n".join(" " * (40 - n) + "*" * (2 * n + 1) for n in range(40))


@pytest.mark.parametrize(
    "text",
    [CODE, SWITCH, TABLE, LIST, RECORDS, SAME_RECORDS, POEM, LINES * 3, ZEROS, ART],
    ids=["code", "switch", "table", "list", "records", "equal records", "poem", "lines", "zeros", "drawing"],
)
def test_ordinary_text_is_not_taken_for_a_loop(text):
    assert found_at(real("smollm2").encode(text)) is None


def test_text_of_repeated_words_in_random_order_is_not_taken_for_a_loop():
    words = random.Random(1)
    assert found_at(words.choice("ab") for _ in range(50_000)) is None


@pytest.mark.parametrize(
    "sentence", ["I am sorry, I cannot do that. ", "ha", "\n", "0, ", "# Title\n\nText.\n"]
)
def test_a_repeated_sentence_is_found_within_five_hundred_tokens(sentence):
    at = found_at(real("smollm2").encode(sentence * 20_000)[:2000])
    assert at is not None
    assert at <= LOOPED_SHORT + 8


def test_a_long_answer_takes_no_more_time_per_token():
    """A hundred thousand tokens in less than a second, on any machine that can answer at all."""
    numbers = random.Random(2)
    text = [numbers.randrange(5) for _ in range(100_000)]
    started = time.thread_time()  # not what other programs take
    assert found_at(text) is None
    assert time.thread_time() - started < 2
