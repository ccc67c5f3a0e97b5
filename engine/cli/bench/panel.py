"""`specexec bench panel`."""

import argparse

from engine.cli.bench.options import say
from engine.cli.common import Commands, add_model_options, cancelled_by_ctrl_c, load_request, validated
from engine.errors import BadOption


def add(kinds: Commands) -> None:
    panel = kinds.add_parser(
        "panel", help="what watching an answer costs, and how long a frame takes", allow_abbrev=False
    )
    panel.set_defaults(run=run)
    add_model_options(panel)
    panel.add_argument("--drafter", metavar="NAME", default="auto")
    panel.add_argument("--budget", type=int, metavar="N", default=1024, help="most nodes of a tree")
    panel.add_argument("--tokens", type=int, metavar="N", default=48, help="most of each answer")
    panel.add_argument("--repeats", type=int, metavar="N", default=4, help="pairs of answers")
    panel.add_argument(
        "--nodes", type=int, metavar="N", default=2048, help="of the trees whose frames are timed"
    )
    panel.add_argument("--json", action="store_true", help="print one JSON object")


def run(parsed: argparse.Namespace) -> int:
    from engine import protocol, trace
    from engine.bench.panel import as_json, frames_of, lines, measure
    from engine.service import Engine

    if min(parsed.tokens, parsed.repeats, parsed.nodes) < 1:
        raise BadOption("--tokens, --repeats and --nodes begin at 1.", "Leave them out for the usual ones.")
    asked = {"drafter": parsed.drafter, "budget": parsed.budget, "seed": 0}
    options = validated(protocol.Options, asked)
    engine = Engine()
    with cancelled_by_ctrl_c() as cancelled:
        loaded = engine.load(load_request(parsed), lambda event: None, cancelled)
        header = trace.header(loaded, options, "")
        try:
            cost = measure(engine, header, parsed.tokens, parsed.repeats, say, cancelled)
        finally:
            engine.unload()
        large = frames_of(header, parsed.nodes)
    print(as_json(cost, large, parsed.nodes) if parsed.json else "\n".join(lines(cost, large, parsed.nodes)))
    return 0
