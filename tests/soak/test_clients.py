"""The soak of clients recognises what it is to recognise, and a short one runs."""

import dataclasses
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from engine import catalog
from engine.errors import ModelNotFound
from tests.engine.server.conftest import running
from tests.soak.clients import ClientsSoak, check_metrics
from tests.soak.crowd import Tally
from tests.soak.judge import MIB, SERVER_LIMITS, ServerSample, growing, table
from tests.soak.questions import MESSAGES, PATHS, Question, satisfies_schema

ROOT = Path(__file__).parents[2]


def series(**leaks: float) -> list[ServerSample]:
    """Return samples of a server at rest, with noise. leaks: what grows, and how much for each request."""
    random = Random(0)
    made = []
    for question in range(30, 601, 30):
        sample = ServerSample(
            minute=question / 40,
            question=question,
            server_nbytes=(50 + random.uniform(0, 0.1)) * MIB,
            engine_nbytes=(280 + random.uniform(0, 0.2)) * MIB,
            server_handles=12,
            engine_handles=7,
            server_threads=4 + random.randrange(2),
            engine_threads=9,
            processes=2,
        )
        grown = {name: getattr(sample, name) + int(leak * question) for name, leak in leaks.items()}
        made.append(dataclasses.replace(sample, **grown))
    return made


def test_a_server_at_rest_is_found_not_to_grow():
    assert growing(series(), SERVER_LIMITS) == []


@pytest.mark.parametrize(
    ("name", "leak"),
    [
        ("server_nbytes", 3000),
        ("engine_nbytes", 6000),
        ("server_handles", 0.01),
        ("engine_handles", 0.01),
        ("server_threads", 0.02),
        ("engine_threads", 0.01),
        ("processes", 0.01),
    ],
)
def test_a_leak_is_recognised(name, leak):
    leaking = series(**{name: leak})
    assert growing(leaking, SERVER_LIMITS) == [name]
    assert sum("**grows**" in line for line in table(leaking, SERVER_LIMITS)) == 1


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with running(tmp_path_factory.mktemp("runtime")) as server:
        yield server


@pytest.mark.parametrize("path", PATHS)
def test_a_wrong_answer_is_recognised(server, path):
    soak = ClientsSoak(server, 2, Random(0), print)
    soak.tally.answers.append((Question(path, "Name a river.", max_tokens=3), "no such answer"))
    ((question, text, alone),) = soak.wrong_answers()
    assert (question.path, text) == (path, "no such answer")
    assert alone


METRICS = {
    "specexec_requests_running": 0.0,
    "vllm:generation_tokens_total": 60.0,
    'specexec_requests_total{path="/v1/messages",status="200"}': 3.0,
    'specexec_requests_total{path="/v1/messages",status="429"}': 1.0,
    'specexec_requests_total{path="/health",status="200"}': 9.0,
}


def tally(**counts: int) -> Tally:
    return Tally(
        tokens=60, counts=Counter(counts), statuses=Counter({(MESSAGES, 200): 3, (MESSAGES, 429): 1})
    )


def test_metrics_that_agree_with_the_clients():
    check_metrics(METRICS, tally())
    check_metrics({**METRICS, "vllm:generation_tokens_total": 90.0}, tally(left=1))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("specexec_requests_running", 1.0),
        ("vllm:generation_tokens_total", 59.0),
        ("vllm:generation_tokens_total", 61.0),
        ('specexec_requests_total{path="/v1/messages",status="200"}', 2.0),
        ('specexec_requests_total{path="/v1/messages",status="429"}', 2.0),
        ('specexec_requests_total{path="/v1/responses",status="400"}', 1.0),
    ],
)
def test_metrics_that_disagree_with_the_clients(name, value):
    with pytest.raises(AssertionError):
        check_metrics({**METRICS, name: value}, tally())


def test_what_satisfies_the_schema():
    assert satisfies_schema('{"colour": "red", "number": 2}')
    for text in ("", "{}", '{"colour": "red"}', '{"colour": "pink", "number": 2}', '["red", 2]'):
        assert not satisfies_schema(text), text


def test_a_short_soak_of_clients_prints_its_table():
    try:
        catalog.resolve(catalog.default_target())
    except ModelNotFound as error:
        pytest.skip(error.message)
    done = subprocess.run(
        [sys.executable, "-m", "tests.soak.clients", "--requests", "12", "--round", "6"],
        cwd=ROOT,
        env=dict(os.environ),
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "answers read to the end" in done.stdout
    assert done.stdout.count("\n| ") == 1 + len(SERVER_LIMITS)
    assert done.stdout.endswith("nothing grows without a bound\n")
