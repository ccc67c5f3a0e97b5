"""The options of `specexec plan` and `specexec doctor` that concern the models' disk."""

import argparse
from dataclasses import replace
from pathlib import Path

from engine import machine
from engine.machine import Machine
from engine.terminal import add_folder_option, progress_line


def add_disk_options(parser: "argparse._ActionsContainer") -> None:
    """Add --models and --measure, whose values `with_disk_measured` takes."""
    add_folder_option(parser)
    parser.add_argument(
        "--measure",
        action=argparse.BooleanOptionalAction,
        help="measure the read speed of the models' disk, which takes 2 to 3 s (default: only if the last "
        "measurement is older than a week)",
    )


def with_disk_measured(here: Machine, folder: Path, measure: bool | None) -> Machine:
    """Return `here` with the read speed of the disk that holds `folder`.

    measure: whether to measure it now; None: only if the last measurement is missing or older than a week.
    Raises DiskProblem or StreamBroken if the measurement fails.
    """
    speed = here.disk.speed
    if measure is None:
        measure = speed is None or not machine.is_fresh(speed.measured)
    if not measure:
        return here
    from engine.streaming import DiskFile

    with progress_line("Measuring the disk …") as show:
        show(0, 0)
        speed = machine.measure_disk(folder, DiskFile)
    machine.remember_disk(here.disk.mount_point, speed)
    return replace(here, disk=replace(here.disk, speed=speed))
