"""The demo model answers the questions that an empty chat suggests for it."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from app.conversation.empty_state import DEMO_QUESTIONS
from engine import catalog
from engine.errors import ModelNotFound

ROOT = Path(__file__).parents[3]

pytestmark = pytest.mark.timeout(600)

# What a right answer says, in the order of the questions.
SAYS = (
    r"Tokyo",
    r"(?=.*(light|sun))(?=.*water)",
    r"(?=.*(network|web))(?=.*(connect|communicat))",
)


@pytest.fixture(scope="module")
def tries() -> Any:
    """Return for each question the answers, by the name of the sampling."""
    try:
        catalog.resolve(catalog.default_target())
    except ModelNotFound as error:
        pytest.skip(error.message)
    command = [sys.executable, "-m", "tests.app.conversation.tries", "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("question", "says"), list(zip(DEMO_QUESTIONS, SAYS, strict=True)), ids=DEMO_QUESTIONS
)
def test_a_suggested_question_is_answered(tries: Any, question: str, says: str) -> None:
    answers = tries[question]
    right = {
        name
        for name, answer in answers.items()
        if answer["stop_reason"] == "end_of_sequence"
        and re.search(says, answer["text"], re.IGNORECASE | re.DOTALL)
    }
    assert "greedy" in right
    assert len(answers) == 11
    assert len(right) >= 10, {name: answers[name]["text"] for name in answers.keys() - right}
