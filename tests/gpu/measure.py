"""All checks and measurements that need a CUDA device, in one command, run in the repository's folder:

    python -m tests.gpu.measure [PART ...] [--out FOLDER] [--minutes N]

Names the day and the machine, then checks (builds the kernels, runs tests/gpu), then measures, each part in a
process of its own, and prints short tables; the complete output of the parts goes to FOLDER. A part that
exceeds the time is stopped and named. --device cpu --tiny tries it where there is no card."""

import argparse
import os
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from engine import machine

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
    "mixture": "mixtures",
    "mixture-mxfp4": "mixtures --shape gpt-oss --rows 1",
}
# What makes a part last seconds on any machine.
TINY = {"shapes": "--shape tiny", "quantization": "--size 512", "mixtures": "--shape tiny --passes 8"}
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
    parser.add_argument("--tiny", action="store_true", help="measure tiny shapes, to try this program itself")
    parsed = parser.parse_args()
    parts = parsed.parts or PARTS
    if unknown := {*parts} - {*PARTS}:
        parser.error(f"unknown part {min(unknown)}")
    parsed.out.mkdir(parents=True, exist_ok=True)
    print(heading(parsed.device), flush=True)
    end = time.monotonic() + 60 * parsed.minutes
    failed, left = list[str](), MOST
    for number, part in enumerate(parts):
        is_done, shown = measure(part, parsed, end, left // (len(parts) - number))
        left -= len(shown)
        failed += [] if is_done else [part]
    print(f"not done: {', '.join(failed)}" if failed else "all done")
    return 1 if failed else 0


def heading(device: str) -> str:
    """Return the day, and what is measured: the card, if there is one, and the processor."""
    here, build = machine.probe(Path.cwd()), machine.installed_torch()
    names = [f"{datetime.now(UTC):%Y-%m-%d}"]
    if device == "cuda":
        cards = build.cards(here.gpus) if build else here.gpus
        names += [f"{card.name}, driver {card.driver}" for card in cards[:1]] or ["no card is found"]
    names += [f"{here.cpu.name}, {here.cpu.usable} threads"]
    return "; ".join([*names, f"torch {build.version}" if build else "no torch"])


def measure(part: str, parsed: argparse.Namespace, end: float, most: int) -> tuple[bool, str]:
    """Run one part; print its duration and the end of its output, at most so many characters. Return whether
    it succeeded, and what of its output was printed."""
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
    shown = output[-most:].strip()
    print(shown, flush=True)
    return status == 0, shown


def command(part: str, parsed: argparse.Namespace) -> list[str]:
    if part == "check":
        return [sys.executable, "-m", "pytest", *CHECK.split()]
    options = [*TIMES[part].split(), "--device", parsed.device]
    if parsed.tiny:
        options += TINY[options[0]].split()
    return [sys.executable, "-c", BENCH, *options]


if __name__ == "__main__":
    sys.exit(main())
