"""`specexec bench passes`."""

import argparse
import json
from pathlib import Path

import msgspec

from engine.cli.bench.options import numbers, say
from engine.cli.common import Commands, add_model_options, cancelled_by_ctrl_c, load_request
from engine.errors import BadOption

ROWS = ",".join(str(2**n) for n in range(11))


def add(kinds: Commands) -> None:
    passes = kinds.add_parser(
        "passes", help="seconds of one pass of target and draft against its rows", allow_abbrev=False
    )
    passes.set_defaults(run=run)
    add_model_options(passes)
    passes.add_argument("--rows", metavar="N,…", default=ROWS, help=f"default: {ROWS}")
    passes.add_argument("--repeats", type=int, metavar="N", default=5)
    passes.add_argument("--json", action="store_true", help="print one JSON object")
    passes.add_argument("--plot", type=Path, metavar="FILE.png|svg", help="seconds against rows")


def run(parsed: argparse.Namespace) -> int:
    from engine.bench.passes import curves, measure, table
    from engine.bench.plots import check, draw
    from engine.service import Engine

    rows = sorted(numbers("rows", parsed.rows, int))
    if rows[0] < 1 or parsed.repeats < 1:
        raise BadOption("--rows and --repeats begin at 1.", "Leave them out for the usual ones.")
    if parsed.plot:
        check(parsed.plot)
    engine = Engine()
    with cancelled_by_ctrl_c() as cancelled:
        loaded = engine.load(load_request(parsed), lambda event: None, cancelled)
        assert engine.session is not None
        pair = engine.session.pair
        try:
            models = {loaded.target.name: pair.target.model}
            if loaded.draft and pair.draft:
                models[loaded.draft.name] = pair.draft.model
            times = measure(models, rows, parsed.repeats, say)
        finally:
            engine.unload()
    if parsed.json:
        print(json.dumps({"passes": msgspec.to_builtins(times)}))
    else:
        print("\n".join(table(times)))
    if parsed.plot:
        draw(parsed.plot, curves(times), x="rows of the pass", y="seconds", doubling=True)
    return 0
