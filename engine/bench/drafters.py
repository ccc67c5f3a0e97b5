"""`specexec bench drafters`: compares drafters on the same prompts and with the same engine. They take turns,
because a machine's speed changes from minute to minute.

Between answers all cached rows are dropped, so that each answer includes its whole prefill; a drafter keeps
what it has learnt from the target, as in a chat. `engine.bench.comparison` summarises the answers.
"""

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from engine import protocol
from engine.bench.comparison import FEWEST_TOKENS, compare, left_out, plot, table
from engine.bench.estimates import check_plot
from engine.bench.options import (
    Prompt,
    add_plot_option,
    add_prompt_options,
    add_repeats_option,
    add_sampling_options,
    checked_options,
    listed,
    numbers,
    one_of,
    prompts_of,
    say,
)
from engine.bench.records import (
    AnswerRecord,
    Cell,
    Counts,
    JsonLines,
    Models,
    Recorded,
    Sampling,
    Times,
    options_of,
)
from engine.bench.slower_disk import add_disk_speed_option, checked_speed, slow_down
from engine.errors import BadOption, Interrupted
from engine.serving.service import EngineService
from engine.terminal import (
    Commands,
    add_command,
    add_model_options,
    cancelled_by_ctrl_c,
    load_request,
    number_or_auto,
)

if TYPE_CHECKING:
    from engine.serving.session import Session

WARM_UP_TOKENS = 4
OVERLAPS: tuple[protocol.Overlap, ...] = ("off", "auto", "on")  # in this order: the others against "off"

DETAILS = """\
For each drafter: tokens per pass and tokens/s, with a 95 % interval (bootstrap over prompts) and the ratio to
one of the drafters on the same prompts; seconds of an iteration by phase; and the share of proposed nodes
that were accepted.

With --replay, the target's answers are recorded once, by the default drafter. Drafters that receive nothing
but committed tokens from the target are then measured without running it, on the same trees as with it; they
have no tokens/s. A budget of auto depends on measured times and is never replayed."""


def add(kinds: Commands) -> None:
    parser = add_command(kinds, "drafters", run, "compare drafters on the same prompts", DETAILS)
    add_model_options(parser)
    grid = parser.add_argument_group("comparison", "Every combination of these lists is measured.")
    grid.add_argument(
        "--drafters",
        metavar="NAME,…",
        default="none,auto",
        help="drafters to compare, named as in specexec chat (default: %(default)s)",
    )
    grid.add_argument(
        "--budget",
        metavar="N|auto,…",
        default="auto",
        help="maximum numbers of nodes of a tree; auto: chosen by the engine (default: auto)",
    )
    grid.add_argument(
        "--overlap",
        metavar="HOW,…",
        default="auto",
        help="whether a draft model goes on drafting while the target verifies: auto, on or off, as in "
        "specexec chat (default: %(default)s)",
    )
    grid.add_argument(
        "--temperature",
        metavar="T,…",
        default="0",
        help="sampling temperatures; 0: always the most probable token (default: 0)",
    )
    grid.add_argument(
        "--penalise-letter",
        metavar="LETTER",
        default="",
        help="letter whose tokens are penalised, which makes answers harder to draft (default: none)",
    )
    grid.add_argument(
        "--penalty",
        metavar="B,…",
        default="0,5",
        help="amounts to subtract from the logits of tokens that contain the letter (default: %(default)s)",
    )
    grid.add_argument(
        "--against", metavar="NAME", help="drafter that the others are compared with (default: the first)"
    )
    add_disk_speed_option(grid)
    add_prompt_options(parser)
    add_sampling_options(parser)
    output = parser.add_argument_group("repeats and files")
    add_repeats_option(output, 1, "number of answers to each prompt, with different seeds")
    output.add_argument(
        "--replay",
        type=Path,
        metavar="FILE",
        help="replay the answers recorded in this file, and record those that are missing (default: run the "
        "target for every answer)",
    )
    output.add_argument(
        "--json-lines",
        type=Path,
        metavar="FILE",
        help="keep every measured answer in this file, one per line; an interrupted run resumes from it "
        "(default: none)",
    )
    add_plot_option(output, "tokens per pass against the budget")


def run(parsed: argparse.Namespace) -> int:
    prompts, samplings = prompts_of(parsed), _samplings(parsed)
    names, budgets = listed(parsed.drafters), numbers("budget", parsed.budget, number_or_auto)
    chosen = one_of("overlap", parsed.overlap, OVERLAPS)
    overlaps = [each for each in OVERLAPS if each in chosen]
    for budget in budgets:
        checked_options(parsed, budget=budget)
    if parsed.repeats < 1:
        raise BadOption("--repeats must be at least 1.", "Omit it for one answer to each prompt.")
    check_plot(parsed.plot)
    records, recorded = JsonLines(parsed.json_lines, AnswerRecord), JsonLines(parsed.replay, Recorded)
    terms = ComparisonTerms(prompts, parsed.tokens, parsed.repeats, replay=parsed.replay is not None)
    load, engine, speed = load_request(parsed), EngineService(), checked_speed(parsed)
    with cancelled_by_ctrl_c() as cancelled:
        loaded = engine.load(load, lambda event: None, cancelled)
        assert engine.session is not None
        models = msgspec.structs.replace(Models.of(loaded, load), disk_speed=speed)
        slow_down(engine.session.pair.target.model.streamer, speed)
        try:
            against = engine.session.drafter(parsed.against or names[0]).name
            bench = Bench(engine.session, models, terms, records, recorded, say, cancelled)
            cells = bench.cells(names, budgets, samplings, overlaps)
            if against not in {cell.drafter for cell in cells}:
                raise BadOption(
                    f"--against {against} is not among the compared drafters.", "Add it to --drafters."
                )
            answers = bench.run(cells)
        finally:
            engine.unload()
    rows = compare(answers, against)
    if short := left_out(answers):
        say(f"{short} of {len(answers)} answers are left out: they have fewer than {FEWEST_TOKENS} tokens.")
    if parsed.json:
        report = {
            "models": msgspec.to_builtins(models),
            "against": against,
            "left_out": short,
            "rows": msgspec.to_builtins(rows),
        }
        print(json.dumps(report, ensure_ascii=False))
    else:
        print("\n".join(table(rows, against)))
    if parsed.plot:
        plot(rows, parsed.plot)
    return 0


def _samplings(parsed: argparse.Namespace) -> list[Sampling]:
    """Return every combination of temperature and penalty. Raises BadOption if an option is out of range."""
    if len(parsed.penalise_letter) > 1:
        raise BadOption("--penalise-letter takes a single letter.", "Example: --penalise-letter r.")
    penalties = numbers("penalty", parsed.penalty, float) if parsed.penalise_letter else [0.0]
    samplings = []
    for temperature in numbers("temperature", parsed.temperature, float):
        for penalty in penalties:
            options = checked_options(parsed, temperature=temperature, logit_bias={0: -penalty})
            samplings.append(
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
    return samplings


@dataclass(frozen=True, slots=True)
class ComparisonTerms:
    """What is measured for each cell: `repeats` answers of at most `tokens` tokens to each of `prompts`.

    `replay`: whether to replay those answers that can be replayed.
    """

    prompts: Sequence[Prompt]
    tokens: int
    repeats: int
    replay: bool


class TreeTally:
    """Adds up the trees of one answer."""

    def __init__(self) -> None:
        self._nodes = self._accepted = self._survived = self._survivors = self._ahead = self._kept = 0
        # Of the nodes that the last tree's pass had beside it. The first tree has begun while the prompt was
        # read: what grew then is not among the nodes grown ahead.
        self._grown = 0

    def add(self, event: protocol.Event) -> None:
        """Add an iteration; ignore other events."""
        if not isinstance(event, protocol.IterationDone):
            return
        self._nodes += len(event.tree.tokens)
        self._accepted += len(event.accepted)
        self._survived += event.survivors > 0
        self._survivors += event.survivors
        # A tree also begins with nodes that had grown in turn and were not sent.
        self._kept += min(event.survivors, self._grown)
        self._ahead += event.grown_ahead
        self._grown = event.grown_ahead

    def counts(self, tokens: int, passes: int) -> Counts:
        return Counts(
            tokens,
            passes,
            self._nodes,
            self._accepted,
            self._survived,
            self._survivors,
            self._ahead,
            self._kept,
        )


class Bench:
    """Measures the cells of a comparison.

    `records`: the answers measured so far, which are not measured again. `recorded`: the target's answers to
    replay; an answer that is missing is recorded and added.
    """

    def __init__(
        self,
        session: "Session",
        models: Models,
        terms: ComparisonTerms,
        records: JsonLines[AnswerRecord],
        recorded: JsonLines[Recorded],
        say: Callable[[str], None],
        cancelled: Callable[[], bool],
    ) -> None:
        """cancelled: as in `Session.answer`."""
        self.records = records
        self.recorded = recorded
        self._session = session
        self._models = models
        self._terms = terms
        self._say = say
        self._cancelled = cancelled
        self._warm: set[str] = set()

    def cells(
        self,
        drafters: Sequence[str],
        budgets: Sequence[int | None],
        samplings: Sequence[Sampling],
        overlaps: Sequence[protocol.Overlap] = ("auto",),
    ) -> list[Cell]:
        """Return every combination of drafter, budget, sampling and overlap; drafters without trees have no
        budget, and those that cannot draft ahead beside this target no overlap.

        Raises BadOption if a drafter is unknown or cannot be used with the loaded models.
        """
        from engine.decoding.ahead import hindrance

        cells: dict[Cell, None] = {}
        for sampling in samplings:
            for name in drafters:
                drafter = self._session.drafter(name)
                trees = drafter.defaults.budget > 0
                only_turns = hindrance(drafter, self._session.pair.target.model)
                for budget, overlap in product(budgets, OVERLAPS[1:2] if only_turns else overlaps):
                    cells[Cell(drafter.name, budget if trees else 0, sampling.plain(), overlap)] = None
        return list(cells)

    def run(self, cells: Sequence[Cell]) -> list[AnswerRecord]:
        """Measure the cells and return their answers.

        Raises Interrupted if the user interrupts it, and the errors from answering. The answers measured
        before an error are in `records`.
        """
        usable = [each for each in self.records.records if self._terms.replay or each.times]
        done = {record.place: record for record in usable}
        answers = []
        for repeat in range(self._terms.repeats):
            for number, prompt in enumerate(self._terms.prompts):
                first = number % len(cells)  # the order rotates
                for cell in (*cells[first:], *cells[:first]):
                    place = (self._models, cell, prompt.key, self._terms.tokens, repeat)
                    if place not in done:
                        self._say(f"{prompt.key}, {cell}, {repeat + 1} of {self._terms.repeats}")
                        counts, times = self._measure(cell, prompt, repeat)
                        record = AnswerRecord(
                            self._models,
                            cell,
                            prompt.key,
                            prompt.kind,
                            self._terms.tokens,
                            repeat,
                            counts,
                            times,
                        )
                        done[place] = record
                        self.records.add(record)
                    answers.append(done[place])
        return answers

    def _measure(self, cell: Cell, prompt: Prompt, repeat: int) -> tuple[Counts, Times | None]:
        from engine.bench.replay import can_replay

        drafter = self._session.drafter(cell.drafter)
        replayable = self._terms.replay and cell.budget is not None
        if replayable and can_replay(drafter, greedy=cell.sampling.temperature == 0):
            return self._replay(cell, prompt, repeat), None
        if cell.drafter not in self._warm:
            self._warm.add(cell.drafter)
            self._answer(cell, Prompt("", "", "Hello!"), repeat, WARM_UP_TOKENS)
        tally = TreeTally()
        answer = self._answer(cell, prompt, repeat, self._terms.tokens, tally.add)
        times = Times(answer.tokens_per_second or 0.0, answer.time_to_first_token_s or 0.0, answer.seconds)
        return tally.counts(answer.tokens, answer.target_passes), times

    def _answer(
        self,
        cell: Cell,
        prompt: Prompt,
        repeat: int,
        tokens: int,
        emit: Callable[[protocol.Event], None] = lambda event: None,
    ) -> protocol.Answer:
        options = options_of(cell.sampling.repeated(repeat), self._session.pair.tokenizer)
        options.drafter, options.budget, options.max_new_tokens = cell.drafter, cell.budget or None, tokens
        options.overlap = cell.overlap
        self._session.forget()
        message = protocol.Message("user", prompt.text)
        chat = protocol.Chat(id=0, messages=[message], options=options)
        answer = self._session.answer(chat, emit, self._cancelled)
        if answer.stop_reason == "cancelled":
            raise Interrupted(
                "The benchmark was interrupted.", "With --json-lines, the same command resumes it."
            )
        return answer

    def _replay(self, cell: Cell, prompt: Prompt, repeat: int) -> Counts:
        from engine.bench.replay import ReplayVerifier
        from engine.decoding.budget import FixedLimits
        from engine.decoding.iteration import Iterated, decode
        from engine.model.interface import no_progress
        from engine.serving.samplers import sampler_of

        recorded = self._recorded_answer(prompt, cell.sampling.repeated(repeat))
        self._session.forget()
        tokenizer, drafter = self._session.pair.tokenizer, self._session.drafter(cell.drafter)
        stream = decode(
            ReplayVerifier(recorded.prompt, recorded.answer, self._session.context),
            drafter,
            sampler_of(options_of(recorded.sampling, tokenizer), recorded.sampling.seed, tokenizer),
            recorded.prompt,
            FixedLimits(replace(drafter.defaults, budget=cell.budget or 0)),
            tokenizer.eos_ids,
            self._terms.tokens,
            no_progress,
        )
        iterations = [event for event in stream if isinstance(event, Iterated)]
        return Counts(
            tokens=1 + sum(len(each.tokens) for each in iterations),
            passes=len(iterations),
            nodes=sum(len(each.tree) for each in iterations),
            accepted=sum(len(each.accepted) for each in iterations),
            kept=0,  # no tree grows beside a pass that is replayed
        )

    def _recorded_answer(self, prompt: Prompt, sampling: Sampling) -> Recorded:
        """Return the target's recorded answer. If it is missing, record it with the default drafter."""
        tokenizer = self._session.pair.tokenizer
        ids = tokenizer.encode_chat([{"role": "user", "content": prompt.text}])
        target = f"{self._models.target} {self._models.dtype}"
        for known in self.recorded.records:
            if known.covers(target, sampling, ids, self._terms.tokens):
                return known
        self._say(f"{prompt.key}, recording")
        default = Cell(self._session.drafter("auto").name, None, sampling)
        answer = self._answer(default, prompt, 0, self._terms.tokens)
        recorded = Recorded(
            target, sampling, prompt.name, ids, answer.token_ids, answer.stop_reason == "end_of_sequence"
        )
        self.recorded.add(recorded)
        return recorded
