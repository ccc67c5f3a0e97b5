"""`specexec export`: write a model of any format as plain safetensors."""

import argparse
import json
from pathlib import Path

from engine import catalog
from engine.errors import Interrupted
from engine.terminal import Commands, add_command, cancelled_by_ctrl_c, progress_line, say


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "export",
        run,
        "write a model as safetensors, for any program to read",
        "Packed weights are unpacked, so that a quantized model becomes several times as large.",
    )
    parser.add_argument(
        "model", metavar="ID|PATH", help="ID of a catalogue model, a GGUF file, or a folder of safetensors"
    )
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="folder to write; must be new or empty")
    parser.add_argument(
        "--dtype",
        choices=["bfloat16", "float16", "float32"],
        default="bfloat16",
        help="number type of the weights (default: %(default)s)",
    )


def run(parsed: argparse.Namespace) -> int:
    import torch

    from engine.checkpoints import open_checkpoint
    from engine.conversion.export import export

    with cancelled_by_ctrl_c() as cancelled, progress_line("Writing") as show:

        def progress(done: int, total: int) -> None:
            if cancelled():
                raise Interrupted("The export was interrupted.", "Nothing was written.")
            show(done, total)

        checkpoint = open_checkpoint(catalog.resolve(parsed.model))
        export(checkpoint, parsed.folder, getattr(torch, parsed.dtype), progress)
    nbytes = sum(file.stat().st_size for file in parsed.folder.iterdir())
    if parsed.json:
        say(json.dumps({"folder": str(parsed.folder), "bytes": nbytes}))
    else:
        say(f"{parsed.folder}: {nbytes / 2**30:.2f} GiB")
    return 0
