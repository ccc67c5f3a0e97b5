"""The benchmark of turns holds conversations in turns, and what it measures is what the engine says."""

import json

import pytest

from engine.bench.turns import hold, opening, table
from engine.cli import run
from tests.engine.answers import made_answer
from tests.engine.conftest import model_file


class Engine:
    """Answers with the number of messages that it has been given, and reuses all but the last of them."""

    def __init__(self):
        self.asked = []

    def answer(self, chat, emit, cancelled):
        self.asked.append((chat.conversation, len(chat.messages)))
        return made_answer(
            stop_reason="cancelled" if cancelled() else "end_of_sequence",
            prompt_tokens=10 * len(chat.messages),
            reused_tokens=10 * (len(chat.messages) - 1),
            time_to_first_token_s=0.5 * len(self.asked),
        )


def test_the_clients_take_turns():
    engine = Engine()
    first, second = hold(engine, 2, True, 2, 8, 1, 2, lambda: False)
    assert engine.asked == [
        ("1-1", 1), ("1-2", 1), ("1-1", 3), ("1-2", 3), ("2-1", 1), ("2-2", 1), ("2-1", 3), ("2-2", 3)
    ]  # fmt: skip
    assert (first.prompt_tokens, first.reused_tokens) == ([10] * 4, [0] * 4)
    assert (second.prompt_tokens, second.reused_tokens) == ([30] * 4, [20] * 4)
    assert second.first_token_s == [1.5, 2.0, 3.5, 4.0]
    assert list(table([second]))[-1] == "| two in turns | 2 | 30 | 20 | 2.75 (1.50–4.00) |"


def test_ctrl_c_ends_it():
    from engine.errors import Interrupted

    with pytest.raises(Interrupted):
        hold(Engine(), 1, True, 1, 8, 1, 1, lambda: True)


def test_no_two_conversations_begin_alike():
    assert opening("1-1", 2)[:3] != opening("1-2", 2)[:3]


def test_with_a_prompt_cache_the_earlier_turns_are_not_read_anew(capsys):
    model_file("smollm2")
    command = "bench turns --turns 3 --tokens 8 --paragraphs 2 --repeats 1 --context 1024 --json"
    assert run(command.split()) == 0
    turns = json.loads(capsys.readouterr().out)["turns"]
    reused = {(turn["clients"], turn["has_cache"], turn["number"]): turn["reused_tokens"] for turn in turns}
    before = {(turn["clients"], turn["number"]): turn["prompt_tokens"] for turn in turns if turn["has_cache"]}
    for number in (2, 3):
        for place, earlier in enumerate(before[2, number - 1]):
            assert reused[2, True, number][place] >= earlier - 64, "a block of 64 tokens may be incomplete"
            assert reused[2, False, number][place] < 64, "nothing but what all conversations begin with"


@pytest.mark.parametrize("options", ["--turns 0", "--prompt-cache 0"])
def test_what_cannot_be_measured_is_refused(options, capsys):
    assert run(["bench", "turns", *options.split()]) == 1
    assert "Omit" in capsys.readouterr().err
