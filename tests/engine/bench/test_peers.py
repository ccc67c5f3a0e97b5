import contextlib
import errno
import json
import os
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch

from engine import cli
from engine.bench import peers
from engine.bench.memory_cgroup import MemoryCgroup
from engine.bench.peers import Contender, PeerAnswer, PeerTerms, Result, measure, table
from engine.errors import BadOption
from tests.engine.conftest import model_file
from tests.engine.models import reference

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="control groups exist only on Linux")
PROGRAMS = Path(peers.__file__).parent
GIB = 1 << 30


def terms(**changes) -> PeerTerms:
    usual = dict(
        memory=GIB, overhead=0, budget=8, prompt="Hello", tokens=5, repeats=2,
        llama_python=sys.executable,
    )  # fmt: skip
    return PeerTerms(**{**usual, **changes})


def program(name: str, text: str, needs: str | None = None) -> Contender:
    return Contender(name, "model", None, [sys.executable, "-c", text], "", set(), needs)


@pytest.fixture
def contest(monkeypatch):
    """Runs given contenders in groups without a limit; returns the results and the reported lines."""

    @contextlib.contextmanager
    def unlimited(nbytes):
        yield MemoryCgroup([], None)

    def run(*contenders: Contender) -> tuple[list[Result], list[str]]:
        monkeypatch.setattr(peers, "memory_cgroup", unlimited)
        monkeypatch.setattr(peers, "_contenders", lambda target, draft, terms: contenders)
        reported: list[str] = []
        return measure([Path("model")], None, terms(), reported.append), reported

    return run


def answering(tokens: int, rate: float) -> str:
    answer = {"token_ids": [*range(tokens)], "tokens": tokens, "tokens_per_second": rate}
    return f"print({json.dumps(answer)!r})"


def test_contenders_take_turns_and_one_that_fails_does_not_run_again(contest):
    killed = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    results, reported = contest(
        program("a", answering(5, 2.0)),
        program("b", killed),
        program("c", "import sys; print('why', file=sys.stderr); sys.exit('no memory')"),
        program("d", answering(1, 0.0)),
        program("e", answering(5, 4.0), needs="no_such_module"),
    )
    assert [result.outcome for result in results] == [
        "ok", "killed", "failed: no memory", "failed: the answer has only one token", "not installed",
    ]  # fmt: skip
    assert reported == ["a, model, 1 of 2", *(f"{name}, model, 1 of 2" for name in "bcd"), "a, model, 2 of 2"]
    assert results[0].runs == [PeerAnswer(tokens=5, seconds=2.0, tokens_per_pass=1.0, peak_nbytes=None)] * 2
    assert results[0].runs[0].tokens_per_second == 2.0


def test_a_contender_that_takes_too_long_is_stopped(contest, monkeypatch):
    monkeypatch.setattr(peers, "TIMEOUT_S", 0.2)
    results, _ = contest(program("a", "import time; time.sleep(60)"))
    assert results[0].outcome == "too slow"


def test_the_table_has_medians_spread_and_agreement():
    results = [
        Result(
            "a", "model", GIB, "ok", [PeerAnswer(11, s, 1.0, GIB) for s in (1.0, 2.0, 10.0)], [1, 2, 3, 4]
        ),
        Result("b", "model", None, "ok", [PeerAnswer(11, 2.0, 2.5, None)], [1, 2, 9, 4]),
        Result("c", "model", None, "killed"),
    ]
    _, first, second, third = table(results)
    assert first.split() == ["a", "model", "1.00", "5.00", "1.00–10.00", "4", "4", "1.00", "1.00"]
    assert second.split() == ["b", "model", "–", "5.00", "5.00–5.00", "4", "2", "2.50", "–"]
    assert third.split() == ["c", "model", "–", "killed"]


def test_the_rest_of_the_limit_goes_to_the_targets_weights():
    file = model_file("smollm2")
    nbytes = file.stat().st_size
    overhead = 8 << 20
    llama, server, plain = peers._contenders(file, None, terms(memory=nbytes - 1, overhead=overhead))
    assert (llama.name, server.name, plain.name) == ("llama.cpp", "llama.cpp-server", "plain")
    assert llama.ram_limit_nbytes is server.ram_limit_nbytes is None
    assert json.loads(llama.stdin)["tokens"] == json.loads(server.stdin)["tokens"] == 5
    assert plain.ram_limit_nbytes == nbytes - 1 - overhead
    assert float(plain.command[plain.command.index("--ram-limit") + 1]) * GIB == plain.ram_limit_nbytes
    with pytest.raises(BadOption, match="leaves nothing for the target"):
        list(peers._contenders(file, file, terms(memory=nbytes - 1, overhead=overhead)))
    with pytest.raises(BadOption, match="The memory limit holds all"):
        list(peers._contenders(file, None, terms(memory=nbytes)))


def test_files_are_dropped_from_the_page_cache(tmp_path):
    file = tmp_path / "weights"
    file.write_bytes(bytes(1 << 20))
    file.read_bytes()
    with file.open("rb") as opened:

        def cached() -> bool:
            try:
                return os.preadv(opened.fileno(), [bytearray(4096)], 0, os.RWF_NOWAIT) > 0
            except BlockingIOError:
                return False
            except OSError as error:
                if error.errno == errno.EOPNOTSUPP:
                    pytest.skip("this file system does not report cached pages")
                raise

        assert cached()
        for _ in range(50):  # the system keeps pages that another core has just written
            peers._leave_page_cache({file})
            if not cached():
                return
            time.sleep(0.1)
        raise AssertionError("the file's pages are still cached")


def test_accelerates_offload_gives_the_greedy_tokens_of_transformers(tmp_path):
    model = reference("qwen2").to(torch.bfloat16)
    model.generation_config.eos_token_id = None
    model.save_pretrained(tmp_path)
    prompt = [5, 9, 40]
    order = {"model": str(tmp_path), "prompt": prompt, "tokens": 6, "ram_limit": 30_000}
    done = subprocess.run(
        [sys.executable, PROGRAMS / "peer_answer.py", "accelerate"],
        input=json.dumps(order),
        capture_output=True,
        text=True,
    )
    assert "offloaded to the" in done.stderr
    answer = json.loads(done.stdout)
    expected = model.generate(torch.tensor([prompt]), max_new_tokens=6, do_sample=False)[0, 3:].tolist()
    assert answer["token_ids"] == expected
    assert answer["tokens"] == 6
    assert answer["tokens_per_second"] > 0


# A stand-in for llama_cpp, with a clock that advances 4 s for the prompt and 0.5 s for each token.
LLAMA = """
import time
now = 0.0
time.perf_counter = lambda: now

class Llama:
    def __init__(self, model, n_ctx, use_mmap, **options):
        assert use_mmap
        self.room = n_ctx
    def generate(self, tokens, temp):
        global now
        assert temp == 0 and len(tokens) < self.room
        now += 4
        for token in range(7, 99):
            yield token
            now += 0.5
    def token_eos(self):
        return 11
"""


@pytest.mark.parametrize(("tokens", "expected"), [(3, [7, 8, 9]), (20, [7, 8, 9, 10, 11])])
def test_llama_cpps_answer_is_limited_and_timed_from_its_first_token(tmp_path, tokens, expected):
    (tmp_path / "llama_cpp.py").write_text(LLAMA)
    order = {"model": "m.gguf", "prompt": [1, 2], "tokens": tokens, "threads": 1}
    done = subprocess.run(
        [sys.executable, PROGRAMS / "peer_answer.py", "llama.cpp"],
        input=json.dumps(order),
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    answer = json.loads(done.stdout)
    assert answer["token_ids"] == expected
    assert answer["tokens_per_second"] == 2.0


@pytest.mark.skipif(find_spec("xllamacpp") is None, reason="llama.cpp's server is not installed")
def test_llama_cpps_server_takes_tokens_and_tells_tokens():
    order = {"model": str(model_file("smollm2")), "prompt": [504, 2365, 282, 4649, 314], "tokens": 4}
    done = subprocess.run(
        [sys.executable, PROGRAMS / "peer_answer.py", "llama.cpp-server"],
        input=json.dumps({**order, "threads": 1}),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    answer = json.loads(done.stdout.splitlines()[-1])
    assert len(answer["token_ids"]) == answer["tokens"] == 4
    assert answer["tokens_per_second"] > 0


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        (["smollm2", "--memory", "0"], "bad_option"),
        (["smollm2", "--memory", "1", "--tokens", "1"], "bad_option"),
        (["smollm2", "--memory", "1", "--llama-python", "no/such/python"], "bad_option"),
        (["no/such/target", "--memory", "1"], "model_not_found"),
    ],
)
def test_invalid_arguments_are_refused(capsys, arguments, kind):
    assert cli.run(["bench", "peers", *arguments, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["error"]["kind"] == kind
