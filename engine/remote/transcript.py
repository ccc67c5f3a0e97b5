"""An answer while it arrives: from the pieces that a server sends to the events of the protocol."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from engine.protocol import (
    Answer,
    AnswerRemark,
    Committed,
    Event,
    FewLogProbs,
    IterationDone,
    Memory,
    Options,
    PrefillProgress,
    Seconds,
    Speculation,
    Step,
    StopReason,
    TextDelta,
    TokenLogProbs,
    TreeNodes,
    Withheld,
)
from engine.remote import figures
from engine.remote.errors import AnswerBroken, RequestRefused
from engine.remote.faults import said
from engine.remote.places import TokenPlaces
from engine.remote.reply import ReplyChoice, ReplyChunk, ReplyTimings, SpeculationFigures, TokenLogProb, Usage
from engine.remote.written_calls import WrittenCall

MOST_CHARACTERS = 16 << 20
_THOUGHT = "<think>"
_THOUGHT_END = "</think>\n\n"
_NO_TREE = TreeNodes(root_text="", tokens=[], parents=[], log_probs=[], sources=[], texts=[])
_LEAST = -1e4  # log-probability of what a server calls impossible


@dataclass(slots=True)
class _Told:
    """What a server has told so far beside the text."""

    usage: Usage = field(default_factory=Usage)
    timings: ReplyTimings = field(default_factory=ReplyTimings)
    speculation: SpeculationFigures | None = None
    finish_reason: str | None = None
    stop_string: str = ""


class ReplyTranscript:
    """Collects one answer. Its clock starts when it is made."""

    def __init__(self, request: int, options: Options, seed: int | None) -> None:
        self._request, self._options, self._seed = request, options, seed
        self._told = _Told()
        self._texts: list[str] = []
        self._length = 0  # of the text, in characters
        self._is_thinking = False
        self._calls: dict[int, WrittenCall] = {}  # by their place among the answer's calls
        self._tokens = 0
        self._token_ids: list[int] = []
        self._log_probs: list[TokenLogProbs] = []
        self._places = TokenPlaces()
        self._steps: list[Step] = []
        self._began = time.perf_counter()
        self._first: float | None = None
        self._last = self._began

    @property
    def is_finished(self) -> bool:
        """Whether the server has said why the answer ended."""
        return self._told.finish_reason is not None

    @property
    def tokens(self) -> int:
        return self._tokens

    @property
    def figures(self) -> SpeculationFigures | None:
        return self._told.speculation

    def add(self, chunk: ReplyChunk) -> Iterator[Event]:
        """Note a piece, and yield what it says. Raises RequestRefused if it is an error; AnswerBroken."""
        if chunk.error is not None or chunk.object == "error":
            words = said({"error": chunk.error} if chunk.error is not None else {"message": chunk.message})
            raise RequestRefused(
                f"The engine broke the answer off{words}.", "Ask again; what it wrote is kept."
            )
        told = self._told
        told.usage = chunk.usage or told.usage
        if chunk.metrics is not None:
            told.speculation = chunk.metrics.speculative_decoding or told.speculation
        if chunk.prompt_progress is not None:
            progress = chunk.prompt_progress
            yield PrefillProgress(
                request=self._request,
                done=max(0, progress.processed - progress.cache),
                total=max(0, progress.total - progress.cache),
            )
        for choice in chunk.choices:
            if choice.index == 0:
                yield from self._add(choice, chunk)
        if chunk.timings is not None:
            yield from self._note_timings(chunk.timings)

    def _add(self, choice: ReplyChoice, chunk: ReplyChunk) -> Iterator[Event]:
        told = self._told
        told.finish_reason = choice.finish_reason or told.finish_reason
        for ending in (choice.stop_reason, choice.matched_stop):
            if isinstance(ending, str) and ending in self._options.stop:
                told.stop_string = ending
        for piece in choice.delta.tool_calls or []:
            call = self._calls.setdefault(piece.index, WrittenCall())
            if piece.function is not None:
                call.add(piece.function)
        text = self._text_of(choice)
        listed = (choice.logprobs.content or []) if choice.logprobs else []
        if choice.token_ids:
            self._token_ids += choice.token_ids
        elif listed and all(entry.id is not None for entry in listed):
            self._token_ids += [entry.id or 0 for entry in listed]
        if not text and not listed and not choice.token_ids and not choice.delta.tool_calls:
            return
        now = time.perf_counter()
        self._first, self._last = self._first or now, now
        self._count(chunk, len(choice.token_ids or listed) or 1)
        committed = self._commit(text, listed) if self._options.log_probs is not None else None
        yield TextDelta(request=self._request, text=text, tokens=self._tokens, committed=committed)

    def _text_of(self, choice: ReplyChoice) -> str:
        """Return the new text, with marks around a thought. Raises AnswerBroken if it is endless."""
        delta = choice.delta
        thought = delta.reasoning_content or delta.reasoning or ""
        content = (delta.content or "") + (delta.refusal or "")
        parts = []
        if thought:
            parts += [thought] if self._is_thinking else [_THOUGHT, thought]
            self._is_thinking = True
        if content:
            parts += [_THOUGHT_END, content] if self._is_thinking else [content]
            self._is_thinking = False
        text = "".join(parts)
        self._texts.append(text)
        self._length += len(text)
        if self._length + sum(call.length for call in self._calls.values()) > MOST_CHARACTERS:
            raise AnswerBroken("The answer is endless.", "Set a maximum number of tokens, then ask again.")
        return text

    def _count(self, chunk: ReplyChunk, least: int) -> None:
        """Note the number of tokens so far: as the server counts, or else one for each piece."""
        counted = chunk.usage.completion_tokens if chunk.usage else None
        if counted is None and chunk.timings is not None:
            counted = chunk.timings.predicted_n
        self._tokens = counted if counted is not None else self._tokens + least

    def _commit(self, text: str, listed: list[TokenLogProb]) -> Committed | None:
        """Note the log-probabilities of tokens; return those whose characters are known."""
        entries = [
            TokenLogProbs(
                log_prob=_log_prob(entry.logprob),
                top=[
                    (-1 if other.id is None else other.id, _log_prob(other.logprob))
                    for other in entry.top_logprobs
                ],
            )
            for entry in listed
        ]
        self._log_probs += entries
        texts = [[other.token for other in entry.top_logprobs] for entry in listed]
        tokens = list(zip([entry.token for entry in listed], entries, texts, strict=True))
        return self._places.place(self._length, text, tokens)

    def _note_timings(self, timings: ReplyTimings) -> Iterator[Event]:
        """Note llama-server's figures, in which each step that drafted shows as a difference."""
        before, self._told.timings = self._told.timings, timings
        drafted = (timings.draft_n or 0) - (before.draft_n or 0)
        accepted = (timings.draft_n_accepted or 0) - (before.draft_n_accepted or 0)
        if drafted <= 0 or not 0 <= accepted <= drafted or self._first is None:
            return
        step = Step(drafted=drafted, accepted=accepted)
        self._steps.append(step)
        passes = self._passes(sum(each.accepted for each in self._steps), len(self._steps))
        yield IterationDone(
            request=self._request,
            iteration=len(self._steps),
            tree=_NO_TREE,
            accepted=[],
            bonus_token=None,
            bonus_text="",
            seconds=Seconds(),
            tokens=self._tokens,
            target_passes=passes,
            tokens_per_pass=(self._tokens - 1) / max(1, passes),
            tokens_per_second=self._speed() or 0.0,
            step=step,
        )

    def _passes(self, accepted: int, steps: int) -> int:
        # Each pass after the prefill gives the accepted tokens and one more, but for the last one.
        return max(self._tokens - 1 - accepted, steps, 0)

    def _speed(self) -> float | None:
        if self._first is None or self._tokens < 2 or self._last <= self._first:
            return None
        return (self._tokens - 1) / (self._last - self._first)

    def close(self) -> Iterator[Event]:
        """Yield what the answer's text still lacks: the closing mark of a thought with which it ended and, if
        it is complete, its calls."""
        text = _THOUGHT_END if self._is_thinking else ""
        self._is_thinking = False
        if self.is_finished:
            text += "".join(f"\n{call.text()}" for _, call in sorted(self._calls.items()))
        self._calls.clear()
        if text:
            self._texts.append(text)
            yield TextDelta(request=self._request, text=text, tokens=self._tokens)

    def answer(self, *, is_cancelled: bool = False, counted: Speculation | None = None) -> Answer:
        """Return the whole answer. counted: what the server's own counters say of its speculation."""
        told = self._told
        usage, timings = told.usage, told.timings
        if usage.completion_tokens is not None:
            self._tokens = usage.completion_tokens
        drafted, accepted = self._drafts()
        speculation = self._speculation(counted)
        passes = 0
        if speculation is not None and not speculation.with_others:
            passes = self._passes(speculation.accepted, speculation.steps or len(drafted))
        is_asked = self._options.log_probs is not None
        cached = usage.prompt_tokens_details.cached_tokens if usage.prompt_tokens_details else None
        return Answer(
            request=self._request,
            text="".join(self._texts),
            token_ids=self._token_ids if len(self._token_ids) == self._tokens else [],
            # llama-server tells them for the first token of a step only, if it drafts.
            log_probs=self._log_probs if len(self._log_probs) == self._tokens and is_asked else None,
            stop_reason="cancelled" if is_cancelled else self._stop_reason(),
            stop_string=told.stop_string,
            seed=self._seed,
            prompt_tokens=usage.prompt_tokens or ((timings.prompt_n or 0) + (timings.cache_n or 0)),
            reused_tokens=cached if cached is not None else timings.cache_n or 0,
            tokens=self._tokens,
            target_passes=passes,
            tokens_per_pass=(self._tokens - 1) / passes if passes else None,
            tokens_per_second=self._speed(),
            time_to_first_token_s=self._first - self._began if self._first is not None else None,
            seconds=Seconds(other=self._last - self._first if self._first is not None else 0.0),
            bytes_streamed=0,
            link_gb_per_s=None,
            memory=Memory(vram=0, ram=0, peak=0),
            drafter="",
            budget=0,
            budgets=[],
            drafted=drafted,
            accepted=accepted,
            speculation=speculation,
            remarks=list(self._remarks()),
        )

    def _remarks(self) -> Iterator[AnswerRemark]:
        if self._told.finish_reason == "content_filter":
            yield Withheld()
        told = len(self._log_probs)
        if self._options.log_probs is not None and told != self._tokens:
            yield FewLogProbs(told=told, tokens=self._tokens)

    def _drafts(self) -> tuple[list[int], list[int]]:
        """Return the drafted and the accepted tokens of each step; both are empty if that is not told."""
        told = self._told.speculation
        if told is not None and told.per_step_accepted:
            accepted = told.per_step_accepted
            drafted = told.per_step_drafted or []
            return (drafted, accepted) if len(drafted) == len(accepted) else ([], [])
        return [step.drafted for step in self._steps], [step.accepted for step in self._steps]

    def _speculation(self, counted: Speculation | None) -> Speculation | None:
        if self._told.speculation is not None:
            return figures.of_answer(self._told.speculation)
        timings = self._told.timings
        if timings.draft_n:
            return Speculation(
                steps=len(self._steps) or None,
                drafted=timings.draft_n,
                accepted=timings.draft_n_accepted or 0,
                per_position=figures.per_position([step.accepted for step in self._steps]),
            )
        return counted

    def _stop_reason(self) -> StopReason:
        if self._told.finish_reason == "length":
            most = self._options.max_new_tokens
            return "max_new_tokens" if most is not None and self._tokens >= most else "context_full"
        return "stop_string" if self._told.stop_string else "end_of_sequence"


def _log_prob(value: float | None) -> float:
    return min(0.0, max(_LEAST, value)) if value is not None else _LEAST
