"""The thought with which some models begin an answer: where it starts and ends, and a budget of its tokens.

A constraint concerns the answer, so it begins after the thought. The budget is a function of the path, as
every mask is: once so many tokens of the thought are written, the tokens of the closing mark are the only
ones allowed, one after another.

gpt-oss answers in channels: a header names the one that follows, and only the final one is constrained.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from engine.constraint.masks import NOTHING, Bits, PathState, packed, united


@dataclass(frozen=True, slots=True)
class ThoughtRules:
    """What concerns all thoughts of a model.

    tokens: the bytes of each token; marks: the closing mark by the opening one; closings: the tokens of each
    closing mark; openers: the tokens that are an opening mark by themselves; spelled: the opening marks of
    several tokens, of which the first has no other meaning; spell: gives the tokens of a text; no_ends: every
    token that does not end a text; answers: the state behind a thought, by its opening mark; is_bound:
    whether the answer proper is constrained; budget: the maximum number of tokens of a thought, or None.
    """

    tokens: Sequence[bytes]
    marks: Mapping[bytes, bytes]
    closings: Mapping[bytes, Sequence[int]]
    openers: Bits
    spelled: Sequence[bytes]
    spell: Callable[[str], Sequence[int]]
    no_ends: Bits
    answers: Mapping[bytes, PathState]
    is_bound: bool
    budget: int | None

    def text_of(self, token: int) -> bytes:
        """Return the bytes of a token; the model's table may have rows that are none."""
        return self.tokens[token] if token < len(self.tokens) else b""

    def next_of(self, text: bytes) -> int:
        """Return the token with which `text`, the rest of a mark, usually begins."""
        return self.spell(text.decode())[0]


@dataclass(frozen=True, slots=True)
class Headed(PathState):
    """The state before what is left of a header, behind which the answer begins."""

    rules: ThoughtRules
    left: bytes
    answer: PathState

    def allowed(self) -> Bits:
        return packed([self.rules.next_of(self.left)])

    def guess(self) -> int:
        return self.rules.next_of(self.left)

    def after(self, token: int) -> PathState | None:
        text = self.rules.text_of(token)
        if not text or not self.left.startswith(text):
            return None
        return replace(self, left=self.left[len(text) :]) if text != self.left else self.answer


@dataclass(frozen=True, slots=True)
class Before(PathState):
    """The state before it is known whether the text begins with a thought. text: the text so far; answer: the
    state of the answer if it is none, or None if it must be one."""

    rules: ThoughtRules
    answer: PathState | None
    text: bytes = b""

    def allowed(self) -> Bits | None:
        bits = self.answer.allowed() if self.answer else NOTHING
        if bits is None:
            return None
        if not self.text:
            bits = united(bits, self.rules.openers)
        begun = [mark for mark in self.rules.spelled if mark.startswith(self.text)]
        return united(bits, packed(self.rules.next_of(mark[len(self.text) :]) for mark in begun))

    def guess(self) -> int | None:
        return self.answer.guess() if self.answer else None

    def after(self, token: int) -> PathState | None:
        text = (self.text + self.rules.text_of(token)).lstrip()
        for opening in self.rules.marks:
            if text.startswith(opening):
                return Inside(self.rules, opening, text[len(opening) :])
        answer = self.answer.after(token) if self.answer else None
        known = self.rules.marks if answer else self.rules.spelled
        if any(opening.startswith(text) for opening in known):
            return replace(self, answer=answer, text=text)
        return answer


@dataclass(frozen=True, slots=True)
class Inside(PathState):
    """The state within a thought. end: the last bytes of its text; count: the number of its tokens."""

    rules: ThoughtRules
    opening: bytes
    end: bytes = b""
    count: int = 0

    def allowed(self) -> Bits | None:
        if self.rules.budget is not None and self.count >= self.rules.budget:
            return packed(self.rules.closings[self.opening][:1])
        return self.rules.no_ends if self.rules.is_bound else None

    def after(self, token: int) -> PathState | None:
        if self.rules.budget is not None and self.count >= self.rules.budget:
            return Closing(self.rules, self.opening, 0).after(token)
        closing = self.rules.marks[self.opening]
        end = self.end + self.rules.text_of(token)
        if closing in end:
            return self.rules.answers[self.opening]
        return replace(self, end=end[1 - len(closing) :], count=self.count + 1)


@dataclass(frozen=True, slots=True)
class Closing(PathState):
    """The state after `done` tokens of a closing mark that the budget has forced."""

    rules: ThoughtRules
    opening: bytes
    done: int

    @property
    def _tokens(self) -> Sequence[int]:
        return self.rules.closings[self.opening]

    def allowed(self) -> Bits:
        return packed([self._tokens[self.done]])

    def after(self, token: int) -> PathState | None:
        if token != self._tokens[self.done]:
            return None
        done = self.done + 1
        return replace(self, done=done) if done < len(self._tokens) else self.rules.answers[self.opening]
