"""Set up the engine without a window, for administrators and tests: python -m engine.runtime.

Prints progress to stderr and one JSON object to stdout. If the set-up fails, the object is {"error": ...} and
the exit status is 1.
"""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from engine.errors import BadOption, SpecExecError
from engine.runtime import Archive, Setup, Sources, backends, current, is_packaged


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="specexec-setup", description="Set up the engine.")
    parser.add_argument("--backend", default="cpu", help="cpu, cuda or rocm")
    parser.add_argument("--archive", type=Path, metavar="FILE", help="runtime file, or its first part")
    parser.add_argument(
        "--wheels", type=Path, metavar="FOLDER", help="install from the wheels in FOLDER, without a network"
    )
    parser.add_argument("--mirror", default="", metavar="URL", help="package index to use instead of PyPI")
    parser.add_argument(
        "--torch-mirror", default="", metavar="URL", help="package index to use instead of PyTorch's"
    )
    parser.add_argument("--proxy", default="", metavar="URL")
    return parser.parse_args()


def requested_setup(parsed: argparse.Namespace) -> Setup:
    """Return the set-up that the options describe.

    Raises `BadOption` in a source checkout or for an unknown backend; `BadArchive` for an unusable runtime
    file.
    """
    if not is_packaged():
        raise BadOption("A source checkout uses its own environment.", "Run packaging/dev.py instead.")
    archive = Archive(parsed.archive) if parsed.archive else None
    name = archive.backend.name if archive else parsed.backend
    if name not in backends():
        raise BadOption(f"Unknown backend {name!r}.", f"Choose one of: {', '.join(backends())}.")
    wheels = parsed.wheels.absolute() if parsed.wheels else None
    sources = Sources(parsed.mirror, parsed.torch_mirror, parsed.proxy, wheels)
    return Setup(backends()[name], sources, archive)


def main() -> int:
    parsed = parse()
    try:
        setup = requested_setup(parsed)
        setup.start()
        while (progress := setup.wait(timeout_s=1)).state == "running":
            size = f"{progress.done_nbytes >> 20} of {progress.nbytes >> 20} MiB" if progress.nbytes else ""
            print(progress.stage, size, progress.doing, file=sys.stderr, flush=True)
        if setup.error is not None:
            raise setup.error
    except SpecExecError as error:
        print(json.dumps({"error": error.as_dict()}))
        return 1
    runtime = current()
    assert runtime is not None
    print(json.dumps({**asdict(runtime), "folder": str(runtime.folder)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
