"""`specexec bench streaming`."""

import argparse
import json
import sys
from dataclasses import asdict

from engine.cli.common import Commands, add_model_options, load_request
from engine.errors import BadOption


def add(kinds: Commands) -> None:
    streaming = kinds.add_parser(
        "streaming", help="how near a streamed target comes to what the link allows", allow_abbrev=False
    )
    streaming.set_defaults(run=run)
    add_model_options(streaming)
    streaming.add_argument(
        "--rows", metavar="N,…", default="1,64,256", help="of a pass, and budgets of trees"
    )
    streaming.add_argument("--tokens", type=int, metavar="N", default=64, help="of each answer")
    streaming.add_argument("--repeats", type=int, metavar="N", default=5)
    streaming.add_argument("--json", action="store_true", help="print one JSON object")


def run(parsed: argparse.Namespace) -> int:
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
