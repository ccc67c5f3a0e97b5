"""`specexec bench`: measurements, each with a spread."""

import argparse
import json
import sys
from dataclasses import asdict

from engine.cli.common import Commands, add_model_options, load_request
from engine.errors import BadOption


def add(commands: Commands) -> None:
    bench = commands.add_parser("bench", help="measure parts of the engine on this machine")
    kinds = bench.add_subparsers(dest="kind", metavar="KIND", required=True)
    quantization = kinds.add_parser(
        "quantization", help="unpacking and multiplying packed weights", allow_abbrev=False
    )
    quantization.set_defaults(run=run_quantization)
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
    streaming = kinds.add_parser(
        "streaming", help="how near a streamed target comes to what the link allows", allow_abbrev=False
    )
    streaming.set_defaults(run=run_streaming)
    add_model_options(streaming)
    streaming.add_argument(
        "--rows", metavar="N,…", default="1,64,256", help="of a pass, and budgets of trees"
    )
    streaming.add_argument("--tokens", type=int, metavar="N", default=64, help="of each answer")
    streaming.add_argument("--repeats", type=int, metavar="N", default=5)
    streaming.add_argument("--json", action="store_true", help="print one JSON object")


def run_quantization(parsed: argparse.Namespace) -> int:
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


def run_streaming(parsed: argparse.Namespace) -> int:
    from engine.bench.streaming import measure, table

    try:
        rows = sorted({int(number) for number in parsed.rows.split(",")})
    except ValueError:
        raise BadOption("--rows is no list of numbers.", "Give 1,64,256, for example.") from None
    if rows[0] < 1 or min(parsed.tokens, parsed.repeats) < 1:
        raise BadOption("--rows, --tokens and --repeats begin at 1.", "Leave them out for the usual ones.")
    report = measure(
        load_request(parsed), rows, parsed.tokens, parsed.repeats, lambda what: print(what, file=sys.stderr)
    )
    if parsed.json:
        print(json.dumps(asdict(report)))
    else:
        print("\n".join(table(report)))
    return 0
