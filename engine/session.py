"""One loaded pair and its conversation: full list of messages in, protocol events out.

What both models have seen of the longest common prefix is reused. Turns token ids into text and applies the
rules that end an answer; knows nothing of processes, windows or command lines.
"""

import time
from collections.abc import Callable
from dataclasses import replace

from engine import protocol
from engine.budget import AutoLimits, FixedLimits, Overridden, Replayed
from engine.decoding import Rule, decode
from engine.drafting import Drafter, Parts, available, default_drafter, make_drafter
from engine.errors import BadCheckpoint, EmptyPrompt, PromptTooLong
from engine.pair import Pair
from engine.verification import TargetVerifier
from engine.watching import ALTERNATIVES, MOST_JUDGED
from engine.writing import Emit, Writer


class Cancelled(Exception):
    """Raised by a watch to end a pass; the answer's text so far is kept."""


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
            name = default_drafter(self.pair.draft is not None)
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
