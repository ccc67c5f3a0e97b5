"""llama.cpp's own server behind the connection and the command line: a foreign engine, really run."""

import contextlib
import json
import subprocess
import sys
from pathlib import Path

from engine import protocol
from engine.cli.elsewhere import RemoteService
from engine.remote.connection import RemoteConnection
from engine.remote.engines import AddedEngine
from engine.remote.models import models

ROOT = Path(__file__).parents[2]
QUESTION = [protocol.Message("user", "What is the capital of Japan?")]


def asked(engine: AddedEngine, **options: object) -> tuple[protocol.Answer, list[protocol.Event]]:
    events: list[protocol.Event] = []
    target = models(engine, None)[0].id
    with contextlib.closing(RemoteConnection(engine)) as connection:
        service = RemoteService(connection)
        service.load(protocol.Load(id=1, engine=engine.name, target=target), events.append, lambda: False)
        chat = protocol.Chat(id=2, messages=QUESTION, options=protocol.Options(**options))  # type: ignore[arg-type]
        return service.answer(chat, events.append, lambda: False), events


def test_its_model_is_listed(engine: AddedEngine) -> None:
    (model,) = models(engine, None)
    assert model.server == "llama-server"


def test_it_answers_and_tells_what_its_draft_brought(engine: AddedEngine) -> None:
    answer, events = asked(engine, max_new_tokens=24)
    assert "Tokyo" in answer.text
    deltas = [event.text for event in events if isinstance(event, protocol.TextDelta)]
    assert len(deltas) > 1
    assert "".join(deltas) == answer.text
    assert not any(isinstance(event, protocol.TreeGrown) for event in events)
    assert answer.speculation is not None
    assert 0 < answer.speculation.accepted <= answer.speculation.drafted
    assert answer.prompt_tokens > 10


def test_options_reach_it(engine: AddedEngine) -> None:
    answer, _ = asked(engine, max_new_tokens=3)
    assert (answer.tokens, answer.stop_reason) == (3, "max_new_tokens")
    chosen = protocol.Constraint(kind="choice", choices=("red", "green"))
    assert asked(engine, constraint=chosen)[0].text in ("red", "green")
    assert "Tokyo" not in asked(engine, stop=["Tokyo"], max_new_tokens=24)[0].text


def test_the_command_line_talks_to_it(engine: AddedEngine) -> None:
    def specexec(*arguments: str) -> str:
        command = [sys.executable, "-m", "engine.cli", *arguments]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout

    assert engine.name in specexec("engines")
    said = specexec("chat", "--engine", engine.name, "--json", "--max-new-tokens", "24", QUESTION[0].content)
    assert "Tokyo" in json.loads(said)["text"]
