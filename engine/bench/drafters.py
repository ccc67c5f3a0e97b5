"""Drafters side by side: the same prompts, the same engine, in turns, because a machine's speed changes from
minute to minute.

Between answers all rows are forgotten, so that each has its whole prefill; what a drafter has learnt of the
target it keeps, as in a chat. The numbers are put together in `drafters_table`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import msgspec

from engine import protocol
from engine.bench.json_lines import JsonLines
from engine.bench.prompts import Prompt
from engine.bench.replay import Recorded, ReplayVerifier, can_replay
from engine.bench.settings import Models, Sampling, options_of
from engine.budget import FixedLimits
from engine.decoding import Iterated, decode
from engine.errors import Interrupted
from engine.model import no_watch
from engine.session import Session
from engine.writing import sampler_of

WARM_UP_TOKENS = 4


class Cell(msgspec.Struct, frozen=True):
    """One drafter with one setting. budget: None where the engine chooses it, 0 where there are no trees."""

    drafter: str
    budget: int | None
    sampling: Sampling

    def __str__(self) -> str:
        parts = [self.drafter]
        if self.budget != 0:
            parts.append(f"budget {'auto' if self.budget is None else self.budget}")
        parts.append(f"temperature {self.sampling.temperature:g}")
        if self.sampling.penalty:
            parts.append(f"“{self.sampling.letter}” −{self.sampling.penalty:g}")
        return ", ".join(parts)


class Counts(msgspec.Struct, frozen=True):
    """Of one answer: `nodes` were proposed in `passes` target passes, `accepted` of them were committed."""

    tokens: int
    passes: int
    nodes: int
    accepted: int

    @property
    def tokens_per_pass(self) -> float:
        return (self.tokens - 1) / self.passes


class Times(msgspec.Struct, frozen=True):
    """Of one answer, in seconds: until its first token; then those of all passes, by phase."""

    tokens_per_second: float
    prefill_s: float
    seconds: protocol.Seconds


class Record(msgspec.Struct, frozen=True):
    """One answer. `times`: None where it was replayed."""

    models: Models
    cell: Cell
    prompt: str
    kind: str
    asked_tokens: int
    repeat: int
    counts: Counts
    times: Times | None

    @property
    def place(self) -> tuple[object, ...]:
        """What a later run looks for before it asks again."""
        return self.models, self.cell, self.prompt, self.asked_tokens, self.repeat


@dataclass(frozen=True, slots=True)
class Terms:
    """What is asked of each cell: `repeats` answers of `tokens` tokens to each of `prompts`. replay: whether
    what can be replayed is."""

    prompts: Sequence[Prompt]
    tokens: int
    repeats: int
    replay: bool


class Bench:
    """Attributes: `records` (answers measured so far, which are not asked for again), `recorded` (answers to
    replay; one that is missing is recorded first)."""

    def __init__(
        self,
        session: Session,
        models: Models,
        terms: Terms,
        records: JsonLines[Record],
        recorded: JsonLines[Recorded],
        say: Callable[[str], None],
        cancelled: Callable[[], bool],
    ) -> None:
        """say: told what is being measured. cancelled: asked as by `Session.answer`."""
        self.records = records
        self.recorded = recorded
        self._session = session
        self._models = models
        self._terms = terms
        self._say = say
        self._cancelled = cancelled
        self._warm: set[str] = set()

    def cells(
        self, drafters: Sequence[str], budgets: Sequence[int | None], samplings: Sequence[Sampling]
    ) -> list[Cell]:
        """Every drafter with every budget and sampling; one that grows no trees has no budget. Raises
        BadOption."""
        found: dict[Cell, None] = {}
        for sampling in samplings:
            for name in drafters:
                drafter = self._session.drafter(name)
                for budget in budgets:
                    trees = drafter.defaults.budget > 0
                    found[Cell(drafter.name, budget if trees else 0, sampling.plain())] = None
        return list(found)

    def run(self, cells: Sequence[Cell]) -> list[Record]:
        """Their records. Raises Interrupted, and what answering raises; what was measured before that is in
        `records`."""
        usable = [each for each in self.records.records if self._terms.replay or each.times]
        done = {record.place: record for record in usable}
        found = []
        for repeat in range(self._terms.repeats):
            for number, prompt in enumerate(self._terms.prompts):
                first = number % len(cells)  # in turns also who comes first
                for cell in (*cells[first:], *cells[:first]):
                    place = (self._models, cell, prompt.key, self._terms.tokens, repeat)
                    if place not in done:
                        self._say(f"{prompt.key}, {cell}, {repeat + 1} of {self._terms.repeats}")
                        counts, times = self._measure(cell, prompt, repeat)
                        record = Record(
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
                    found.append(done[place])
        return found

    def _measure(self, cell: Cell, prompt: Prompt, repeat: int) -> tuple[Counts, Times | None]:
        drafter = self._session.drafter(cell.drafter)
        replayable = self._terms.replay and cell.budget is not None
        if replayable and can_replay(drafter, greedy=cell.sampling.temperature == 0):
            return self._replay(cell, prompt, repeat), None
        if cell.drafter not in self._warm:
            self._warm.add(cell.drafter)
            self._answer(cell, Prompt("", "", "Hello!"), repeat, WARM_UP_TOKENS)
        nodes = accepted = 0

        def count(event: protocol.Event) -> None:
            nonlocal nodes, accepted
            if isinstance(event, protocol.IterationDone):
                nodes += len(event.tree.tokens)
                accepted += len(event.accepted)

        answer = self._answer(cell, prompt, repeat, self._terms.tokens, count)
        times = Times(answer.tokens_per_second or 0.0, answer.time_to_first_token_s or 0.0, answer.seconds)
        return Counts(answer.tokens, answer.target_passes, nodes, accepted), times

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
        self._session.forget()
        message = protocol.Message("user", prompt.text)
        answer = self._session.answer([message], options, emit, self._cancelled)
        if answer.stop_reason == "cancelled":
            raise Interrupted("The bench was ended.", "With --json-lines a second start goes on from here.")
        return answer

    def _replay(self, cell: Cell, prompt: Prompt, repeat: int) -> Counts:
        recorded = self._said(prompt, cell.sampling.repeated(repeat))
        self._session.forget()
        tokenizer, drafter = self._session.pair.tokenizer, self._session.drafter(cell.drafter)
        stream = decode(
            ReplayVerifier(recorded.prompt, recorded.answer, self._session.context),
            drafter,
            sampler_of(options_of(recorded.sampling, tokenizer), recorded.sampling.seed),
            recorded.prompt,
            FixedLimits(replace(drafter.defaults, budget=cell.budget or 0)),
            tokenizer.eos_ids,
            self._terms.tokens,
            no_watch,
        )
        iterations = [event for event in stream if isinstance(event, Iterated)]
        return Counts(
            tokens=1 + sum(len(each.tokens) for each in iterations),
            passes=len(iterations),
            nodes=sum(len(each.tree) for each in iterations),
            accepted=sum(len(each.accepted) for each in iterations),
        )

    def _said(self, prompt: Prompt, sampling: Sampling) -> Recorded:
        """What the target answers. Recorded with the default drafter, where it was not before."""
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
