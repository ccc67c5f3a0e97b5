"""The soak's judge recognises what grows, and a soak of two questions runs."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from random import Random

import pytest

from engine import catalog
from engine.errors import ModelNotFound
from tests.soak.judge import LIMITS, MIB, Sample, growing, slope, table

ROOT = Path(__file__).parents[2]


def series(change: Callable[[Sample], Sample] = lambda sample: sample, questions: int = 200) -> list[Sample]:
    """Return samples of a window that warms up and then stays as it is, with noise, changed by `change`."""
    random = Random(0)
    made = []
    for question in range(1, questions + 1):
        warm = min(1.0, question / 60)
        made.append(
            Sample(
                minute=question / 5,
                question=question,
                window_nbytes=(100 + 80 * warm + random.uniform(-1, 1)) * MIB,
                engine_nbytes=(260 + 90 * warm + random.choice((0, 0, 0, 25))) * MIB,
                server_nbytes=(60 + 8 * warm + random.uniform(-0.2, 0.2)) * MIB,
                store_nbytes=question * 4000,
                objects=90_000 + 50_000 * warm + random.randrange(-500, 500),
                qobjects=400 + 2500 * warm + random.randrange(-20, 20),
                timers=random.randrange(3),
                window_handles=25 + random.randrange(3),
                engine_handles=6,
                server_handles=12 + random.randrange(2),
                window_threads=6 + random.randrange(3),
                engine_threads=8,
                server_threads=5,
            )
        )
    return [change(sample) for sample in made]


def test_a_window_that_warms_up_and_then_rests_is_found_not_to_grow() -> None:
    assert growing(series()) == []


def test_the_growth_of_the_warm_up_is_not_judged() -> None:
    assert growing(series(lambda one: replace(one, qobjects=min(100 * one.question, 9000)))) == []


@pytest.mark.parametrize(
    ("name", "leak"),
    [
        ("window_nbytes", 60_000),
        ("engine_nbytes", 40_000),
        ("server_nbytes", 12_000),
        ("store_nbytes", 100_000),
        ("objects", 50),
        ("qobjects", 1),
        ("timers", 0.1),
        ("window_handles", 0.07),
        ("engine_handles", 0.07),
        ("server_handles", 0.07),
        ("window_threads", 0.07),
        ("engine_threads", 0.07),
        ("server_threads", 0.07),
    ],
)
def test_a_leak_is_recognised(name: str, leak: float) -> None:
    leaking = series(lambda one: replace(one, **{name: getattr(one, name) + int(leak * one.question)}))
    assert growing(leaking) == [name]
    marked = [line for line in table(leaking) if "**grows**" in line]
    assert [line.split()[1].strip(",") for line in marked] == [name.split("_")[0]]


def test_every_measurement_has_a_limit() -> None:
    assert {field.name for field in fields(Sample)} - LIMITS.keys() == {"minute", "question"}


def test_one_outlier_does_not_change_the_slope() -> None:
    samples = series(lambda one: replace(one, objects=float(one.question)))
    samples[-1] = replace(samples[-1], objects=1e9)
    assert slope(samples, "objects") == 1


def test_a_soak_of_two_questions_prints_its_table() -> None:
    try:
        catalog.resolve(catalog.default_target())
    except ModelNotFound as error:
        pytest.skip(error.message)
    done = subprocess.run(
        [sys.executable, "-m", "tests.soak", "--minutes", "0", "--questions", "2"],
        cwd=ROOT,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    assert "question 2: window" in done.stdout
    assert done.stdout.count("\n| ") == 1 + len(LIMITS)
    assert done.stdout.endswith("nothing grows without a bound\n")
