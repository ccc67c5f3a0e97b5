"""What the commands share: failing, checking options, progress on a terminal, Ctrl-C."""

import argparse
import contextlib
import json
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import msgspec

from engine import machine, protocol
from engine.errors import BadOption, SpecExecError
from engine.machine import Machine

T = TypeVar("T")
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def fail(error: SpecExecError, as_json: bool, **more: Any) -> int:
    if as_json:
        print(json.dumps({**more, "error": error.as_dict()}, ensure_ascii=False))
    print(f"{error.message} {error.hint}".strip(), file=sys.stderr)
    return 1


def validated(kind: type[T], values: dict[str, Any]) -> T:
    """`values` as a protocol message. Raises BadOption that names what is out of range."""
    try:
        return msgspec.convert(values, kind)
    except msgspec.ValidationError as error:
        name = str(error).rpartition("$.")[2].rstrip("`").replace("_", "-")
        reason = str(error).partition(" - ")[0].removeprefix("Expected ").replace("`", "")
        raise BadOption(
            f"--{name} is out of range: expected {reason}.", "See specexec chat --help."
        ) from None


def add_model_options(parser: argparse.ArgumentParser) -> None:
    """What `load_request` makes a Load of."""
    models = parser.add_argument_group("models")
    models.add_argument("--target", metavar="ID|PATH", help="default: the embedded model")
    models.add_argument("--draft", metavar="ID|PATH|none", default="auto")
    models.add_argument("--dtype", choices=["auto", "float32", "bfloat16", "float16"], default="auto")
    models.add_argument("--device", choices=["auto", "cuda", "cpu"], default="auto")
    models.add_argument(
        "--weights",
        choices=["auto", "packed", "unpacked"],
        default="auto",
        help="keep them in memory as stored, or unpacked (faster); auto: unpacked where there is room",
    )
    models.add_argument(
        "--vram-limit",
        type=float,
        metavar="GiB",
        help="what the target's weights may take on the graphics card",
    )
    models.add_argument(
        "--ram-limit", type=float, metavar="GiB", help="and in RAM; the rest is streamed from the files"
    )
    models.add_argument("--context", type=int, metavar="N", help="most tokens of prompt and answer together")


def load_request(parsed: argparse.Namespace) -> protocol.Load:
    """Raises BadOption."""
    chosen = vars(parsed)
    fields = {name: chosen[name] for name in protocol.Load.__struct_fields__ if name in chosen}
    return validated(protocol.Load, {"type": "Load", "id": 0, **fields})


@contextlib.contextmanager
def progress_line(what: str) -> Iterator[Callable[[int, int], None]]:
    """One line on a terminal, rewritten in place and gone at the end; nothing elsewhere. The function takes
    (done, total)."""

    def show(done: int, total: int) -> None:
        if sys.stderr.isatty():
            share = f" {100 * done // total} %" if total else ""
            print(f"\r\x1b[K{what}{share}", end="", file=sys.stderr, flush=True)

    try:
        yield show
    finally:
        if sys.stderr.isatty():
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def add_disk_options(parser: "argparse._ActionsContainer") -> None:
    """What `with_disk_measured` is told."""
    parser.add_argument("--models", type=Path, metavar="PATH", help="the folder of the models")
    parser.add_argument(
        "--measure",
        action=argparse.BooleanOptionalAction,
        help="measure how fast the models' disk reads (2 to 3 s); default: where that was not done this week",
    )


def with_disk_measured(here: Machine, folder: Path, measure: bool | None) -> Machine:
    """`here` with how fast the disk of `folder` reads. measure: None where that is wanted once a week. Raises
    DiskProblem, StreamBroken."""
    speed = here.disk.speed
    if measure is None:
        measure = speed is None or not machine.is_fresh(speed.measured)
    if not measure:
        return here
    from engine.streaming import DiskFile

    with progress_line("measuring the disk …") as show:
        show(0, 0)
        speed = machine.measure_disk(folder, DiskFile)
    machine.remember_disk(here.disk.mount_point, speed)
    return replace(here, disk=replace(here.disk, speed=speed))


@contextlib.contextmanager
def cancelled_by_ctrl_c() -> Iterator[Callable[[], bool]]:
    """The first Ctrl-C asks for an end in good order (the function then says True), a second one insists."""
    asked = False

    def ask(signum: int, frame: object) -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True

    previous = signal.signal(signal.SIGINT, ask)
    try:
        yield lambda: asked
    finally:
        signal.signal(signal.SIGINT, previous)
