"""An answer in progress: converts decoding events to protocol events, and token ids to text."""

import secrets
import time
from collections.abc import Callable

from engine import protocol
from engine.decoding.iteration import Event, Grown, Iterated, Prefilled, Rule
from engine.decoding.verification import LogProbs
from engine.drafting import Drafter
from engine.sampling import Sampler
from engine.serving.pair import LoadedPair
from engine.serving.stop_strings import StoppableText
from engine.serving.telemetry import Pace, committed, judged
from engine.tree import TokenTree

Emit = Callable[[protocol.Event], None]


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
        rule: Rule,
        emit: Emit,
        started: float,
    ) -> None:
        """started: the time at which the request arrived, as time.perf_counter gave it."""
        self.request = request
        self._emit = emit
        self.pair = pair
        self.drafter = drafter
        self.prompt = prompt
        self.options = options
        self._rule = rule
        self.seed = secrets.randbits(63) if options.seed is None else options.seed
        self.sampler = sampler_of(options, self.seed)
        self.reused_tokens = pair.target.align(prompt[:-1])
        self.cancelled = False
        self.tokens: list[int] = []
        self._budgets: list[int] = []
        self._log_probs: list[protocol.TokenLogProbs] = []
        self.passes = 0
        self.seconds = protocol.Seconds()
        self._text = StoppableText(options.stop)
        self._decoder = pair.tokenizer.stream()
        self._model = pair.target.model
        self._waited_s = self._model.waited_s
        self._moved = self._moved_before = self._model.moved
        self._started = self._first = self._last = started
        self._tree_pace, self._pass_pace = Pace(), Pace()
        self._read = 0
        self._characters = 0

    @property
    def stop_string_found(self) -> bool:
        return self._text.stopped

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

    def write(self, event: Event) -> None:
        """Send what a decoding event adds to the answer."""
        match event:
            case Prefilled(token, log_probs):
                self._first = self._last = time.perf_counter()
                self._waited_s = self._model.waited_s
                self._moved_before = self._model.moved
                self._add([token], log_probs)
            case Grown(snapshot) if self.options.telemetry and self._tree_pace.is_due:
                with self._tree_pace:
                    tree = self._nodes(snapshot(), self.tokens[-1])
                    self._emit(protocol.TreeGrown(request=self.request, iteration=self.passes + 1, tree=tree))
            case Iterated():
                self._iteration(event)

    def _iteration(self, event: Iterated) -> None:
        root = self.tokens[-1]
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
        moved = self._model.moved - self._moved_before
        self._moved_before += moved
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
            link_gb_per_s=moved / 1e9 / (self._last - self._started) if moved and self.tokens else None,
            memory=self.pair.memory,
            drafter=self.drafter.name,
            budget=max(self._budgets, default=self._rule.choose().budget),
            budgets=self._budgets,
        )

    def _add(self, tokens: list[int], log_probs: list[LogProbs]) -> list[str]:
        """Add tokens up to the one that completes a stop string, if any; return their texts."""
        pieces: list[str] = []
        released = ""
        for token in tokens:
            self.tokens.append(token)
            pieces.append(self._decoder.step(token))
            released += self._text.add(pieces[-1])
            if self._text.stopped:
                break
        self._send(released)
        self._characters += sum(map(len, pieces))
        if self.options.log_probs is not None:
            self._log_probs += [
                protocol.TokenLogProbs(log_prob=entry.log_prob, top=entry.top[: self.options.log_probs])
                for entry in log_probs[: len(pieces)]
            ]
        return pieces

    def _send(self, text: str) -> None:
        if text:
            self._emit(protocol.TextDelta(request=self.request, text=text, tokens=len(self.tokens)))

    def _stop_reason(self) -> protocol.StopReason:
        if self.stop_string_found:
            return "stop_string"
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


def sampler_of(options: protocol.Options, seed: int) -> Sampler:
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
    )
