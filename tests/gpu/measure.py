"""All checks and measurements that need a CUDA device, in one command, run in the repository's folder:

    python -m tests.gpu.measure [PART ...] [--out FOLDER] [--minutes N]

Checks first (builds the kernels, runs tests/gpu), then measures, each part in a process of its own, and
prints short tables; the complete output of the parts goes to FOLDER. A part that exceeds the time is stopped
and named."""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

MOST = 11_000  # characters printed of all parts together

# Arguments of pytest, without this project's settings, whose plug-ins may be missing on the machine.
CHECK = f"-c {os.devnull} --rootdir . -q --maxfail=9 -p no:cacheprovider --tb=short tests/gpu"
# Arguments of `specexec bench`.
TIMES = {
    "same": "shapes --parts same",
    "round": "shapes --parts round",
    "quantization": "quantization --formats Q4_K,GPTQ --size 8192",
    "passes": "shapes --parts passes,iteration --repeats 3",
    "plain": "shapes --parts plain --repeats 3",
}
PARTS = ("check", *TIMES)

# `specexec bench` for a checkout that is not installed, and so has no version.
BENCH = """
import argparse, sys
from engine.cli import bench
parser = argparse.ArgumentParser()
bench.add(parser.add_subparsers())
parsed = parser.parse_args(["bench", *sys.argv[1:]])
sys.exit(parsed.run(parsed))
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"some of {', '.join(PARTS)} (default: all)")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("measured"),
        metavar="FOLDER",
        help="folder for the output (default: measured)",
    )
    parser.add_argument(
        "--minutes", type=float, default=9.5, metavar="N", help="time for all parts together (default: 9.5)"
    )
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--shape", default="70b", help="shape, as of specexec bench shapes (default: 70b)")
    parsed = parser.parse_args()
    parts = parsed.parts or PARTS
    if unknown := {*parts} - {*PARTS}:
        parser.error(f"unknown part {min(unknown)}")
    parsed.out.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + 60 * parsed.minutes
    failed = [part for part in parts if not measure(part, parsed, end, MOST // len(parts))]
    print(f"not done: {', '.join(failed)}" if failed else "all done")
    return 1 if failed else 0


def measure(part: str, parsed: argparse.Namespace, end: float, most: int) -> bool:
    """Run one part; print its duration and the end of its output. Return whether it succeeded."""
    begin = time.monotonic()
    tables, log = (parsed.out / f"{part}.{kind}" for kind in ("txt", "log"))
    with tables.open("w") as out, log.open("w") as errors:
        try:
            status: int | None = subprocess.run(
                command(part, parsed), stdout=out, stderr=errors, timeout=max(1.0, end - begin)
            ).returncode
        except subprocess.TimeoutExpired:
            status = None
    outcome = "done" if status == 0 else "out of time" if status is None else f"failed with {status}"
    print(f"== {part}: {outcome}, {time.monotonic() - begin:.0f} s")
    output = tables.read_text(errors="replace")
    if status != 0:
        output += log.read_text(errors="replace")
    print(output[-most:].strip(), flush=True)
    return status == 0


def command(part: str, parsed: argparse.Namespace) -> list[str]:
    if part == "check":
        return [sys.executable, "-m", "pytest", *CHECK.split()]
    options = [*TIMES[part].split(), "--device", parsed.device]
    if options[0] == "shapes":
        options += ["--shape", parsed.shape]
    return [sys.executable, "-c", BENCH, *options]


if __name__ == "__main__":
    sys.exit(main())
