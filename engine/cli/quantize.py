"""`specexec quantize`: a GPTQ checkpoint from plain weights (needs the extra `gptq`)."""

import argparse
import json
from pathlib import Path

from engine import catalog
from engine.cli.common import Commands
from engine.errors import BadOption


def add(commands: Commands) -> None:
    quantize = commands.add_parser(
        "quantize", help="make a GPTQ checkpoint from a folder of safetensors", allow_abbrev=False
    )
    quantize.set_defaults(run=run)
    quantize.add_argument("model", metavar="ID|PATH")
    quantize.add_argument("folder", metavar="FOLDER", type=Path, help="a new folder")
    quantize.add_argument("--bits", type=int, default=4, metavar="N", help="2, 3, 4 or 8")
    quantize.add_argument(
        "--group-size", type=int, default=64, metavar="N", help="columns that share a scale; -1: all"
    )
    quantize.add_argument("--act-order", action="store_true", help="columns with large activations first")
    quantize.add_argument(
        "--calibration", type=Path, metavar="FILE", help="some pages of text of the kind the model is for"
    )
    quantize.add_argument("--json", action="store_true", help="print one JSON object")


def run(parsed: argparse.Namespace) -> int:
    from engine.checkpoints import open_checkpoint
    from engine.quantizing import quantize

    texts = []
    if parsed.calibration:
        try:
            texts = [parsed.calibration.read_text(encoding="utf-8")]
        except (OSError, UnicodeDecodeError) as error:
            raise BadOption(f"{parsed.calibration} cannot be read as text.", "Name a UTF-8 file.") from error
    checkpoint = open_checkpoint(catalog.resolve(parsed.model))
    quantize(checkpoint, parsed.folder, parsed.bits, parsed.group_size, parsed.act_order, texts)
    nbytes = sum(file.stat().st_size for file in parsed.folder.iterdir())
    if parsed.json:
        print(json.dumps({"folder": str(parsed.folder), "bytes": nbytes}))
    else:
        print(f"{parsed.folder}: {nbytes / 2**30:.2f} GiB")
    return 0
