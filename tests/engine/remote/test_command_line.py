"""`specexec engines`, and `specexec chat --engine` with a server that the tests script."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from engine import cli
from engine.remote import engines
from tests.engine.hub.conftest import MemoryKeyring
from tests.engine.remote.scripted_server import MODEL, ScriptedServer, delta, ending, event

ROOT = Path(__file__).parents[3]
Command = list[str]

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="keeps lists apart by XDG_CONFIG_HOME")


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    """Run `specexec engines` and return the JSON object that it prints."""
    status = cli.run(["engines", *arguments, "--json"])
    found = json.loads(capsys.readouterr().out)
    assert status == ("error" in found)
    return dict(found)


def test_engines_are_added_tested_and_removed(
    capsys: pytest.CaptureFixture[str], server: ScriptedServer, own_keyring: MemoryKeyring, tmp_path: Path
) -> None:
    assert said(capsys) == {"engines": []}
    (tmp_path / "key.txt").write_text("secret\n")
    added = said(capsys, "add", "lab", server.address, "--key-file", str(tmp_path / "key.txt"))
    assert (added["name"], added["address"]) == ("lab", server.address)
    assert "secret" not in json.dumps(added)
    assert list(own_keyring.kept.values()) == ["secret"]

    assert cli.run(["engines"]) == 0
    assert capsys.readouterr().out == f"lab  {server.address}\n"
    tested = said(capsys, "test", "lab")
    assert tested["place"] == server.address.removeprefix("http://").removesuffix("/v1")
    assert [model["id"] for model in tested["models"]] == [MODEL]  # type: ignore[attr-defined]
    assert server.received[-1].headers["Authorization"] == "Bearer secret"

    assert said(capsys, "remove", "lab") == {"name": "lab", "removed": True}
    assert own_keyring.kept == {}
    assert said(capsys)["engines"] == []


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        (("test", "nobody"), "engine_unknown"),
        (("remove", "nobody"), "engine_unknown"),
        (("add", "lab", "ftp://host"), "bad_option"),
        (("add", "lab", "localhost:1", "--key-file", "no/such/file"), "bad_option"),
        (("add", "fake", "localhost:1"), "bad_option"),
    ],
)
def test_mistakes_are_named(
    capsys: pytest.CaptureFixture[str], added: object, arguments: tuple[str, ...], kind: str
) -> None:
    assert cli.run(["engines", *arguments, "--json"]) == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["kind"] == kind
    assert error["hint"]
    assert [each.name for each in engines.added()] == ["fake"]


# -- chats, in processes of their own ------------------------------------------------------------------------


@pytest.fixture
def chat(server: ScriptedServer, tmp_path: Path) -> Callable[..., "subprocess.Popen[str]"]:
    """Start `specexec chat --engine fake`."""
    environment = {
        **os.environ,
        "XDG_CONFIG_HOME": str(tmp_path),
        "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
        "SPECEXEC_ENGINE_KEY_FAKE": "from the environment",
    }

    def run(*arguments: str, **also: object) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-m", "engine.cli", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=environment,
            **also,  # type: ignore[call-overload]
        )

    adding = run("engines", "add", "fake", server.address)
    _, errors = adding.communicate(timeout=60)
    assert adding.returncode == 0, errors
    return lambda *arguments, **also: run("chat", "--engine", "fake", *arguments, **also)


@on_linux
def test_a_chat_prints_the_answer_and_says_where_the_text_goes(
    chat: Callable[..., "subprocess.Popen[str]"], server: ScriptedServer
) -> None:
    told = {"num_spec_steps": 2, "num_draft_tokens": 8, "num_accepted_draft_tokens": 3}
    usage = {"prompt_tokens": 9, "completion_tokens": 6}
    server.script.pieces = [
        delta(content="Hel"), delta(content="lo"),
        *ending(usage=usage, metrics={"speculative_decoding": told}),
    ]  # fmt: skip
    process = chat("Hi", "--system", "Be brief.", "--temperature", "0.5", "--seed", "4")
    output, errors = process.communicate(timeout=60)
    assert (process.returncode, output) == (0, "Hello\n")
    assert f"is sent to {server.address.removeprefix('http://').removesuffix('/v1')}" in errors
    assert "3 of 8 drafted tokens accepted" in errors
    assert server.received[-2].headers["Authorization"] == "Bearer from the environment"
    assert (server.asked["temperature"], server.asked["seed"]) == (0.5, 4)
    assert server.asked["messages"] == [
        {"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"},
    ]  # fmt: skip


@on_linux
def test_an_interactive_chat_remembers(
    chat: Callable[..., "subprocess.Popen[str]"], server: ScriptedServer
) -> None:
    server.script.pieces = [delta(content="Yes."), *ending()]
    process = chat(stdin=subprocess.PIPE)
    process.communicate("One?\nTwo?\n", timeout=60)
    assert [each["content"] for each in server.asked["messages"]] == ["One?", "Yes.", "Two?"]


@on_linux
def test_options_of_this_machine_are_refused(chat: Callable[..., "subprocess.Popen[str]"]) -> None:
    process = chat("Hi", "--threads", "1", "--json")
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "--threads" in json.loads(output)["error"]["message"]


@on_linux
@pytest.mark.parametrize("as_json", [False, True])
def test_ctrl_c_in_mid_answer_keeps_the_text_and_hangs_up(
    chat: Callable[..., "subprocess.Popen[str]"], server: ScriptedServer, as_json: bool
) -> None:
    server.script.pieces, server.script.wait = [delta(content="Half an answer")], threading.Event()
    # A process that was started in the background of a shell ignores Ctrl-C, and so would its children.
    restore = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.default_int_handler)}
    process = chat("Hi", *["--json"] * as_json, **restore)
    if as_json:
        assert server.streaming.wait(60)
        started = ""
    else:
        started = process.stdout.read(len("Half an answer"))  # type: ignore[union-attr]
    process.send_signal(signal.SIGINT)
    rest, errors = process.communicate(timeout=30)
    assert process.returncode == 1
    assert server.gone.wait(10)
    assert "The answer was interrupted." in errors
    assert "Traceback" not in errors
    if as_json:
        printed = json.loads(rest)
        assert printed["stop_reason"] == "cancelled"
        assert printed["error"]["kind"] == "cancelled"
    else:
        assert (started + rest).startswith("Half an answer\n")


@on_linux
@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.parametrize(
    ("last", "reason"),
    [
        ([], "The engine broke off in the middle of the answer."),
        ([event({"error": {"message": "out of memory"}})], "out of memory"),
    ],
)
def test_an_engine_that_breaks_off_in_mid_answer(
    chat: Callable[..., "subprocess.Popen[str]"],
    server: ScriptedServer,
    last: list[bytes],
    reason: str,
    as_json: bool,
) -> None:
    server.script.pieces = [delta(content="Half an "), delta(content="answer"), *last]
    process = chat("Hi", *["--json"] * as_json)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert reason in errors
    assert "Ask again" in errors, "the next step"
    if as_json:
        printed = json.loads(output)
        assert printed["text"] == "Half an answer"
        assert reason in printed["error"]["message"]
    else:
        assert output == "Half an answer\n"


@on_linux
def test_an_interactive_chat_goes_on_once_the_engine_is_back(
    chat: Callable[..., "subprocess.Popen[str]"], server: ScriptedServer
) -> None:
    server.script.pieces = [delta(content="Half")]
    process = chat(stdin=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stderr is not None
    process.stdin.write("One?\n")
    process.stdin.flush()
    for line in process.stderr:
        if "broke off" in line:
            break
    server.script.pieces = [delta(content="Whole"), *ending()]
    output, _ = process.communicate("Two?\n", timeout=60)
    assert output == "Half\nWhole\n"
    assert process.returncode == 0
