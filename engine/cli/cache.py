"""`specexec cache`: what is kept of earlier prompts."""

import argparse
import json

from engine.prompt_cache.files import default_folder
from engine.remote import kept_prompts
from engine.terminal import Commands, add_action, add_command, say


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "cache",
        run,
        "show or clear what is kept of earlier prompts",
        "What models have computed of conversations is kept in RAM and, with --prompt-cache-disk, on the "
        "disk, so that it is not computed anew. It contains what was written. Without an action, says how "
        "much is on the disk.",
    )
    parser.set_defaults(act=_show)
    actions = parser.add_subparsers(metavar="ACTION", title="actions")
    add_action(actions, "clear", _clear, "delete all of it, on the disk and in the engine that runs")


def run(parsed: argparse.Namespace) -> int:
    status: int = parsed.act(parsed)
    return status


def _show(parsed: argparse.Namespace) -> int:
    folder, disk = default_folder(), kept_prompts.nbytes_on_disk()
    if parsed.json:
        say(json.dumps({"folder": str(folder), "disk": disk}, ensure_ascii=False))
    else:
        say(f"{_mib(disk)} on the disk, in {folder}")
    return 0


def _clear(parsed: argparse.Namespace) -> int:
    freed = kept_prompts.clear()
    if parsed.json:
        say(json.dumps({"ram": freed.ram, "disk": freed.disk}))
    else:
        say(f"Freed {_mib(freed.ram)} of RAM and {_mib(freed.disk)} on the disk.")
    return 0


def _mib(nbytes: int) -> str:
    return f"{nbytes / 2**20:.1f} MiB"
