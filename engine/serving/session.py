"""A loaded pair and its conversation. A request contains the full list of messages; the answer comes as
protocol events.

Both models reuse the rows of the longest prefix that the new text shares with the text read before. This
module is independent of processes, windows and command lines.
"""

import secrets
import time
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import replace

from engine import protocol
from engine.constraint.constraints import Constraints
from engine.constraint.masks import Masks
from engine.decoding.cost import unknown
from engine.decoding.iteration import Event, commit, decode
from engine.decoding.verification import TargetVerifier
from engine.drafting import Drafter, DrafterParts, available, default_drafter, make_drafter
from engine.errors import Interrupted
from engine.model.interface import Progress
from engine.planner import Answered, TreePlan
from engine.prompt_cache import KnownRows
from engine.sampling import Sampler
from engine.serving.answer import AnswerWriter, Emit
from engine.serving.answer_figures import AnswerFigures, BegunAnswer
from engine.serving.pair import LoadedPair
from engine.serving.prompts import AnswerPrompt, answer_prompt
from engine.serving.samplers import sampler_of
from engine.serving.telemetry import ALTERNATIVES, MAX_JUDGED
from engine.serving.tree_rules import TreeRules
from engine.streaming.disk_watch import ignore_silence

# A round of a head takes about a millisecond, however small it is. With SmolLM2, whose pass takes four, 2
# cores reach 201 tokens/s with its EAGLE-3 head, and 268 without.
HEADS_PASS_S = 0.01  # heads are used by default if a pass of one row is predicted to take this long


class Cancelled(Exception):
    """Raised by a progress callback to end a pass; the answer's text so far is kept."""


class Session:
    """Answers one question at a time. Drafters are kept between answers, so that later answers use what they
    have learnt.

    Attributes: `begun`: what the last answer that an error ended had committed; None if that was nothing;
    `usual`: figures of the last complete answer, as in `AnswerFigures`.
    """

    def __init__(self, pair: LoadedPair, trees: TreePlan | None = None) -> None:
        """trees: what the pair's plan says of them; None: drafters begin with their defaults, and there is
        memory for any."""
        self.pair = pair
        self._trees = trees or TreePlan(None, protocol.MAX_BUDGET, unknown, unknown)
        self._drafters: dict[str, Drafter] = {}
        self._rules = TreeRules(pair, self._trees)
        self._constraints = Constraints(pair.tokenizer, pair.target.model.vocabulary)
        self.begun: BegunAnswer | None = None
        self.usual = Answered([], 0, 0.0, 0.0)

    def close(self) -> None:
        """Stop streaming weights; the session cannot answer afterwards."""
        for sequence in self.pair.sequences:
            sequence.model.close()

    @property
    def _known(self) -> list[KnownRows]:
        """What is kept of other texts, for each model and for the heads of each drafter."""
        of_models = [sequence.known for sequence in self.pair.sequences if sequence.known]
        return [*of_models, *(known for drafter in self._drafters.values() for known in drafter.known_rows)]

    @property
    def context(self) -> int:
        """Maximum number of tokens of prompt and answer together."""
        return self.pair.target.cache.capacity

    def drafter(self, name: str) -> Drafter:
        """Return the drafter called `name`, which may be "auto". Raises BadOption if it cannot run."""
        if name == "auto":
            heads_pay = self._trees.iteration_s(0) >= HEADS_PASS_S
            name = default_drafter(self.pair.draft is not None, heads_pay)
        if name not in self._drafters:
            pair = self.pair
            parts = DrafterParts(pair.target.model.vocabulary, pair.draft, pair.heads, pair.target)
            self._drafters[name] = make_drafter(name, parts)
        return self._drafters[name]

    def drafters(self) -> list[str]:
        return available(self.pair.draft is not None, self.pair.method)

    def _masks(self, options: protocol.Options, prompt: AnswerPrompt) -> Masks | None:
        """Return what constrains the answer, or None."""
        if options.constraint is None and options.thinking_budget is None:
            return None
        return self._constraints.masks(
            options.constraint,
            options.thinking_budget,
            prompt.before,
            prompt.beginning,
            frozenset(options.shown),
        )

    def _sampler(self, options: protocol.Options, prompt: AnswerPrompt) -> Sampler:
        """Return what chooses the tokens of the answer. Raises BadConstraint."""
        seed = secrets.randbits(63) if options.seed is None else options.seed
        first = None if prompt.beginning else len(prompt.tokens)
        sampler = sampler_of(options, seed, self.pair.tokenizer, first)
        return replace(sampler, masks=self._masks(options, prompt))

    def _verifier(
        self, options: protocol.Options, sampler: Sampler, show_pass: Progress, ahead: bool
    ) -> TargetVerifier:
        """Return what verifies the trees of an answer. show_pass: called during each pass over a tree. ahead:
        whether the drafter may go on meanwhile."""
        reported = options.log_probs
        if options.telemetry:
            reported = max(reported or 0, ALTERNATIVES)
        return TargetVerifier(
            self.pair.target,
            sampler,
            log_probs=reported,
            judged=MAX_JUDGED if options.telemetry else 0,
            progress=show_pass,
            ahead=ahead,
            reused=options.recording.reused_tokens if options.recording else None,
        )

    def forget(self) -> None:
        """Drop all rows of both models, because none can be trusted after an error."""
        self.pair.target.rewind(0)
        for drafter in self._drafters.values():
            drafter.rewind(0)

    def forget_conversation(self, conversation: str) -> None:
        """Drop all rows of both models if they belong to this conversation."""
        if any(known.reader == conversation for known in self._known):
            self.forget()

    def renew_drafters(self) -> None:
        """Drop all drafters with what they, and the rules for their trees, have learnt from earlier
        answers."""
        for drafter in self._drafters.values():
            drafter.rewind(0)
        self._drafters.clear()
        self._rules = TreeRules(self.pair, self._trees)

    def answer(
        self,
        request: protocol.Chat,
        emit: Emit,
        cancelled: Callable[[], bool],
        begun: BegunAnswer | None = None,
    ) -> protocol.Answer:
        """Answer a request; it is for this pair, whatever target it names. `emit` receives events meanwhile,
        in the order of the protocol. begun: what another session has committed of this answer; it goes on
        from there, or ends if this context is too small for that.

        `cancelled` is called once per chunk of a pass; when it returns true, or the pass is interrupted
        (`engine.interruption`), the answer ends with the text so far.

        Raises EmptyPrompt if there is nothing to answer; PromptTooLong if the prompt fills the context;
        BadOption if the drafter cannot run; BadConstraint if the constraint cannot be used, and DeadEnd if it
        allows no token at some place; BadCheckpoint if the tokenizer uses tokens that the model lacks;
        BadNumbers if the target computes numbers that are not finite; StreamBroken if streamed weights cannot
        be read, and DiskSilent if their disk does not answer. The session stays usable.
        """
        started = time.perf_counter()
        self.begun = begun
        options = request.options
        drafter = self.drafter(options.drafter)
        prompt = answer_prompt(request, self.pair.tokenizer, self.pair.target.model.vocabulary, self.context)
        for known in self._known:
            known.owner = request.conversation
        sampler = self._sampler(options, prompt)
        rule, ahead, hindrance = self._rules.of(drafter, options)
        most = options.recording.reused_tokens if options.recording else None
        figures = AnswerFigures(self.pair.target, started)
        writer = AnswerWriter(
            request,
            prompt,
            self.pair,
            drafter,
            figures,
            emit,
            seed=sampler.seed,
            reused_tokens=self.pair.target.align(prompt.tokens[:-1][:most]),
            hindrance=hindrance,
        )
        if begun is None:
            writer.begin()
        else:
            writer.resume(begun)
            commit(sampler, begun.tokens)
            if len(prompt.tokens) + len(begun.tokens) >= self.context:
                return writer.finish()

        def progress(done: int, total: int) -> None:
            if cancelled():
                raise Cancelled
            writer.read(done, total)

        stream = decode(
            self._verifier(options, sampler, writer.show_pass, ahead),
            drafter,
            sampler,
            [*prompt.tokens, *writer.tokens],
            rule,
            self.pair.tokenizer.eos_ids,
            (options.max_new_tokens or self.context) - len(writer.tokens),
            progress,
        )
        self._write(stream, writer)
        for sequence in self.pair.sequences:
            sequence.save()
        drafter.save()
        self.usual = figures.usual
        return writer.finish()

    def _write(self, stream: Generator[Event, None, None], writer: AnswerWriter) -> None:
        """Let `writer` send the events of an answer, up to where it ends."""
        streamer = self.pair.target.model.streamer
        if streamer:
            streamer.watch.on_silence = writer.show_silence
        try:
            with closing(stream):
                for event in stream:
                    writer.write(event)
                    if writer.is_ended:
                        break
        except (Cancelled, Interrupted):
            writer.cancelled = True
        except Exception:
            self.begun = writer.begun()
            self.forget()
            raise
        finally:
            if streamer:
                streamer.watch.on_silence = ignore_silence
