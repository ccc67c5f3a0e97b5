"""`specexec bench quantization`."""

import argparse
import json
from dataclasses import asdict

from engine.cli.common import Commands
from engine.errors import BadOption


def add(kinds: Commands) -> None:
    quantization = kinds.add_parser(
        "quantization", help="unpacking and multiplying packed weights", allow_abbrev=False
    )
    quantization.set_defaults(run=run)
    quantization.add_argument("--formats", metavar="NAME,…", help="default: all")
    quantization.add_argument("--device", choices=["auto", "cuda", "cpu"], default="auto")
    quantization.add_argument(
        "--dtype", choices=["auto", "float32", "bfloat16", "float16"], default="auto", help="unpacked to"
    )
    quantization.add_argument(
        "--size",
        type=int,
        default=4096,
        metavar="N",
        help="rows and columns of the matrix, a multiple of 256",
    )
    quantization.add_argument("--json", action="store_true", help="print one JSON object")


def run(parsed: argparse.Namespace) -> int:
    from engine.bench.quantization import PACKED, measure, table
    from engine.loading import choose_device, choose_dtype

    formats = parsed.formats.split(",") if parsed.formats else PACKED
    if unknown := set(formats) - set(PACKED):
        raise BadOption(f"There is no format {min(unknown)}.", f"There are: {', '.join(PACKED)}.")
    if parsed.size < 256 or parsed.size % 256:
        raise BadOption("--size is no multiple of 256.", "Take 4096, for example.")
    device = choose_device(parsed.device)
    dtype = choose_dtype(parsed.dtype, device)
    speeds = measure(formats, device, dtype, (parsed.size, parsed.size))
    if parsed.json:
        print(json.dumps({"speeds": [asdict(speed) for speed in speeds]}))
    else:
        for line in table(speeds):
            print(line, flush=True)
    return 0
