"""An answer in progress: converts decoding events to protocol events, and token ids to text."""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from engine import protocol
from engine.constraint.masks import Masks
from engine.decoding.iteration import Event, Grown, Iterated, Prefilled, Rule
from engine.decoding.regrowth import grown_tree
from engine.decoding.verdict import LogProbs
from engine.drafting import Drafter
from engine.protocol.thoughts import ThoughtSplitter
from engine.repetition import Dry, LoopDetector
from engine.sampling import Sampler
from engine.serving.pair import LoadedPair, tier_of
from engine.serving.stop_strings import StoppableText
from engine.serving.telemetry import Pace, committed, judged
from engine.streaming import ExpertCounts
from engine.streaming.expert_counts import done_since
from engine.tokenizer import Tokenizer
from engine.tree import TokenTree

Emit = Callable[[protocol.Event], None]


@dataclass(frozen=True, slots=True)
class BegunAnswer:
    """What an answer had committed and counted when an error ended it, so that another pair can go on from
    there. It refers to no model.

    Attributes: `started`, `first`: when the request and the first token came, as time.perf_counter gave it;
    `moved`: bytes streamed for it; `experts`: what the cache of experts did for it; the others are named as
    in `protocol.Answer`.
    """

    tokens: list[int]
    log_probs: list[protocol.TokenLogProbs]
    budgets: list[int]
    drafted: list[int]
    accepted: list[int]
    seconds: protocol.Seconds
    started: float
    first: float
    moved: int
    experts: ExpertCounts | None


class AnswerWriter:
    """Converts decoding events to protocol events for one answer, and counts its tokens, passes and seconds
    (docs/design.md, section 3)."""

    def __init__(
        self,
        request: int,
        pair: LoadedPair,
        drafter: Drafter,
        prompt: list[int],
        options: protocol.Options,
        masks: Masks | None,
        rule: Rule,
        emit: Emit,
        started: float,
        begins: bool,
    ) -> None:
        """started: the time at which the request arrived, as time.perf_counter gave it. begins: whether the
        answer begins behind the prompt; else, the prompt ends with its beginning."""
        self.request = request
        self._emit = emit
        self.pair = pair
        self.drafter = drafter
        self.prompt = prompt
        self.options = options
        self._rule = rule
        self.seed = secrets.randbits(63) if options.seed is None else options.seed
        first = len(prompt) if begins else None
        self.sampler = replace(sampler_of(options, self.seed, pair.tokenizer, first), masks=masks)
        most = options.recording.reused_tokens if options.recording else None
        self.reused_tokens = pair.target.align(prompt[:-1][:most])
        self._reused = self.reused_tokens
        self.cancelled = False
        self._is_resumed = False
        self.tokens: list[int] = []
        self._budgets: list[int] = []
        self._drafted: list[int] = []
        self._accepted: list[int] = []
        self._trees: list[protocol.GrownTree] = []
        self._log_probs: list[protocol.TokenLogProbs] = []
        self.passes = 0
        self.seconds = protocol.Seconds()
        self._text = StoppableText(options.stop)
        self._loops = LoopDetector()
        self._decoder = pair.tokenizer.stream(options.shown)
        self._thought = ThoughtSplitter()
        self._thought_mark = ""
        self._thought_tokens = 0
        self._thought_s = 0.0
        self._model = pair.target.model
        self._waited_s = self._model.waited_s
        self._moved = self._moved_before = self._model.moved
        self._experts = self._experts_before = self._model.experts
        self._started = self._first = self._last = started
        self._tree_pace, self._pass_pace = Pace(), Pace()
        self._read = 0
        self._characters = 0

    @property
    def is_ended(self) -> bool:
        """Whether a stop string or a loop has ended the answer."""
        return self._text.stopped or self._is_loop

    @property
    def _is_loop(self) -> bool:
        return self._loops.found and self.options.stop_loops

    def begun(self) -> BegunAnswer:
        """Return what the answer has committed and counted so far."""
        return BegunAnswer(
            self.tokens,
            self._log_probs,
            self._budgets,
            self._drafted,
            self._accepted,
            self.seconds,
            self._started,
            self._first,
            self._model.moved - self._moved,
            done_since(self._experts, self._model.experts),
        )

    def _resume(self, begun: BegunAnswer) -> None:
        """Go on behind what another pair had committed. Its text has been sent already."""
        self._is_resumed = True
        for token in begun.tokens:
            self.tokens.append(token)
            piece = self._decoder.step(token)
            self._text.add(piece)
            self._count_thought(piece)
            self._loops.add(token)
            self._characters += len(piece)
        self._log_probs = begun.log_probs
        self._budgets, self._drafted, self._accepted = begun.budgets, begun.drafted, begun.accepted
        self.passes, self.seconds = len(begun.budgets), begun.seconds
        self._started, self._first, self._last = begun.started, begun.first, time.perf_counter()
        self._moved -= begun.moved
        if self._experts and begun.experts:
            self._experts -= begun.experts

    def begin(self, thought: str, beginning: str, begun: BegunAnswer | None) -> None:
        """Report that the prompt is about to be read, or go on with an answer that another pair has begun.

        thought: the mark of the thought that the prompt leaves open, or "". beginning: the beginning of the
        answer, at the prompt's end.
        """
        self._thought_mark = thought
        self._thought = ThoughtSplitter(thought)
        self._thought.add(beginning)
        if begun is not None:
            self._resume(begun)
            return
        self._emit(
            protocol.AnswerBegun(
                request=self.request,
                prompt_tokens=len(self.prompt),
                reused_tokens=self.reused_tokens,
                thought=thought,
            )
        )

    def read(self, done: int, total: int) -> None:
        """Report that the prefill has run `done` of `total` chunks."""
        if self.tokens:
            return
        unseen = len(self.prompt) - self.reused_tokens
        # After the target, the draft reads the prompt too, with a count of its own: never go back.
        self._read = max(self._read, unseen * done // total)
        self._emit(protocol.PrefillProgress(request=self.request, done=self._read, total=unseen))

    def show_pass(self, done: int, total: int) -> None:
        """Report that the current pass has run `done` of `total` layers."""
        if self.options.telemetry and self._pass_pace.is_due:
            iteration = self.passes + 1
            with self._pass_pace:
                self._emit(
                    protocol.PassProgress(request=self.request, iteration=iteration, done=done, total=total)
                )

    def show_silence(self, seconds: float) -> None:
        """Report for how long the disk with streamed weights has not answered; see `DiskWatch.on_silence`.
        May be called on the thread of a pass."""
        self._emit(protocol.DiskSilence(request=self.request, seconds=seconds))

    def write(self, event: Event) -> None:
        """Send what a decoding event adds to the answer."""
        match event:
            case Prefilled(token, log_probs, limits, reused):
                self._trees.append(grown_tree(limits))
                now = time.perf_counter()
                if self.tokens:  # resumed: the text was read again, in a pass that verified no tree
                    self.passes += 1
                    for column in (self._budgets, self._drafted, self._accepted):
                        column.append(0)
                    self.seconds.other += now - self._last
                else:
                    self._first = now
                    self._reused = reused  # fewer than there are rows for, where heads read more anew
                self._last = now
                self._waited_s = self._model.waited_s
                self._moved_before = self._model.moved
                self._experts_before = self._model.experts
                self._add([token], log_probs)
            case Grown(snapshot) if self.options.telemetry and self._tree_pace.is_due:
                with self._tree_pace:
                    tree = self._nodes(snapshot(), self.tokens[-1])
                    self._emit(protocol.TreeGrown(request=self.request, iteration=self.passes + 1, tree=tree))
            case Iterated():
                self._iteration(event)

    def _iteration(self, event: Iterated) -> None:
        root = self.tokens[-1]
        self._trees.append(grown_tree(event.grown))
        self._budgets.append(event.limits.budget)
        self._last = time.perf_counter()
        self.passes += 1
        wait_s = self._model.waited_s - self._waited_s
        self._waited_s += wait_s
        seconds = protocol.Seconds(
            draft=event.draft_s, target=event.target_s - wait_s, stream_wait=wait_s, other=event.other_s
        )
        for phase in protocol.Seconds.__struct_fields__:
            setattr(self.seconds, phase, getattr(self.seconds, phase) + getattr(seconds, phase))
        start = self._characters
        pieces = self._add(event.tokens, event.log_probs)
        count = len(pieces)
        self._drafted.append(len(event.tree.tokens))
        self._accepted.append(min(count, len(event.accepted)))
        moved = self._model.moved - self._moved_before
        self._moved_before += moved
        experts, before = self._model.experts, self._experts_before
        self._experts_before = experts
        bonus = event.tokens[-1] if len(event.accepted) < count else None
        self._emit(
            protocol.IterationDone(
                request=self.request,
                iteration=self.passes,
                tree=self._nodes(event.tree, root),
                accepted=event.accepted[:count],
                bonus_token=bonus,
                bonus_text="" if bonus is None else self.pair.tokenizer.token_text(bonus),
                seconds=seconds,
                tokens=len(self.tokens),
                target_passes=self.passes,
                tokens_per_pass=(len(self.tokens) - 1) / self.passes,
                tokens_per_second=self._tokens_per_second() or 0.0,
                bytes_streamed=moved,
                experts=self._told(done_since(before, experts)),
                survivors=event.survivors,
                grown_ahead=event.ahead,
                ahead_s=event.ahead_s,
                judged=judged(event.judgement),
                committed=self._committed(start, pieces, event.log_probs) if self.options.telemetry else None,
            )
        )

    def _committed(self, start: int, pieces: list[str], log_probs: list[LogProbs]) -> protocol.Committed:
        tokens = {token for entry in log_probs for token, _ in entry.top}
        texts = {token: self.pair.tokenizer.token_text(token) for token in tokens}
        return committed(start, pieces, log_probs, texts)

    def finish(self) -> protocol.Answer:
        self._send(self._text.finish(self._decoder.flush()))
        moved = self._model.moved - self._moved
        return protocol.Answer(
            request=self.request,
            text=self._text.text,
            token_ids=self.tokens,
            log_probs=None if self.options.log_probs is None else self._log_probs,
            stop_reason=self._stop_reason(),
            stop_string=self._text.found,
            seed=self.seed,
            prompt_tokens=len(self.prompt),
            reused_tokens=self.reused_tokens,
            tokens=len(self.tokens),
            target_passes=self.passes,
            tokens_per_pass=(len(self.tokens) - 1) / self.passes if self.passes else None,
            tokens_per_second=self._tokens_per_second(),
            time_to_first_token_s=self._first - self._started if self.tokens else None,
            seconds=self.seconds,
            bytes_streamed=moved,
            experts=self._told(done_since(self._experts, self._model.experts)),
            link_gb_per_s=moved / 1e9 / (self._last - self._started) if moved and self.tokens else None,
            memory=self.pair.memory,
            drafter=self.drafter.name,
            budget=max(self._budgets, default=self._rule.choose().budget),
            budgets=self._budgets,
            drafted=self._drafted,
            accepted=self._accepted,
            recording=self._recording(),
            thought=self._thought_mark,
            thought_tokens=self._thought_tokens,
            thought_s=self._thought_s,
        )

    def _recording(self) -> protocol.AnswerRecording | None:
        if self._model.rounds_alike or self._is_resumed:
            return None
        return protocol.AnswerRecording(reused_tokens=self._reused, trees=self._trees)

    def _told(self, counts: ExpertCounts | None) -> protocol.ExpertFigures | None:
        if counts is None:
            return None
        return protocol.ExpertFigures(
            hits=counts.hits,
            misses=counts.misses,
            bytes_read=counts.read,
            predicted=counts.predicted,
            right=counts.right,
            tier=tier_of(self.pair.target),
            bytes_from_disk=counts.from_disk,
            near=counts.near,
        )

    def _add(self, tokens: list[int], log_probs: list[LogProbs]) -> list[str]:
        """Add tokens up to the one that completes a stop string or a loop, if any; return their texts."""
        pieces: list[str] = []
        released = ""
        for token in tokens:
            self.tokens.append(token)
            pieces.append(self._decoder.step(token))
            released += self._text.add(pieces[-1])
            self._count_thought(pieces[-1])
            self._loops.add(token)
            if self.is_ended:
                break
        requested = None
        if (most := self.options.log_probs) is not None:
            entries = [LogProbs(entry.log_prob, entry.top[:most]) for entry in log_probs]
            requested = self._committed(self._characters, pieces, entries)
            self._log_probs += requested.log_probs
        self._send(released, requested)
        self._characters += sum(map(len, pieces))
        return pieces

    def _count_thought(self, piece: str) -> None:
        """Note that a token was added, whose text is `piece`. The token that closes the thought belongs to
        it."""
        if self._thought.is_inside or not self._thought.has_thought:
            self._thought.add(piece)
            if self._thought.has_thought:
                self._thought_tokens = len(self.tokens)
                self._thought_s = self._last - self._first

    def _send(self, text: str, committed: protocol.Committed | None = None) -> None:
        if text or committed is not None:
            self._emit(
                protocol.TextDelta(
                    request=self.request, text=text, tokens=len(self.tokens), committed=committed
                )
            )

    def _stop_reason(self) -> protocol.StopReason:
        if self._text.stopped:
            return "stop_string"
        if self._is_loop:
            return "repetition"
        if self.cancelled:
            return "cancelled"
        if self.tokens and self.tokens[-1] in self.pair.tokenizer.eos_ids:
            return "end_of_sequence"
        if len(self.prompt) + len(self.tokens) >= self.pair.target.cache.capacity:
            return "context_full"
        return "max_new_tokens"

    def _tokens_per_second(self) -> float | None:
        elapsed = self._last - self._first
        return (len(self.tokens) - 1) / elapsed if elapsed > 0 else None

    def _nodes(self, tree: TokenTree, root: int) -> protocol.TreeNodes:
        token_text = self.pair.tokenizer.token_text
        tokens: list[int] = tree.tokens.tolist()
        return protocol.TreeNodes(
            root_text=token_text(root),
            tokens=tokens,
            parents=tree.parents.tolist(),
            log_probs=tree.log_probs.tolist(),
            sources=tree.sources.tolist(),
            texts=[token_text(token) for token in tokens],
        )


def sampler_of(
    options: protocol.Options, seed: int, tokenizer: Tokenizer, first: int | None = None
) -> Sampler:
    """Return the sampler that the options describe. Token sets that depend on the vocabulary are made only
    for the processors that need them. first: the position where the answer begins; None: it has begun."""
    breakers = spared = frozenset[int]()
    if options.dry_multiplier:
        breakers = tokenizer.eos_ids.union(*map(tokenizer.tokens_containing, options.dry_breakers))
    if options.xtc_probability:
        spared = tokenizer.eos_ids.union(tokenizer.encode("\n")[-1:])
    return Sampler(
        seed=seed,
        temperature=options.temperature,
        top_k=options.top_k,
        top_p=options.top_p,
        min_p=options.min_p,
        repetition_penalty=options.repetition_penalty,
        presence_penalty=options.presence_penalty,
        frequency_penalty=options.frequency_penalty,
        logit_bias=options.logit_bias,
        suppressed=tokenizer.suppressed_ids,
        first_suppressed=tokenizer.first_suppressed_ids,
        first=first,
        dry=Dry(
            options.dry_multiplier,
            options.dry_base,
            options.dry_allowed_length,
            options.dry_range,
            breakers,
        ),
        xtc_probability=options.xtc_probability,
        xtc_threshold=options.xtc_threshold,
        spared=spared,
    )
