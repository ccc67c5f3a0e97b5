"""`specexec setup`: install torch for this machine, where the program was installed without it."""

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import BadOption, Interrupted
from engine.launch import interpreter
from engine.terminal import Commands, add_command, cancelled_by_ctrl_c, say

if TYPE_CHECKING:
    from engine.runtime import Setup


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "setup",
        run,
        "install PyTorch for this machine, as the window's settings do",
        "Graphics cards and some models need PyTorch, which installed programs leave out at first. It is "
        "tested with a model before it is used; what was in use until then stays if anything fails.",
    )
    parser.add_argument(
        "--backend", metavar="NAME", help="cpu, cuda or rocm (default: the one that fits this machine)"
    )
    parser.add_argument(
        "--archive",
        type=Path,
        metavar="FILE",
        help="runtime file, or its first part (default: none, packages are downloaded)",
    )
    parser.add_argument(
        "--wheels",
        type=Path,
        metavar="FOLDER",
        help="install from the wheels in FOLDER, without a network (default: none)",
    )
    parser.add_argument("--mirror", default="", metavar="URL", help="package index to use (default: PyPI)")
    parser.add_argument(
        "--torch-mirror",
        default="",
        metavar="URL",
        help="package index of PyTorch's builds to use (default: PyTorch's)",
    )
    parser.add_argument("--proxy", default="", metavar="URL", help="proxy to use (default: the system's)")


def run(parsed: argparse.Namespace) -> int:
    """Raises `BadOption` for an unknown backend, and where torch comes with the environment; the errors of
    `engine.runtime`."""
    setup = _requested(parsed)
    setup.start()
    shown = ""
    with cancelled_by_ctrl_c() as is_cancelled:
        while (progress := setup.wait(timeout_s=1)).state == "running":
            size = f" {progress.done_nbytes >> 20} of {progress.nbytes >> 20} MiB" if progress.nbytes else ""
            if (now := f"{progress.stage}{size}  {progress.doing}".rstrip()) != shown:
                say(shown := now, to_stderr=True)
            if is_cancelled():
                setup.cancel()
    if progress.state == "cancelled":
        raise Interrupted("The set-up was cancelled.", "Start it again with the same command.")
    if setup.error is not None:
        raise setup.error
    made = interpreter.current()
    assert made is not None
    if parsed.json:
        say(json.dumps({**asdict(made), "folder": str(made.folder)}))
    else:
        say(f"PyTorch is set up for {made.backend}, in {made.folder}.")
    return 0


def _requested(parsed: argparse.Namespace) -> "Setup":
    from engine import machine, runtime

    if not interpreter.uses_runtimes():
        raise BadOption(
            "PyTorch comes with this Python environment.",
            "There is nothing to set up: pip or packaging/dev.py did.",
        )
    archive = runtime.Archive(parsed.archive) if parsed.archive else None
    found = runtime.backends()
    if archive:
        name = archive.backend.name
    else:
        name = parsed.backend or runtime.propose(machine.probe(Path.cwd()))[0].backend.name
    if name not in found:
        raise BadOption(f"Unknown backend {name!r}.", f"Choose one of: {', '.join(found)}.")
    wheels = parsed.wheels.absolute() if parsed.wheels else None
    sources = runtime.Sources(parsed.mirror, parsed.torch_mirror, parsed.proxy, wheels)
    return runtime.Setup(found[name], sources, archive)
