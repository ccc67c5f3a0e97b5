"""What only a CUDA device can show, in one command, run in the repository's folder:

    python -m tests.gpu.measure [PART ...] [--out FOLDER] [--minutes N]

Checks (builds the kernels, runs tests/gpu), then times, each part in a process of its own, and prints short
tables; what the parts print goes to FOLDER. A part that the minutes do not suffice for is ended and named.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

MOST = 11_000  # characters printed of all parts

# Arguments of pytest, without this project's settings: they need plug-ins that a lent machine may not have.
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

# `specexec bench`, also where the package is not installed, and so has no version to tell.
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
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; default: all")
    parser.add_argument("--out", type=Path, default=Path("measured"), metavar="FOLDER")
    parser.add_argument("--minutes", type=float, default=9.5, metavar="N", help="for all parts together")
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--shape", default="70b", help="as of `specexec bench shapes`")
    parsed = parser.parse_args()
    parts = parsed.parts or PARTS
    if unknown := {*parts} - {*PARTS}:
        parser.error(f"there is no part {min(unknown)}")
    parsed.out.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + 60 * parsed.minutes
    failed = [part for part in parts if not measure(part, parsed, end, MOST // len(parts))]
    print(f"not done: {', '.join(failed)}" if failed else "all done")
    return 1 if failed else 0


def measure(part: str, parsed: argparse.Namespace, end: float, most: int) -> bool:
    """Run one part; print how long it took and the end of what it printed. Whether it succeeded."""
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
    said = tables.read_text(errors="replace")
    if status != 0:
        said += log.read_text(errors="replace")
    print(said[-most:].strip(), flush=True)
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
