"""A vLLM server started by the text that `specexec plan --emit vllm` prints, and what its /metrics tell."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

READY_S = 900.0  # compiling included
COUNTER = re.compile(r"^vllm:spec_decode_num_(\w+?)_total(\{[^}]*\})? ([0-9.e+]+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Drafted:
    """Counters of vLLM: drafts, tokens drafted, tokens accepted, and accepted ones by place in the draft."""

    drafts: int
    drafted: int
    accepted: int
    by_position: tuple[int, ...]

    def since(self, before: "Drafted") -> "Drafted":
        """Return what was counted after `before`."""
        positions = zip(self.by_position, before.by_position or [0] * len(self.by_position), strict=True)
        return Drafted(
            self.drafts - before.drafts,
            self.drafted - before.drafted,
            self.accepted - before.accepted,
            tuple(now - then for now, then in positions),
        )


def emitted(arguments: Sequence[str]) -> str:
    """Return the shell text that `specexec plan --emit vllm` prints with `arguments`."""
    command = [sys.executable, "-m", "engine.cli", "plan", "--emit", "vllm", *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        number: int = listener.getsockname()[1]
        return number


@contextmanager
def served(text: str, programs: Path, port: int, log: Path) -> Iterator[float]:
    """Run the shell text until the block ends, then kill all of its processes. Yields the seconds until the
    server was ready. Raises RuntimeError, with the end of `log`, if it never is."""
    settings = {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "VLLM_CPU_KVCACHE_SPACE": "1",
        "VLLM_CPU_OMP_THREADS_BIND": "nobind",
        "HF_HUB_OFFLINE": "1",
    }
    start = time.monotonic()
    with log.open("wb") as output:
        process = subprocess.Popen(
            ["sh", "-eu"],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **settings},
            start_new_session=True,
        )
        assert process.stdin is not None
        try:
            process.stdin.write(text.encode())
            process.stdin.close()
            while not _answers(port):
                if process.poll() is not None or time.monotonic() - start > READY_S:
                    raise RuntimeError(f"vLLM did not start:\n{log.read_text('utf-8', 'replace')[-3000:]}")
                time.sleep(0.5)
            yield time.monotonic() - start
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                process.wait(20)
            _kill(process.pid)
            process.wait()


def _kill(group: int) -> None:
    with suppress(ProcessLookupError):  # all of its processes have ended
        os.killpg(group, signal.SIGKILL)


def _answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5):
            return True
    except (urllib.error.URLError, OSError):
        return False


def counters(port: int) -> Drafted:
    """Return what the server has drafted since its start; zeros if it does not speculate."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as reply:
        return parsed(reply.read().decode())


def parsed(metrics: str) -> Drafted:
    """Return the counters in the text of /metrics, summed over the server's engines."""
    sums: dict[str, int] = {}
    positions: dict[int, int] = {}
    for name, labels, value in COUNTER.findall(metrics):
        if found := re.search(r'position="(\d+)"', labels):
            positions[int(found[1])] = positions.get(int(found[1]), 0) + int(float(value))
        else:
            sums[name] = sums.get(name, 0) + int(float(value))
    names = ("drafts", "draft_tokens", "accepted_tokens")
    return Drafted(
        *(sums.get(name, 0) for name in names), tuple(positions[each] for each in sorted(positions))
    )
