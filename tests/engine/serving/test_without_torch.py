"""On the processor, a chat imports neither torch nor transformers, and needs neither."""

import subprocess
import sys
from pathlib import Path

from tests.engine.conftest import model_file

# The engine in a process where both cannot be imported; it prints the texts and who was imported.
PROGRAM = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "transformers", "accelerate"):
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Missing())
from engine import machine, protocol
from engine.machine import torch_build

machine.installed_torch = lambda packages=None: None
from engine.serving.service import EngineService

engine = EngineService()
draft = sys.argv[2] if len(sys.argv) > 2 else "auto"
engine.load(protocol.Load(id=1, draft=draft, context=256), lambda event: None, lambda: False)
messages = [protocol.Message(role="user", content="What is the capital of Japan?")]
for drafter in sys.argv[1].split(","):
    for temperature in (0.0, 0.7):
        options = protocol.Options(
            drafter=drafter, temperature=temperature, top_p=0.9, seed=4, max_new_tokens=12
        )
        chat = protocol.Chat(id=2, messages=messages, options=options)
        answer = engine.answer(chat, lambda event: None, lambda: False)
        print(drafter, temperature, answer.text.replace(chr(10), " "))
print(sorted({"torch", "transformers", "accelerate"} & {name.partition(".")[0] for name in sys.modules}))
"""


def answers_of(drafters, *draft):
    model_file("smollm2")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, drafters, *draft],
        capture_output=True, text=True, cwd=Path(__file__).parents[3], timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    *answers, imported = done.stdout.splitlines()
    assert imported == "[]"
    assert len(answers) == 2 * len(drafters.split(","))
    return answers


def test_every_drafter_of_the_demonstration_model_answers_without_torch():
    answers = answers_of("none,auto,pld,recycling,lookahead,eagle,merged")
    for temperature in (" 0.0 ", " 0.7 "):
        texts = {line.partition(temperature)[2] for line in answers if temperature in line}
        assert len(texts) == 1
    assert "Tokyo" in answers[0]


def test_every_drafter_with_a_draft_model_answers_without_torch():
    answers = answers_of("none,specexec,specexec+pld,specinfer,sps", "smollm2")
    greedy = {line.partition(" 0.0 ")[2] for line in answers if " 0.0 " in line}
    assert len(greedy) == 1
    assert "Tokyo" in answers[0]
