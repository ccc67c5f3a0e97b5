"""A loaded pair and its conversation. A request contains the full list of messages; the answer comes as
protocol events.

Both models reuse the rows of the longest prefix that the new text shares with the text read before. This
module converts token ids to text and applies the rules that end an answer; it is independent of processes,
windows and command lines.
"""

import secrets
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import closing
from dataclasses import replace

from engine import firsts, protocol
from engine.constraint.constraints import Constraints
from engine.constraint.masks import Masks
from engine.decoding.ahead import Payoff, ahead_rule
from engine.decoding.budget import BUDGETS, START, AutoLimits, FixedLimits, Overridden, Replayed
from engine.decoding.chain_length import ChainLength
from engine.decoding.cost import WorkDone, unknown
from engine.decoding.iteration import Event, Rule, commit, decode
from engine.decoding.regrowth import Regrown
from engine.decoding.verification import TargetVerifier
from engine.drafting import Drafter, DrafterParts, available, default_drafter, make_drafter
from engine.errors import BadCheckpoint, BadOption, EmptyPrompt, Interrupted, PromptTooLong
from engine.model.interface import Progress
from engine.model.sequence import Sequence
from engine.planner import TreePlan
from engine.prompt_cache import KnownRows
from engine.protocol import thoughts
from engine.sampling import Sampler
from engine.serving.answer import AnswerPrompt, AnswerWriter, Emit
from engine.serving.answer_figures import AnswerFigures, BegunAnswer
from engine.serving.pair import LoadedPair
from engine.serving.samplers import sampler_of
from engine.serving.telemetry import ALTERNATIVES, MAX_JUDGED
from engine.serving.template_input import NO_INPUT, is_empty, template_message, template_tool
from engine.streaming.disk_watch import ignore_silence

# A round of a head takes about a millisecond, however small it is. With SmolLM2, whose pass takes four, 2
# cores reach 201 tokens/s with its EAGLE-3 head, and 268 without.
HEADS_PASS_S = 0.01  # heads are used by default if a pass of one row is predicted to take this long


PROMPT_END = 16  # tokens at the end of a prompt that may hold an opening mark


class Cancelled(Exception):
    """Raised by a progress callback to end a pass; the answer's text so far is kept."""


class Session:
    """Answers one question at a time. Drafters are kept between answers, so that later answers use what they
    have learnt.

    Attribute: `begun`: what the last answer that an error ended had committed; None if that was nothing.
    """

    def __init__(self, pair: LoadedPair, trees: TreePlan | None = None) -> None:
        """trees: what the pair's plan says of them; None: drafters begin with their defaults, and there is
        memory for any."""
        self.pair = pair
        self._trees = trees or TreePlan(None, protocol.MAX_BUDGET, unknown, unknown)
        self._drafters: dict[str, Drafter] = {}
        self._rules: dict[str, Rule] = {}
        self._payoffs: dict[str, Payoff] = {}  # by drafter: whether it pays that it goes on in passes
        self._constraints = Constraints(pair.tokenizer, pair.target.model.vocabulary)
        self.begun: BegunAnswer | None = None

    def close(self) -> None:
        """Stop streaming weights; the session cannot answer afterwards."""
        for sequence in self._sequences:
            sequence.model.close()

    @property
    def _sequences(self) -> list[Sequence]:
        return [each for each in (self.pair.target, self.pair.draft) if each]

    @property
    def _known(self) -> list[KnownRows]:
        """What is kept of other texts, for each model and for the heads of each drafter."""
        of_models = [sequence.known for sequence in self._sequences if sequence.known]
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

    def _encoded(
        self,
        conversation: list[protocol.Message],
        template: protocol.TemplateInput,
        begun: str = "",
        shown: Iterable[str] = (),
    ) -> list[int]:
        return self.pair.tokenizer.encode_chat(
            [template_message(message) for message in conversation],
            begun=begun,
            tools=[template_tool(tool) for tool in template.tools],
            options=template.options,
            shown=shown,
        )

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

    @property
    def _most(self) -> int:
        """How many nodes a tree may have: as many as there is memory for in the plan, and as a pass of each
        model has room for beside the root."""
        rows = [each.cache.pass_rows for each in self._sequences]
        return min([self._trees.most, *(each - 1 for each in rows if each is not None)])

    def _rule(self, drafter: Drafter, options: protocol.Options) -> Rule:
        """Return the rule that sets the limits of each tree: those that the user fixed, or limits learned for
        this drafter on this machine.

        Raises BadOption if the user fixed a budget for which there is no memory. Where one is only replayed,
        trees are as large as there is memory for, which changes no token.
        """
        most = self._most
        requested = {"budget": options.budget, "beams": options.beams, "depth": options.depth}
        fixed = {name: limit for name, limit in requested.items() if limit is not None}
        if drafter.defaults.budget == 0:
            return FixedLimits(drafter.defaults)
        if options.budget is not None and options.budget > most:
            raise BadOption(
                f"There is no memory for trees of {options.budget:,} nodes: they may have {most:,}.",
                "Set a smaller --budget, or leave it to the engine; or close other programs and load the "
                "model again.",
            )
        default = replace(drafter.defaults, budget=min(drafter.defaults.budget, most))
        if "budget" in fixed or (drafter.needs.rejection and not drafter.is_chain):
            return FixedLimits(replace(default, **fixed))
        if drafter.name not in self._rules:
            most = min(most, (self.pair.target.model.tree_rows or BUDGETS[-1] + 1) - 1)
            planned = self._trees.first or default.budget
            first = replace(default, budget=min(max(START, planned), most))
            self._rules[drafter.name] = (
                ChainLength(default)
                if drafter.is_chain
                else AutoLimits(first, most, self._trees.computing_s, self._work)
            )
        rule = self._rules[drafter.name]
        if isinstance(rule, AutoLimits):
            rule.begin()
        return Overridden(rule, fixed) if fixed else rule

    def _rule_for(self, drafter: Drafter, options: protocol.Options) -> tuple[Rule, bool]:
        """Return the rule that sets the limits of each tree of an answer, and whether the drafter may go on
        while the target verifies. Raises BadOption."""
        rule = self._rule(drafter, options)
        if options.recording:
            return Regrown(rule, options.recording, self._most), False
        if options.budgets:
            rule = Replayed(rule, [min(budget, self._most) for budget in options.budgets])
        ahead = ahead_rule(options.overlap, drafter, self.pair.target.model, rule, self._payoffs)
        return (rule, False) if ahead is None else (ahead, True)

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

    def _work(self) -> WorkDone:
        """Return what the models have done so far."""
        experts = self.pair.target.model.experts
        return WorkDone(experts.misses if experts else 0, firsts.count())

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
        self._rules.clear()
        self._payoffs.clear()

    def tokens_of(
        self,
        messages: list[protocol.Message],
        prompt: str | None = None,
        template: protocol.TemplateInput = NO_INPUT,
        shown: Iterable[str] = (),
    ) -> list[int]:
        """Return the token ids of a chat, or of `prompt` instead. May be called while an answer is in
        progress. shown: as in `Options`.

        Raises EmptyPrompt if there is nothing to answer; BadOption if the chat template refuses the messages.
        """
        nothing = EmptyPrompt("There is nothing to answer.", "Type a question.")
        if prompt is not None:
            tokens = self.pair.tokenizer.encode_prompt(prompt)
        elif not messages or is_empty(messages[-1]):
            raise nothing
        else:
            begun = protocol.begun_in(messages)
            tokens = self._encoded(messages[:-1] if begun else messages, template, begun, shown)
        if not tokens:
            raise nothing
        return tokens

    def _checked_tokens(self, request: protocol.Chat) -> list[int]:
        """Return the token ids of a request's prompt. Raises the errors of `answer` about them and about the
        tokens that the options name."""
        options, vocabulary = request.options, self.pair.target.model.vocabulary
        tokens = self.tokens_of(request.messages, request.prompt, request.template, options.shown)
        if max(tokens) >= vocabulary:
            raise BadCheckpoint(
                "The tokenizer uses tokens that the model does not have.",
                "Download the model again, with all its files.",
            )
        if beyond := [token for token in options.logit_bias if token >= vocabulary]:
            raise BadOption(
                f"There is no token {beyond[0]}: the model has {vocabulary:,}.",
                "Correct --logit-bias.",
            )
        if len(tokens) >= self.context:
            raise PromptTooLong(
                f"The conversation is {len(tokens):,} tokens long, but the context holds {self.context:,}.",
                "Shorten the message, start a new chat, or load the model with a larger context.",
            )
        return tokens

    def _prompt(self, request: protocol.Chat) -> AnswerPrompt:
        """Return what the answer to a request follows."""
        tokens = self._checked_tokens(request)
        if request.prompt is not None:
            return AnswerPrompt(tokens, before=tokens, beginning="", thought="")
        before, beginning = tokens, protocol.begun_in(request.messages)
        if beginning:
            shown = request.options.shown
            before = self._encoded(request.messages[:-1], request.template, shown=shown)
        end = self.pair.tokenizer.decode_all(before[-PROMPT_END:])
        return AnswerPrompt(tokens, before, beginning, thoughts.opened(end))

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
        prompt = self._prompt(request)
        for known in self._known:
            known.owner = request.conversation
        sampler = self._sampler(options, prompt)
        rule, ahead = self._rule_for(drafter, options)
        most = options.recording.reused_tokens if options.recording else None
        writer = AnswerWriter(
            request,
            prompt,
            self.pair,
            drafter,
            AnswerFigures(self.pair.target, started),
            emit,
            seed=sampler.seed,
            reused_tokens=self.pair.target.align(prompt.tokens[:-1][:most]),
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
        for sequence in self._sequences:
            sequence.save()
        drafter.save()
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
