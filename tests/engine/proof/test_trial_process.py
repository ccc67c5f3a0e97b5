"""A way that hangs, or ends its process, is named; the next trial runs in a new process."""

import contextlib
import io
import queue
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from engine import ways
from engine.errors import Interrupted
from engine.proof import ladder, trial_process, worker
from engine.proof.trial import Trial, TriedWay
from engine.proof.trial_process import TrialProcess
from tests.engine.proof.fake_card import FakeCard, sabotage, with_triton
from tests.engine.proof.test_checks import KERNELS, STEPS
from tests.engine.proof.thread_process import STATUS, Host
from tests.engine.remarks import said

# Answers like a worker, without torch. What a way is called says what happens when it is tried.
PROGRAM = """
import json, os, sys, time
print('"started"', flush=True)
print("{}", flush=True)
for line in sys.stdin:
    trial = json.loads(line)
    if trial["kernel"] == "copies":
        time.sleep(600)
    if trial["kernel"] == "noise" and trial["way"] == "card":
        os._exit(139)
    outcome = "wrong" if (trial["kernel"], trial["way"]) == ("graphs", "replay") else "right"
    print(json.dumps({**trial, "outcome": outcome, "problem": str(os.getpid())}), flush=True)
"""
COMMAND = [sys.executable, "-c", PROGRAM]


@pytest.fixture
def tester():
    tester = TrialProcess(COMMAND, limit_s=5.0)
    yield tester
    tester.close()


def test_trials_share_a_process_as_long_as_it_answers(tester):
    first = tester.test(Trial("graphs", "replay"))
    second = tester.test(Trial("graphs", "launches"))
    assert (first.outcome, second.outcome) == ("wrong", "right")
    assert first.problem == second.problem, "another process"


def test_a_process_that_ends_is_named_and_replaced(tester):
    before = tester.test(Trial("streams", "two"))
    crashed = tester.test(Trial("noise", "card"))
    assert (crashed.outcome, crashed.problem) == ("crashed", "The process ended with 139.")
    after = tester.test(Trial("noise", "processor"))
    assert after.outcome == "right"
    assert after.problem != before.problem


def test_a_way_that_hangs_is_given_up_after_its_limit():
    tester = TrialProcess(COMMAND, limit_s=0.5)
    try:
        assert tester.test(Trial("copies", "pinned")) == TriedWay("copies", "pinned", "hung")
        assert tester.test(Trial("streams", "two")).outcome == "right"
    finally:
        tester.close()


def test_what_cannot_start_says_nothing_about_kernels_and_is_started_once(tmp_path):
    program = f"open({str(tmp_path / 'starts')!r}, 'a').write('x'); raise SystemExit(3)"
    tester = TrialProcess([sys.executable, "-c", program])
    assert ladder.prove(["memory", "noise"], [], tester) == []
    assert (tmp_path / "starts").read_text() == "x"
    tester.close()


def test_a_process_that_closes_its_output_and_does_not_end_hangs(monkeypatch):
    monkeypatch.setattr(trial_process, "_END_S", 1.0)
    program = PROGRAM.replace("os._exit(139)", "os.close(1); time.sleep(600)")
    tester = TrialProcess([sys.executable, "-c", program])
    assert tester.test(Trial("noise", "card")) == TriedWay("noise", "card", "hung")
    tester.close()
    program = PROGRAM.replace('print("{}", flush=True)', "os.close(1); time.sleep(600)")
    tester = TrialProcess([sys.executable, "-c", program])
    shown = tester.test(Trial("noise", "card"))
    assert (shown.outcome, shown.problem) == ("unreachable", "The process for it does not end.")


@pytest.mark.parametrize("place", ["import json", "for line"])
def test_a_load_is_cancelled_while_a_process_starts_or_connects(place, monkeypatch):
    monkeypatch.setattr(trial_process, "START_S", 5.0)
    monkeypatch.setattr(trial_process, "CONNECT_S", 5.0)
    program = "import time\n" + PROGRAM.replace('print("{}", flush=True)\n', "").replace(
        place, "time.sleep(600)\n" + place, 1
    )
    tester = TrialProcess([sys.executable, "-c", program])
    shown: list[tuple[int, int]] = []

    def progress(done: int, total: int) -> None:
        shown.append((done, total))
        if len(shown) == 4:
            raise Interrupted("cancelled")

    with pytest.raises(Interrupted):
        ladder.prove(["noise"], [], tester, progress)
    tester.close()
    assert shown == [(0, 1)] * 4


@pytest.mark.parametrize(
    ("connecting", "problem"),
    [
        ('print(\'{"outcome": "unreachable", "problem": "no code"}\')', "no code"),
        ("os._exit(139)", "The process ended with 139."),
        ("time.sleep(600)", "The card has not answered for 2 s."),
    ],
)
def test_a_card_to_which_no_process_can_connect_is_refused_and_tried_once(connecting, problem, tmp_path):
    program = f"open({str(tmp_path / 'starts')!r}, 'a').write('x')" + PROGRAM.replace(
        'print("{}", flush=True)', connecting
    )
    tester = TrialProcess([sys.executable, "-c", "import os, time\n" + program], limit_s=2.0)
    kernels = ["memory", "noise"]
    tried = ladder.prove(kernels, [TriedWay("memory", "card", "right")], tester)
    tester.close()
    assert tried[1:] == [TriedWay("noise", "card", "unreachable", problem)]
    assert ladder.refused(kernels, tried) == tried[1]
    assert ladder.described(tried[1]) == "The graphics card cannot be used now"
    assert (tmp_path / "starts").read_text() == "x"


@pytest.mark.parametrize(
    ("problem", "connects", "outcomes"),
    [
        ("CUDA error: unknown error", True, ["crashed", "right", "right"]),
        ("CUDA error: unknown error", False, ["unreachable"]),
        ("CUDA error: uncorrectable ECC error encountered", True, ["unreachable"]),
    ],
)
def test_an_unknown_error_is_the_kernels_if_a_new_process_can_use_the_card(
    problem, connects, outcomes, tmp_path
):
    starts = tmp_path / "starts"
    again = "{}" if connects else '{"outcome": "unreachable", "problem": "lost"}'
    connecting = f"""
again = os.path.exists({str(starts)!r})
open({str(starts)!r}, "a").write("x")
print({again!r} if again else "{{}}", flush=True)
"""
    answer = f'{{"kernel": "noise", "way": "card", "outcome": "unreachable", "problem": "{problem}"}}'
    program = PROGRAM.replace('print("{}", flush=True)', connecting)
    program = program.replace("os._exit(139)", f"print({answer!r}, flush=True); continue")
    tester = TrialProcess([sys.executable, "-c", program], limit_s=5.0)
    tried = ladder.prove(["noise", "graphs"], [TriedWay("graphs", "replay", "wrong")], tester)[1:]
    tester.close()
    assert [each.outcome for each in tried] == outcomes
    assert tried[0].problem == (problem if connects else "lost")
    assert starts.read_text() == ("xx" if "unknown" in problem else "x")


@pytest.mark.parametrize(
    ("words", "outcome"),
    [
        ("no kernel image is available for execution on the device", "unreachable"),
        ("out of memory", "unchecked"),
    ],
)
def test_the_process_says_why_it_cannot_connect(words, outcome):
    class Failing(FakeCard):
        def finish(self):
            raise RuntimeError(f"CUDA error: {words}")

    out = io.BytesIO()
    worker.serve(Failing(), [b"a trial"], out)
    started, connection = out.getvalue().splitlines()
    assert started == b'"started"'
    assert connection == f'{{"outcome":"{outcome}","problem":"RuntimeError: CUDA error: {words}"}}'.encode()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signal")
def test_a_process_that_the_system_killed_says_nothing_about_a_kernel():
    tester = TrialProcess([sys.executable, "-c", PROGRAM.replace("os._exit(139)", "os.kill(os.getpid(), 9)")])
    assert tester.test(Trial("noise", "card")).outcome == "unchecked"
    assert tester.test(Trial("graphs", "launches")).outcome == "right"
    tester.close()


def test_what_libraries_print_is_no_answer():
    noisy = PROGRAM.replace("    outcome", "    print('a library says hello', flush=True)\n    outcome")
    tester = TrialProcess([sys.executable, "-c", noisy])
    assert tester.test(Trial("graphs", "launches")).outcome == "right"
    tester.close()


class TimelessLines:
    """The lines of a process for which time passes only once its kernel hangs, as the file `sign` says."""

    def __init__(self, sign: Path) -> None:
        sign.unlink(missing_ok=True)  # of the process before
        self._sign = sign
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self.put = self._lines.put

    def get(self, timeout: float) -> bytes:
        while not self._sign.exists():
            with contextlib.suppress(queue.Empty):
                return self._lines.get(timeout=0.02)
        return self._lines.get_nowait()


@pytest.mark.parametrize("damage", ["crashing", "hanging"])
def test_the_ladder_passes_a_kernel_that_ends_or_stops_its_process(damage, tmp_path, monkeypatch):
    sign = tmp_path / "hangs"
    lines = SimpleNamespace(SimpleQueue=lambda: TimelessLines(sign), Empty=queue.Empty)
    monkeypatch.setattr(trial_process, "queue", lines)
    command = [sys.executable, "-m", "tests.engine.proof.fake_card", "attention", "fused", damage, str(sign)]
    tester = TrialProcess(command)
    names = ["attention 8 float32", "noise"]
    try:
        tried = ladder.prove(names, [], tester)
    finally:
        tester.close()
    outcome = {"crashing": "crashed", "hanging": "hung"}[damage]
    assert [(each.kernel, each.way, each.outcome) for each in tried] == [
        ("attention 8 float32", "fused", outcome),
        ("attention 8 float32", "math", "right"),
        ("noise", "card", "right"),
    ]
    sentence = said(ladder.safer_ways(names, tried))
    words = {"crashing": "ends the program", "hanging": "does not end"}[damage]
    assert f"Attention (8, float32; fused) {words} on this graphics card, so it is computed" in sentence


@pytest.mark.parametrize("damage", ["crashing", "hanging"])
@pytest.mark.parametrize(("kind", "fast", "safe"), STEPS)
def test_each_kind_of_kernel_that_ends_or_stops_its_process_takes_one_step(
    kind, fast, safe, damage, monkeypatch
):
    host = Host()
    processes = SimpleNamespace(Popen=host.process, PIPE=None, DEVNULL=None)
    monkeypatch.setattr(trial_process, "subprocess", processes)
    monkeypatch.setattr(trial_process, "queue", SimpleNamespace(SimpleQueue=host.lines, Empty=queue.Empty))
    with_triton(monkeypatch)
    host.card = sabotage(monkeypatch, kind, fast, host.crash if damage == "crashing" else host.hang)
    name = next(name for name in KERNELS if ways.kind_of(name) == kind)
    tester = TrialProcess()
    try:
        tried = ladder.prove([name], [], tester)
    finally:
        tester.close()
    outcome, problem = {
        "crashing": ("crashed", f"The process ended with {STATUS}."),
        "hanging": ("hung", ""),
    }[damage]
    assert tried == [TriedWay(name, fast, outcome, problem), TriedWay(name, safe, "right")]
    assert host.made == 2
    assert sum(host.waited) == (ways.LADDERS[kind].limit_s if damage == "hanging" else 0)
    words = {"crashing": "ends the program", "hanging": "does not end"}[damage]
    assert f"{fast}) {words} on this graphics card, so " in said(ladder.safer_ways([name], tried))
