"""`specexec bench parting`."""

import argparse
import json
from pathlib import Path

import msgspec

from engine.cli.bench.options import add_prompt_options, prompts_of, say
from engine.cli.common import Commands, add_model_options, cancelled_by_ctrl_c, load_request

DESCRIPTION = """\
How soon greedy answers part that are computed in float32 and in bfloat16, and by plain decoding and by trees:
the share of prompts whose answers are still equal after so many tokens."""


def add(kinds: Commands) -> None:
    parting = kinds.add_parser(
        "parting",
        help="how soon the outputs of bfloat16 and float32 part",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parting.set_defaults(run=run)
    add_model_options(parting)
    add_prompt_options(parting)
    parting.add_argument("--drafter", metavar="NAME", default="auto", help="beside plain decoding")
    parting.add_argument("--json", action="store_true", help="print one JSON object")
    parting.add_argument("--plot", type=Path, metavar="FILE.png|svg", help="share against tokens")


def run(parsed: argparse.Namespace) -> int:
    from engine.bench.parting import curves, measure, table
    from engine.bench.plots import check, draw

    prompts = prompts_of(parsed)
    if parsed.plot:
        check(parsed.plot)
    with cancelled_by_ctrl_c() as cancelled:
        found = measure(load_request(parsed), parsed.drafter, prompts, parsed.tokens, say, cancelled)
    if parsed.json:
        print(json.dumps({"partings": msgspec.to_builtins(found)}))
    else:
        print("\n".join(table(found)))
    if parsed.plot:
        draw(parsed.plot, curves(found), x="tokens", y="share of answers still equal", doubling=True)
    return 0
