"""`specexec bench coverage`."""

import argparse
import json
from pathlib import Path

import msgspec

from engine.cli.bench.options import (
    add_prompt_options,
    add_sampling_options,
    checked_options,
    prompts_of,
    say,
)
from engine.cli.common import Commands, add_model_options, cancelled_by_ctrl_c, load_request
from engine.errors import BadOption

DESCRIPTION = """\
How much of the target's probability the draft's best 1, 2, 4, … tokens hold, on average over tokens of the
target's own answers. Temperature 1 by default: the target's own distribution."""


def add(kinds: Commands) -> None:
    coverage = kinds.add_parser(
        "coverage",
        help="how much of the target's probability the draft's top-k holds",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    coverage.set_defaults(run=run)
    add_model_options(coverage)
    add_prompt_options(coverage)
    add_sampling_options(coverage)
    coverage.add_argument("--temperature", type=float, metavar="T", default=1.0)
    coverage.add_argument("--json", action="store_true", help="print one JSON object")
    coverage.add_argument("--plot", type=Path, metavar="FILE.png|svg", help="probability against k")


def run(parsed: argparse.Namespace) -> int:
    from engine import protocol
    from engine.bench.coverage import curves, measure, table
    from engine.bench.plots import check, draw
    from engine.service import Engine
    from engine.writing import sampler_of

    prompts = prompts_of(parsed)
    options = checked_options(parsed, temperature=parsed.temperature, max_new_tokens=parsed.tokens)
    if parsed.plot:
        check(parsed.plot)
    engine, texts = Engine(), []
    with cancelled_by_ctrl_c() as cancelled:
        engine.load(load_request(parsed), lambda event: None, cancelled)
        assert engine.session is not None
        pair = engine.session.pair
        try:
            if pair.draft is None:
                raise BadOption("There is no draft to compare with.", "Name one with --draft.")
            for prompt in prompts:
                say(f"{prompt.key}, answer")
                message = protocol.Message("user", prompt.text)
                answer = engine.session.answer([message], options, lambda event: None, cancelled)
                read = pair.tokenizer.encode_chat([{"role": "user", "content": prompt.text}])
                texts.append((read, answer.token_ids))
            sampler = sampler_of(options, parsed.seed)
            found = measure(pair.target.model, pair.draft.model, texts, sampler, say)
        finally:
            engine.unload()
    if parsed.json:
        print(json.dumps({"coverage": msgspec.to_builtins(found)}))
    else:
        print("\n".join(table(found)))
    if parsed.plot:
        draw(parsed.plot, curves(found), x="k", y="probability held, 95 % interval", doubling=True)
    return 0
