"""An answer in progress: converts decoding events to protocol events, and token ids to text."""

from collections.abc import Callable

from engine import protocol
from engine.decoding.iteration import Event, Grown, Iterated, Prefilled
from engine.decoding.regrowth import grown_tree
from engine.decoding.verdict import LogProbs
from engine.drafting import Drafter
from engine.serving.answer_figures import AnswerFigures, BegunAnswer
from engine.serving.answer_text import AnswerText
from engine.serving.pair import LoadedPair
from engine.serving.prompts import AnswerPrompt
from engine.serving.telemetry import Pace, committed, judged
from engine.tree import TokenTree

Emit = Callable[[protocol.Event], None]


class AnswerWriter:
    """Converts the decoding events of one answer to protocol events.

    Attributes: `tokens`, those of the answer so far; `cancelled`, set by the session if the answer ends
    because of that.
    """

    def __init__(
        self,
        request: protocol.Chat,
        prompt: AnswerPrompt,
        pair: LoadedPair,
        drafter: Drafter,
        figures: AnswerFigures,
        emit: Emit,
        *,
        seed: int,
        reused_tokens: int,
        hindrance: protocol.Hindrance | None = None,
    ) -> None:
        """figures: those of this answer, all zero. seed: with which tokens are chosen. reused_tokens: number
        of tokens at the start of the prompt whose rows are in the target's cache. hindrance: why draft and
        target take turns although they were to overlap."""
        self.cancelled = False
        self._request = request
        self._prompt = prompt
        self._pair = pair
        self._drafter = drafter
        self._figures = figures
        self._emit = emit
        self._seed = seed
        self._reused_tokens = reused_tokens
        self._hindrance = hindrance
        self._not_reread = reused_tokens  # fewer than there are rows for, where heads read more anew
        self._is_resumed = False
        self._text = AnswerText(request.options, pair.tokenizer, prompt.thought, prompt.beginning)
        self._trees: list[protocol.GrownTree] = []
        self._log_probs: list[protocol.TokenLogProbs] = []
        self._tree_pace, self._pass_pace = Pace(), Pace()
        self._read = 0

    @property
    def tokens(self) -> list[int]:
        return self._text.tokens

    @property
    def is_ended(self) -> bool:
        """Whether a stop string or a loop has ended the answer."""
        return self._text.is_ended

    def begun(self) -> BegunAnswer | None:
        """Return what the answer has committed and counted so far; None if that is nothing."""
        return self._figures.begun(self.tokens, self._log_probs) if self.tokens else None

    def begin(self) -> None:
        """Report that the prompt is about to be read."""
        self._emit(
            protocol.AnswerBegun(
                request=self._request.id,
                prompt_tokens=len(self._prompt.tokens),
                reused_tokens=self._reused_tokens,
                thought=self._prompt.thought,
            )
        )

    def resume(self, begun: BegunAnswer) -> None:
        """Go on behind what another pair had committed. Its text has been sent already."""
        self._is_resumed = True
        for token in begun.tokens:
            self._text.add(token, seconds=0.0)
        self._log_probs = begun.log_probs
        self._figures.resume(begun)

    def read(self, done: int, total: int) -> None:
        """Report that the prefill has run `done` of `total` chunks."""
        if self.tokens:
            return
        unseen = len(self._prompt.tokens) - self._reused_tokens
        # After the target, the draft reads the prompt too, with a count of its own: never go back.
        self._read = max(self._read, unseen * done // total)
        self._emit(protocol.PrefillProgress(request=self._request.id, done=self._read, total=unseen))

    def show_pass(self, done: int, total: int) -> None:
        """Report that the current pass has run `done` of `total` layers."""
        if self._request.options.telemetry and self._pass_pace.is_due:
            number = self._figures.passes + 1
            with self._pass_pace:
                self._emit(
                    protocol.PassProgress(request=self._request.id, iteration=number, done=done, total=total)
                )

    def show_silence(self, seconds: float) -> None:
        """Report for how long the disk with streamed weights has not answered; see `DiskWatch.on_silence`.
        May be called on the thread of a pass."""
        self._emit(protocol.DiskSilence(request=self._request.id, seconds=seconds))

    def write(self, event: Event) -> None:
        """Send what a decoding event adds to the answer."""
        match event:
            case Prefilled(token, log_probs, limits, reused):
                self._trees.append(grown_tree(limits))
                if self.tokens:  # resumed
                    self._figures.note_reread()
                else:
                    self._figures.note_prefill()
                    self._not_reread = reused
                self._add([token], log_probs)
            case Grown(snapshot) if self._request.options.telemetry and self._tree_pace.is_due:
                number = self._figures.passes + 1
                with self._tree_pace:
                    tree = self._nodes(snapshot(), self.tokens[-1])
                    self._emit(protocol.TreeGrown(request=self._request.id, iteration=number, tree=tree))
            case Iterated():
                self._iteration(event)

    def _iteration(self, event: Iterated) -> None:
        root, start = self.tokens[-1], self._text.characters
        self._trees.append(grown_tree(event.grown))
        took = self._figures.note_pass(event)
        pieces = self._add(event.tokens, event.log_probs)
        count, passes = len(pieces), self._figures.passes
        self._figures.note_committed(min(count, len(event.accepted)), count)
        bonus = event.tokens[-1] if len(event.accepted) < count else None
        telemetry = self._request.options.telemetry
        self._emit(
            protocol.IterationDone(
                request=self._request.id,
                iteration=passes,
                tree=self._nodes(event.tree, root),
                accepted=event.accepted[:count],
                bonus_token=bonus,
                bonus_text="" if bonus is None else self._pair.tokenizer.token_text(bonus),
                seconds=took.seconds,
                tokens=len(self.tokens),
                target_passes=passes,
                tokens_per_pass=(len(self.tokens) - 1) / passes,
                tokens_per_second=self._figures.tokens_per_second(len(self.tokens)) or 0.0,
                bytes_streamed=took.moved,
                experts=took.experts,
                survivors=event.survivors,
                grown_ahead=event.ahead,
                ahead_s=event.ahead_s,
                judged=judged(event.judgement),
                committed=self._committed(start, pieces, event.log_probs) if telemetry else None,
            )
        )

    def _committed(self, start: int, pieces: list[str], log_probs: list[LogProbs]) -> protocol.Committed:
        tokens = {token for entry in log_probs for token, _ in entry.top}
        texts = {token: self._pair.tokenizer.token_text(token) for token in tokens}
        return committed(start, pieces, log_probs, texts)

    def finish(self) -> protocol.Answer:
        """Send the rest of the text; return the answer."""
        self._send(self._text.finish())
        figures, tokens = self._figures, len(self.tokens)
        return protocol.Answer(
            request=self._request.id,
            text=self._text.released,
            token_ids=self.tokens,
            log_probs=None if self._request.options.log_probs is None else self._log_probs,
            stop_reason=self._stop_reason(),
            stop_string=self._text.stop_string,
            seed=self._seed,
            prompt_tokens=len(self._prompt.tokens),
            reused_tokens=self._reused_tokens,
            tokens=tokens,
            target_passes=figures.passes,
            tokens_per_pass=(tokens - 1) / figures.passes if figures.passes else None,
            tokens_per_second=figures.tokens_per_second(tokens),
            time_to_first_token_s=figures.to_first_s if tokens else None,
            seconds=figures.seconds,
            bytes_streamed=figures.moved,
            experts=figures.experts,
            link_gb_per_s=figures.link_gb_per_s if tokens else None,
            memory=self._pair.memory,
            drafter=self._drafter.name,
            budget=max(figures.budgets, default=0),
            budgets=figures.budgets,
            drafted=figures.drafted,
            accepted=figures.accepted,
            recording=self._recording(),
            remarks=self._remarks(),
            thought=self._prompt.thought,
            thought_tokens=self._text.thought_tokens,
            thought_s=self._text.thought_s,
        )

    def _remarks(self) -> list[protocol.AnswerRemark]:
        if self._hindrance is None:
            return []
        return [protocol.TookTurns(why=self._hindrance, drafter=self._drafter.name)]

    def _recording(self) -> protocol.AnswerRecording | None:
        if self._pair.target.model.rounds_alike or self._is_resumed:
            return None
        return protocol.AnswerRecording(reused_tokens=self._not_reread, trees=self._trees)

    def _add(self, tokens: list[int], log_probs: list[LogProbs]) -> list[str]:
        """Add tokens up to the one that completes a stop string or a loop, if any; return their texts."""
        start = self._text.characters
        pieces: list[str] = []
        released = ""
        for token in tokens:
            piece, more = self._text.add(token, self._figures.since_first_s)
            pieces.append(piece)
            released += more
            if self.is_ended:
                break
        requested = None
        if (most := self._request.options.log_probs) is not None:
            entries = [LogProbs(entry.log_prob, entry.top[:most]) for entry in log_probs]
            requested = self._committed(start, pieces, entries)
            self._log_probs += requested.log_probs
        self._send(released, requested)
        return pieces

    def _send(self, text: str, committed: protocol.Committed | None = None) -> None:
        if text or committed is not None:
            self._emit(
                protocol.TextDelta(
                    request=self._request.id, text=text, tokens=len(self.tokens), committed=committed
                )
            )

    def _stop_reason(self) -> protocol.StopReason:
        if self._text.stop_string:
            return "stop_string"
        if self._text.is_loop:
            return "repetition"
        if self.cancelled:
            return "cancelled"
        if self.tokens and self.tokens[-1] in self._pair.tokenizer.eos_ids:
            return "end_of_sequence"
        if len(self._prompt.tokens) + len(self.tokens) >= self._pair.target.cache.capacity:
            return "context_full"
        return "max_new_tokens"

    def _nodes(self, tree: TokenTree, root: int) -> protocol.TreeNodes:
        token_text = self._pair.tokenizer.token_text
        tokens: list[int] = tree.tokens.tolist()
        return protocol.TreeNodes(
            root_text=token_text(root),
            tokens=tokens,
            parents=tree.parents.tolist(),
            log_probs=tree.log_probs.tolist(),
            sources=tree.sources.tolist(),
            texts=[token_text(token) for token in tokens],
        )
