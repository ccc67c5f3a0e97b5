"""One loaded pair and its conversation: full list of messages in, protocol events out.

What both models have seen of the longest common prefix is reused. Turns token ids into text and applies the
rules that end an answer; knows nothing of processes, windows or command lines.
"""

import secrets
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import psutil

from engine import protocol
from engine.budget import AutoLimits, FixedLimits, Overridden, Replayed
from engine.decoding import Event, Grown, Iterated, Prefilled, Rule, decode
from engine.drafting import Drafter, Parts, available, default_drafter, make_drafter
from engine.errors import BadCheckpoint, EmptyPrompt, PromptTooLong
from engine.heads import Heads
from engine.sampling import Sampler
from engine.sequence import Sequence
from engine.stop_strings import StoppableText
from engine.tokenizer import Tokenizer
from engine.tree import TokenTree
from engine.verification import LogProbs, TargetVerifier
from engine.watching import ALTERNATIVES, MOST_JUDGED, committed, judged, memory_parts

TREE_INTERVAL_S = 1 / 30  # no window repaints faster

Emit = Callable[[protocol.Event], None]


class Cancelled(Exception):
    """Raised by a watch to end a pass; the answer's text so far is kept."""


@dataclass(slots=True)
class Pair:
    """What is loaded. Draft and target share one vocabulary. heads: made for the target, in the place of a
    draft."""

    target: Sequence
    draft: Sequence | None
    tokenizer: Tokenizer
    heads: Heads | None = None

    @property
    def method(self) -> str | None:
        """The drafter that the heads are for."""
        return self.heads.method if self.heads else None

    @property
    def memory(self) -> protocol.Memory:
        """Bytes of weights, workspaces and KV cache by tier."""
        used = {"vram": 0, "ram": 0}
        for sequence in filter(None, (self.target, self.draft)):
            tier = "vram" if sequence.model.device.type == "cuda" else "ram"
            used[tier] += sequence.model.nbytes + sequence.cache.nbytes
            if self.heads and sequence is self.target:
                used[tier] += self.heads.nbytes
        parts = memory_parts(self.target, self.draft, self.heads)
        return protocol.Memory(**used, peak=peak_resident_nbytes(), parts=parts)


def peak_resident_nbytes() -> int:
    """The most RAM this process has held at one time, in bytes."""
    if sys.platform == "win32":
        peak: int = psutil.Process().memory_info().peak_wset
        return peak
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


class Session:
    """Answers one question at a time. Drafters are kept between answers: what one has learnt, the next answer
    uses."""

    def __init__(self, pair: Pair, budget: int | None = None) -> None:
        """budget: of the first tree, where nobody fixes it; None: the drafter's own."""
        self.pair = pair
        self._budget = budget
        self._drafters: dict[str, Drafter] = {}
        self._rules: dict[str, AutoLimits] = {}

    def close(self) -> None:
        """End what moves weights; no answer can be asked for afterwards."""
        for sequence in filter(None, (self.pair.target, self.pair.draft)):
            sequence.model.close()

    @property
    def context(self) -> int:
        """Most tokens of prompt and answer together."""
        return self.pair.target.cache.capacity

    def drafter(self, name: str) -> Drafter:
        """`name` may be "auto". Raises BadOption."""
        if name == "auto":
            name = default_drafter(self.pair.draft is not None, self.pair.method)
        if name not in self._drafters:
            parts = Parts(self.pair.target.model.vocabulary, self.pair.draft, self.pair.heads)
            self._drafters[name] = make_drafter(name, parts)
        return self._drafters[name]

    def drafters(self) -> list[str]:
        return available(self.pair.draft is not None, self.pair.method)

    def _rule(self, drafter: Drafter, options: protocol.Options) -> Rule:
        """What sets the limits of each tree: the user, or what was learned of this drafter here."""
        asked = {"budget": options.budget, "beams": options.beams, "depth": options.depth}
        fixed = {name: limit for name, limit in asked.items() if limit is not None}
        if drafter.defaults.budget == 0:
            return FixedLimits(drafter.defaults)
        if "budget" in fixed or drafter.needs.rejection:
            return FixedLimits(replace(drafter.defaults, **fixed))
        first = replace(drafter.defaults, budget=self._budget or drafter.defaults.budget)
        auto = self._rules.setdefault(drafter.name, AutoLimits(first))
        return Overridden(auto, fixed) if fixed else auto

    def forget(self) -> None:
        """Drop every row both models hold: after a fault none can be trusted."""
        self.pair.target.rewind(0)
        for drafter in self._drafters.values():
            drafter.rewind(0)

    def answer(
        self,
        messages: list[protocol.Message],
        options: protocol.Options,
        emit: Emit,
        cancelled: Callable[[], bool],
        request: int = 0,
    ) -> protocol.Answer:
        """Answer the last message, or go on with it where it is the assistant's; `emit` is told what happens
        meanwhile, in the order of protocol's events.

        `cancelled` is asked once per chunk of a pass; when it is true, the answer ends with the text so far.
        Raises EmptyPrompt, PromptTooLong, BadOption, BadNumbers; the session stays usable.
        """
        started = time.perf_counter()
        if not messages or not messages[-1].content.strip():
            raise EmptyPrompt("There is nothing to answer.", "Type a question.")
        drafter = self.drafter(options.drafter)
        # An answer that was begun is gone on with.
        begun = messages[-1].content if messages[-1].role == "assistant" else ""
        said = [{"role": m.role, "content": m.content} for m in (messages[:-1] if begun else messages)]
        prompt = self.pair.tokenizer.encode_chat(said, begun=begun)
        if not prompt:
            raise EmptyPrompt("There is nothing to answer.", "Type a question.")
        if max(prompt) >= self.pair.target.model.vocabulary:
            raise BadCheckpoint(
                "The tokenizer uses tokens that the model does not have.",
                "Download the model again, with all its files.",
            )
        if len(prompt) >= self.context:
            raise PromptTooLong(
                f"The conversation is {len(prompt):,} tokens long, and the context holds {self.context:,}.",
                "Shorten the message, start a new chat, or load the model with a larger context.",
            )
        rule = self._rule(drafter, options)
        rule = Replayed(rule, options.budgets) if options.budgets else rule
        writer = Writer(request, self.pair, drafter, prompt, options, rule, emit, started)

        def watch(done: int, total: int) -> None:
            if cancelled():
                raise Cancelled
            writer.read(done, total)

        stream = decode(
            TargetVerifier(
                self.pair.target,
                writer.sampler,
                max(options.log_probs or 0, ALTERNATIVES) if options.watch else options.log_probs,
                MOST_JUDGED if options.watch else 0,
                writer.show_pass,
            ),
            drafter,
            writer.sampler,
            prompt,
            rule,
            self.pair.tokenizer.eos_ids,
            options.max_new_tokens or self.context,
            watch,
        )
        try:
            for event in stream:
                writer.write(event)
                if writer.stop_string_found:
                    break
        except Cancelled:
            writer.cancelled = True
        except Exception:
            self.forget()
            raise
        finally:
            stream.close()
        return writer.finish()


class Writer:
    """Turns decoding's events into those of the protocol for one answer, and counts (DESIGN section 3)."""

    def __init__(
        self,
        request: int,
        pair: Pair,
        drafter: Drafter,
        prompt: list[int],
        options: protocol.Options,
        rule: Rule,
        emit: Emit,
        started: float,
    ) -> None:
        """started: when the question came, in time.perf_counter's seconds."""
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
        self._started = self._first = self._last = self._tree_shown = self._pass_shown = started
        self._read = 0
        self._characters = 0

    @property
    def stop_string_found(self) -> bool:
        return self._text.stopped

    def read(self, done: int, total: int) -> None:
        """The prefill has run `done` of `total` chunks."""
        if self.tokens:
            return
        unseen = len(self.prompt) - self.reused_tokens
        self._read = max(self._read, unseen * done // total)  # the draft reads it too, after the target
        self._emit(protocol.PrefillProgress(request=self.request, done=self._read, total=unseen))

    def show_pass(self, done: int, total: int) -> None:
        """The pass under way has run `done` of `total` layers."""
        if self.options.watch and time.perf_counter() - self._pass_shown >= TREE_INTERVAL_S:
            self._pass_shown = time.perf_counter()
            iteration = self.passes + 1
            self._emit(
                protocol.PassProgress(request=self.request, iteration=iteration, done=done, total=total)
            )

    def write(self, event: Event) -> None:
        match event:
            case Prefilled(token, log_probs):
                self._first = self._last = time.perf_counter()
                self._waited_s = self._model.waited_s
                self._moved_before = self._model.moved
                self._add([token], log_probs)
            case Grown(snapshot) if self.options.watch:
                if time.perf_counter() - self._tree_shown >= TREE_INTERVAL_S:
                    self._tree_shown = time.perf_counter()
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
        taken = len(pieces)
        moved = self._model.moved - self._moved_before
        self._moved_before += moved
        bonus = event.tokens[-1] if len(event.accepted) < taken else None
        self._emit(
            protocol.IterationDone(
                request=self.request,
                iteration=self.passes,
                tree=self._nodes(event.tree, root),
                accepted=event.accepted[:taken],
                bonus_token=bonus,
                bonus_text="" if bonus is None else self.pair.tokenizer.token_text(bonus),
                seconds=seconds,
                tokens=len(self.tokens),
                target_passes=self.passes,
                tokens_per_pass=(len(self.tokens) - 1) / self.passes,
                tokens_per_second=self._tokens_per_second() or 0.0,
                bytes_streamed=moved,
                judged=judged(event.judgement),
                committed=self._committed(start, pieces, event.log_probs) if self.options.watch else None,
            )
        )

    def _committed(self, start: int, pieces: list[str], log_probs: list[LogProbs]) -> protocol.Committed:
        tokens = {token for each in log_probs for token, _ in each.top}
        texts = {token: self.pair.tokenizer.token_text(token) for token in tokens}
        return committed(start, pieces, log_probs, texts)

    def finish(self) -> protocol.Answer:
        self._give(self._text.finish(self._decoder.flush()))
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
        """Take tokens up to the one that completes a stop string, if any; their texts."""
        pieces: list[str] = []
        certain = ""
        for token in tokens:
            self.tokens.append(token)
            pieces.append(self._decoder.step(token))
            certain += self._text.add(pieces[-1])
            if self._text.stopped:
                break
        self._give(certain)
        self._characters += sum(map(len, pieces))
        if self.options.log_probs is not None:
            self._log_probs += [
                protocol.TokenLogProbs(log_prob=each.log_prob, top=each.top[: self.options.log_probs])
                for each in log_probs[: len(pieces)]
            ]
        return pieces

    def _give(self, text: str) -> None:
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
