"""`specexec export`: a model of any format as plain safetensors."""

import argparse
import json
from pathlib import Path

from engine import catalog
from engine.cli.common import Commands, cancelled_by_ctrl_c, progress_line
from engine.errors import Interrupted


def add(commands: Commands) -> None:
    export = commands.add_parser(
        "export", help="write a model as safetensors, for any program to read", allow_abbrev=False
    )
    export.set_defaults(run=run)
    export.add_argument("model", metavar="ID|PATH")
    export.add_argument("folder", metavar="FOLDER", type=Path, help="a new folder")
    export.add_argument("--dtype", choices=["bfloat16", "float16", "float32"], default="bfloat16")
    export.add_argument("--json", action="store_true", help="print one JSON object")


def run(parsed: argparse.Namespace) -> int:
    import torch

    from engine.checkpoints import open_checkpoint
    from engine.exporting import export

    with cancelled_by_ctrl_c() as cancelled, progress_line("Writing") as show:

        def watch(done: int, total: int) -> None:
            if cancelled():
                raise Interrupted("The export was ended.", "Nothing was written.")
            show(done, total)

        checkpoint = open_checkpoint(catalog.resolve(parsed.model))
        export(checkpoint, parsed.folder, getattr(torch, parsed.dtype), watch)
    nbytes = sum(file.stat().st_size for file in parsed.folder.iterdir())
    if parsed.json:
        print(json.dumps({"folder": str(parsed.folder), "bytes": nbytes}))
    else:
        print(f"{parsed.folder}: {nbytes / 2**30:.2f} GiB")
    return 0
