"""python -m engine.runtime: sets the engine up without a window, for administrators and tests.

Prints its progress on stderr and one JSON object on stdout; exit status 1 with {"error"} where it failed.
"""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from engine.errors import BadOption, SpecExecError
from engine.runtime import Archive, Setup, Sources, backends, current, is_packaged


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="specexec-setup", description="Sets the engine up.")
    parser.add_argument("--backend", default="cpu", help="cpu, cuda or rocm")
    parser.add_argument("--archive", type=Path, metavar="FILE", help="a runtime file, or its first part")
    parser.add_argument(
        "--wheels", type=Path, metavar="FOLDER", help="packages as files, instead of a network"
    )
    parser.add_argument("--mirror", default="", metavar="URL", help="an index instead of the public one")
    parser.add_argument("--torch-mirror", default="", metavar="URL", help="an index instead of PyTorch's")
    parser.add_argument("--proxy", default="", metavar="URL")
    return parser.parse_args()


def made(parsed: argparse.Namespace) -> Setup:
    """Raises `BadOption` and `BadArchive`."""
    if not is_packaged():
        raise BadOption("A checkout runs in its own environment.", "Use packaging/dev.py.")
    archive = Archive(parsed.archive) if parsed.archive else None
    name = archive.backend.name if archive else parsed.backend
    if name not in backends():
        raise BadOption(f"There is no backend {name!r} here.", f"Take one of {', '.join(backends())}.")
    wheels = parsed.wheels.absolute() if parsed.wheels else None
    sources = Sources(parsed.mirror, parsed.torch_mirror, parsed.proxy, wheels)
    return Setup(backends()[name], sources, archive)


def main() -> int:
    parsed = parse()
    try:
        setup = made(parsed)
        setup.start()
        while (progress := setup.wait(timeout_s=1)).state == "running":
            gone = f"{progress.done_nbytes >> 20} of {progress.nbytes >> 20} MiB" if progress.nbytes else ""
            print(progress.stage, gone, progress.doing, file=sys.stderr, flush=True)
        if setup.error is not None:
            raise setup.error
    except SpecExecError as error:
        print(json.dumps({"error": error.as_dict()}))
        return 1
    found = current()
    assert found is not None
    print(json.dumps({**asdict(found), "folder": str(found.folder)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
