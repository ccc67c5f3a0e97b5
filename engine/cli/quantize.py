"""`specexec quantize`: make a GPTQ checkpoint from plain weights (requires the extra `gptq`)."""

import argparse
import json
from pathlib import Path

from engine import catalog
from engine.errors import BadOption
from engine.terminal import Commands, add_command, say


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "quantize",
        run,
        "make a GPTQ checkpoint from a folder of safetensors",
        "Requires the extra “gptq” (pip install specexec-desktop[gptq]). The whole model must fit in memory.",
    )
    parser.add_argument(
        "model", metavar="ID|PATH", help="ID of a catalogue model, or a folder of unquantized safetensors"
    )
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="folder to write; must be new or empty")
    parser.add_argument(
        "--bits",
        type=int,
        default=4,
        metavar="N",
        help="bits per weight: 2, 3, 4 or 8 (default: %(default)s)",
    )
    parser.add_argument(
        "--group-size",
        type=int,
        default=64,
        metavar="N",
        help="number of columns that share a scale; -1: all columns (default: %(default)s)",
    )
    parser.add_argument(
        "--act-order",
        action="store_true",
        help="quantize columns with large activations first: more accurate, but slightly slower to unpack",
    )
    parser.add_argument(
        "--calibration",
        type=Path,
        metavar="FILE",
        help="a few pages of text of the kind the model is for, as UTF-8 (default: a built-in page)",
    )


def run(parsed: argparse.Namespace) -> int:
    from engine.checkpoints import open_checkpoint
    from engine.conversion.quantizer import quantize

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
        say(json.dumps({"folder": str(parsed.folder), "bytes": nbytes}))
    else:
        say(f"{parsed.folder}: {nbytes / 2**30:.2f} GiB")
    return 0
