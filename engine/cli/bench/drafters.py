"""`specexec bench drafters`."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from engine.cli.bench.options import (
    add_prompt_options,
    add_sampling_options,
    checked_options,
    listed,
    numbers,
    prompts_of,
    say,
)
from engine.cli.chat import number_or_auto
from engine.cli.common import Commands, add_model_options, cancelled_by_ctrl_c, load_request
from engine.errors import BadOption

if TYPE_CHECKING:
    from engine.bench.settings import Sampling

DESCRIPTION = """\
Drafters side by side on the same prompts: tokens per pass and tokens/s, each with a 95 % interval (bootstrap
over prompts) and beside one drafter's on the same prompts; seconds of an iteration by phase; the share of
proposed nodes that was accepted.

--replay: the target's answers are recorded once, by the default drafter, and drafters that hear nothing else
of the target than the tokens it commits are then measured without it, with the same trees as with it. They
have no tokens/s. A budget of auto depends on times, and is never replayed."""


def add(kinds: Commands) -> None:
    drafters = kinds.add_parser(
        "drafters",
        help="drafters side by side on the same prompts",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    drafters.set_defaults(run=run)
    add_model_options(drafters)
    grid = drafters.add_argument_group("what is compared")
    grid.add_argument("--drafters", metavar="NAME,…", default="none,auto")
    grid.add_argument("--budget", metavar="N|auto,…", default="auto", help="most nodes in a tree")
    grid.add_argument("--temperature", metavar="T,…", default="0")
    grid.add_argument("--penalise-letter", metavar="LETTER", default="", help="in every token that has it")
    grid.add_argument("--penalty", metavar="B,…", default="0,5", help="subtracted from these tokens' logits")
    grid.add_argument("--against", metavar="NAME", help="compare with this one; default: the first drafter")
    add_prompt_options(drafters)
    add_sampling_options(drafters)
    how = drafters.add_argument_group("how often, and where to")
    how.add_argument("--repeats", type=int, metavar="N", default=1, help="of each answer, with other seeds")
    how.add_argument("--replay", type=Path, metavar="FILE", help="replay answers recorded in this file")
    how.add_argument(
        "--json-lines", type=Path, metavar="FILE", help="one answer a line; a second start goes on from there"
    )
    how.add_argument("--json", action="store_true", help="print one JSON object")
    how.add_argument("--plot", type=Path, metavar="FILE.png|svg", help="tokens per pass against budget")


def run(parsed: argparse.Namespace) -> int:
    from engine.bench.comparison import FEWEST_TOKENS, compare, left_out, table
    from engine.bench.drafters import Bench, Record, Terms
    from engine.bench.json_lines import JsonLines
    from engine.bench.plots import check, draw_drafters
    from engine.bench.replay import Recorded
    from engine.bench.settings import Models
    from engine.service import Engine

    prompts, samplings = prompts_of(parsed), _samplings(parsed)
    names, budgets = listed(parsed.drafters), numbers("budget", parsed.budget, number_or_auto)
    for budget in budgets:
        checked_options(parsed, budget=budget)
    if parsed.repeats < 1:
        raise BadOption("--repeats begins at 1.", "Leave it out for one answer to each prompt.")
    if parsed.plot:
        check(parsed.plot)
    records, recorded = JsonLines(parsed.json_lines, Record), JsonLines(parsed.replay, Recorded)
    terms = Terms(prompts, parsed.tokens, parsed.repeats, replay=parsed.replay is not None)
    load, engine = load_request(parsed), Engine()
    with cancelled_by_ctrl_c() as cancelled:
        loaded = engine.load(load, lambda event: None, cancelled)
        assert engine.session is not None
        try:
            against = engine.session.drafter(parsed.against or names[0]).name
            bench = Bench(engine.session, Models.of(loaded, load), terms, records, recorded, say, cancelled)
            cells = bench.cells(names, budgets, samplings)
            if against not in {cell.drafter for cell in cells}:
                raise BadOption(f"{against} is not among the drafters.", "Name it in --drafters, too.")
            found = bench.run(cells)
        finally:
            engine.unload()
    rows = compare(found, against)
    if short := left_out(found):
        say(f"{short} of {len(found)} answers had fewer than {FEWEST_TOKENS} tokens, and are left out.")
    if parsed.json:
        models = msgspec.to_builtins(Models.of(loaded, load))
        report = {"models": models, "against": against, "left_out": short, "rows": msgspec.to_builtins(rows)}
        print(json.dumps(report, ensure_ascii=False))
    else:
        print("\n".join(table(rows, against)))
    if parsed.plot:
        draw_drafters(rows, parsed.plot)
    return 0


def _samplings(parsed: argparse.Namespace) -> "list[Sampling]":
    """Raises BadOption."""
    from engine.bench.settings import Sampling

    if len(parsed.penalise_letter) > 1:
        raise BadOption("--penalise-letter takes one letter.", "Give r, for example.")
    penalties = numbers("penalty", parsed.penalty, float) if parsed.penalise_letter else [0.0]
    found = []
    for temperature in numbers("temperature", parsed.temperature, float):
        for penalty in penalties:
            options = checked_options(parsed, temperature=temperature, logit_bias={0: -penalty})
            found.append(
                Sampling(
                    temperature=options.temperature,
                    top_p=options.top_p,
                    top_k=options.top_k,
                    min_p=options.min_p,
                    seed=options.seed or 0,
                    letter=parsed.penalise_letter,
                    penalty=penalty,
                )
            )
    return found
