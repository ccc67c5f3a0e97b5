"""The campaign sees what an attack finds: it counts crashes, hangs, raw exceptions and swallowed memory."""

import pytest

from tests.campaign.attack import Verdict, load
from tests.campaign.runner import Tally, run, table
from tests.campaign.worker import random_of


def ended(name: str, tries: int) -> Tally:
    return run(load(f"tests.campaign.failing.{name}"), "fixed", tries=tries)


def drawn(name: str, number: int) -> float:
    return random_of("fixed", f"tests.campaign.failing.{name}", number).random()


@pytest.mark.parametrize(
    ("name", "share", "said"),
    [("crashes", 0.3, "status -11"), ("hangs", 0.5, "no end within 0 s"), ("swallows", 0.3, "took 12")],
)
def test_a_harmful_try_is_counted_and_the_next_ones_are_made(name: str, share: float, said: str) -> None:
    tries = load(f"tests.campaign.failing.{name}").fixed
    expected = [number for number in range(tries) if drawn(name, number) < share]
    assert 0 < len(expected) < tries
    tally = ended(name, tries)
    assert [number for number, _ in tally.harmful] == expected
    assert all(said in outcome.what for _, outcome in tally.harmful)
    assert tally.tries == tries
    assert tally.counts[Verdict.SURVIVED] == tries - len(expected)


def test_errors_for_a_person_are_told_from_raw_ones() -> None:
    tally = ended("raises", 12)
    assert tally.counts[Verdict.NAMED] > 0
    raw = {outcome.what for _, outcome in tally.harmful}
    assert any("KeyError: 'tokens'" in what and what.startswith("raises.py:") for what in raw)
    assert any("without a kind" in what for what in raw)
    assert tally.counts[Verdict.NAMED] + len(tally.harmful) == 12
    assert table([tally])  # and the table is printed
    assert "12" in list(table([tally]))[-1]
