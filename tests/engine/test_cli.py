"""The command line: exit status, JSON, errors. Tests without a model run in this process."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from msgspec import structs
from safetensors.numpy import load_file, save_file

from engine import cli
from engine.cli.chat import answer_once, summary
from engine.protocol import ExpertFigures, Message, Options, TemplateInput
from tests.app.fake_engine import answer
from tests.engine.conftest import model_file
from tests.engine.heads.test_service import write_target

ANSWER_FIELDS = {
    "text", "token_ids", "stop_reason", "seed", "prompt_tokens", "tokens", "target_passes", "tokens_per_pass",
    "tokens_per_second", "time_to_first_token_s", "seconds", "bytes_streamed", "experts", "link_gb_per_s",
    "memory", "drafter", "budget",
}  # fmt: skip


def specexec(*arguments: str, **kwargs) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "engine.cli", *arguments],
        capture_output=True, text=True, cwd=Path(__file__).parents[2], timeout=120, **kwargs,
    )  # fmt: skip


def failure(capsys, *arguments: str) -> dict[str, str]:
    """Run a command that must fail with status 1 and print exactly one JSON object; return its error."""
    assert cli.run(["chat", *arguments, "--json"]) == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["message"]
    assert error["hint"]
    return error


@pytest.mark.parametrize(
    ("arguments", "kind", "named"),
    [
        (["", "--seed", "1"], "bad_option", "prompt"),
        (["  \n"], "bad_option", "prompt"),
        ([], "bad_option", "PROMPT"),
        (["hi", "--temperature", "-0.1"], "bad_option", "--temperature"),
        (["hi", "--temperature", "nan"], "bad_option", "--temperature"),
        (["hi", "--seed", "-1"], "bad_option", "--seed"),
        (["hi", "--seed", str(2**63)], "bad_option", "--seed"),
        (["hi", "--top-p", "0"], "bad_option", "--top-p"),
        (["hi", "--budget", "100000"], "bad_option", "--budget"),
        (["hi", "--max-new-tokens", "0"], "bad_option", "--max-new-tokens"),
        (["hi", "--context", "3"], "bad_option", "--context"),
        (["hi", "--threads", "0"], "bad_option", "--threads"),
        (["hi", "--dry-base", "0.5"], "bad_option", "--dry-base"),
        (["hi", "--xtc-threshold", "0.9"], "bad_option", "--xtc-threshold"),
        (["hi", "--kv-cache", "q8_0", "--dtype", "float32"], "bad_option", "q8_0"),
        (["hi", "--json-schema", "{"], "bad_constraint", "JSON schema"),
        (["hi", "--json-schema", "no/such/file"], "bad_option", "no/such/file"),
        (["hi", "--grammar", "no/such/file"], "bad_option", "no/such/file"),
        (["hi", "--regex", "(a"], "bad_constraint", "regular expression"),
        (["hi", "--json-object", "--choice", "yes"], "bad_option", "options"),
        (["hi", "--thinking-budget", "-1"], "bad_option", "--thinking-budget"),
        (["hi", "--target", "no/such/model"], "model_not_found", "no/such/model"),
        (["hi", "--draft", "no/such/draft"], "model_not_found", "no/such/draft"),
    ],
)
def test_bad_input_gives_an_error_with_kind_message_and_hint(capsys, arguments, kind, named):
    error = failure(capsys, *arguments)
    assert error["kind"] == kind
    assert named in error["message"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has other limits")
@pytest.mark.parametrize("path", ["x" * 300, "/" + "a/" * 3000, "~no-such-user/x", "a\0b"])
@pytest.mark.parametrize(
    "command",
    [
        ["chat", "hi", "--target", "PATH"],
        ["chat", "hi", "--draft", "PATH"],
        ["export", "PATH", "new"],
        ["export", "smollm2", "PATH"],
        ["models", "--models", "PATH"],
        ["plan", "--models", "PATH"],
        ["pull", "smollm2", "--models", "PATH"],
    ],
    ids=" ".join,
)
def test_a_path_that_nothing_can_have_is_an_error_with_a_name(capsys, command, path):
    assert cli.run([*(path if word == "PATH" else word for word in command), "--json"]) == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert (error["kind"], error["hint"]) == ("bad_option", "Check the path.")
    assert "cannot be used" in error["message"]
    assert len(error["message"]) < 400


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
@pytest.mark.parametrize("path", ["/dev/zero", "/dev/stdin", "/proc/self/mem", "FIFO", "FOLDER"])
def test_what_is_not_a_regular_file_is_refused_and_not_waited_for(capsys, tmp_path, path):
    os.mkfifo(tmp_path / "model.gguf")
    named = {"FIFO": str(tmp_path / "model.gguf"), "FOLDER": str(tmp_path)}
    error = failure(capsys, "hi", "--target", named.get(path, path))
    assert error["kind"] in ("unsupported_model", "bad_checkpoint")


def test_a_context_beyond_the_model_is_refused_before_it_is_loaded(capsys):
    model_file("smollm2")
    error = failure(capsys, "hi", "--context", "9000")
    assert error["kind"] == "bad_option"
    assert "8,192" in error["message"]


def test_a_file_that_is_not_a_model_is_refused(capsys, tmp_path):
    file = tmp_path / "notes.gguf"
    file.write_text("these are my notes\n" * 100)
    assert failure(capsys, "hi", "--target", str(file))["kind"] == "bad_checkpoint"


def test_a_truncated_model_is_refused(capsys, tmp_path):
    whole = model_file("smollm2").read_bytes()
    for length in (10, 50_000, len(whole) - 1000):
        file = tmp_path / "model.gguf"
        file.write_bytes(whole[:length])
        error = failure(capsys, "hi", "--target", str(file))
        assert error["kind"] == "bad_checkpoint"


def test_a_thread_that_the_system_refuses_is_named(capsys, monkeypatch):
    model_file("smollm2")

    def refuse(*_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("threading._start_new_thread", refuse)
    assert failure(capsys, "hi")["kind"] == "system_limit"


@pytest.mark.parametrize("stop_reason", ["repetition", "end_of_sequence"])
def test_an_answer_that_was_stopped_because_it_repeats_itself_says_so(capsys, stop_reason):
    class Engine:
        def answer(self, chat, emit, cancelled):
            return answer(chat.id, "ha ha", stop_reason)

    answer_once(Engine(), [Message("user", "hi")], Options(), TemplateInput(), show=True)
    assert ("repeats itself and was stopped" in capsys.readouterr().err) == (stop_reason == "repetition")


def test_the_summary_tells_what_the_cache_of_experts_did():
    of_dense = answer(1, "Yes.")
    assert "experts" not in summary(of_dense)
    figures = ExpertFigures(
        hits=75, late=2, misses=3, near=20, bytes_read=3 * of_dense.tokens << 20, predicted=0, right=0
    )
    said = summary(structs.replace(of_dense, experts=figures))
    assert (
        "· experts: 75 % in memory, 2 % on their way, 3.0 MiB read a token, 20 % by the processor ·" in said
    )
    on_card = structs.replace(figures, late=0, near=0, misses=25, tier="vram")
    said = summary(structs.replace(of_dense, experts=on_card))
    assert "· experts: 75 % on the card, 3.0 MiB copied a token ·" in said


def test_bad_usage_is_status_2():
    for arguments in (
        ["chat", "hi", "--budgte", "3"],
        ["no-such-command"],
        ["chat", "hi", "--seed", "many"],
        ["chat", "hi", "--kv-cache", "q4_0"],
    ):
        with pytest.raises(SystemExit) as ended:
            cli.run(arguments)
        assert ended.value.code == 2


def test_json_is_one_object_with_the_fields_of_the_contract():
    model_file("smollm2")
    done = specexec(
        "chat", "What is the capital of Japan?", "--max-new-tokens", "24", "--budget", "16", "--json"
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer.keys() >= ANSWER_FIELDS
    assert answer["seconds"].keys() >= {"draft", "target", "stream_wait", "other"}
    memory = answer["memory"]
    assert memory.keys() == {"vram", "ram", "peak", "parts"}
    assert memory["ram"] < memory["peak"] < memory["ram"] + (2 << 30)  # in a process that did nothing else
    assert answer["tokens_per_pass"] > 1
    assert "Tokyo" in answer["text"]


def test_an_interactive_chat_remembers_and_survives_a_bad_question():
    model_file("smollm2")
    questions = f"My name is Zoe.\n\n{'word ' * 9000}\nWhat is my name?\n"
    done = specexec("chat", "--max-new-tokens", "16", input=questions)
    assert done.returncode == 0, done.stderr
    assert "Zoe" in done.stdout
    assert "tokens long" in done.stderr


def test_a_probably_damaged_model_answers_with_a_warning(tmp_path):
    folder = write_target(tmp_path / "tiny", tie_word_embeddings=False)
    file = folder / "model.safetensors"
    tensors = load_file(file)
    save_file(tensors | {"lm_head.weight": np.zeros_like(tensors["lm_head.weight"])}, file, {"format": "pt"})
    done = specexec("chat", "HI", "--target", str(folder), "--device", "cpu", "--max-new-tokens", "2")
    assert done.returncode == 0, done.stderr
    assert "tiny is probably damaged: in 1 of its 39 weights, such as lm_head.weight" in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="sends SIGINT")
def test_ctrl_c_while_the_program_starts_ends_it_without_a_traceback():
    """The commands are imported while the program starts; here, importing one of them presses Ctrl-C, also
    where the tests themselves ignore it."""
    press = (
        "import os, signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "sys.meta_path.insert(0, type('P', (), dict(find_spec=staticmethod("
        "lambda name, *_: os.kill(os.getpid(), signal.SIGINT) if name == 'engine.cli.plan' else None))));"
    )
    done = subprocess.run(
        [sys.executable, "-c", f"{press} from engine.cli import main; main()", "doctor"],
        capture_output=True, text=True, cwd=Path(__file__).parents[2], timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.skipif(os.name == "nt", reason="sends SIGINT")
def test_ctrl_c_keeps_the_text_so_far():
    model_file("smollm2")
    process = subprocess.Popen(
        [sys.executable, "-m", "engine.cli", "chat", "Write a very long story.", "--repetition-penalty",
        "1.3"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    first = process.stdout.read(10)  # the answer has started
    process.send_signal(signal.SIGINT)
    rest, errors = process.communicate(timeout=20)
    assert process.returncode == 1
    assert first + rest
    assert b"Traceback" not in errors
    assert b"The answer was interrupted." in errors


def test_closing_the_output_is_no_crash():
    model_file("smollm2")
    process = subprocess.Popen(
        [sys.executable, "-m", "engine.cli", "chat", "Count to a hundred.", "--max-new-tokens", "60"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    process.stdout.read(3)
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=60) in (0, 1)
    assert b"Traceback" not in errors
