"""How a chat template lets a model be told whether, and how much, to think.

A template is a stranger's program. It is not run here, only its words are read, in linear time.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, get_args

from engine.protocol.requests import TemplateOption
from engine.protocol.thoughts import MARKS

Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
EFFORTS: tuple[Effort, ...] = get_args(Effort)  # the least first
ThoughtChoice = bool | Effort | None  # None: what the template does by itself
SWITCHES = ("enable_thinking", "thinking")  # templates know the variable under either name
EFFORT, BUDGET = "reasoning_effort", "thinking_budget"
OFF_WORDS = ("none", "no_think")  # efforts with which a model does not think
# What is known of a template that inserts any effort, as gpt-oss's does (openai/harmony, docs/format.md).
USUAL: tuple[Effort, ...] = ("low", "medium", "high")

_DELIMITER = re.compile(r"\{[%{#]|[%}#]\}")
_CLOSING = {"{%": "%}", "{{": "}}", "{#": "#}"}
_WORD = re.compile(r"""'(?:\\.?|[^'\\])*(?:'|\Z)|"(?:\\.?|[^"\\])*(?:"|\Z)|[\w.]+|[=!]=|\S""", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ThoughtControl:
    """What a chat template reads.

    switches: its variables that turn thinking on and off. efforts: those that it knows, the least first. off:
    the effort with which the model does not think, or "". has_budget: whether it takes a number of tokens.
    """

    switches: tuple[str, ...] = ()
    efforts: tuple[Effort, ...] = ()
    off: str = ""
    has_budget: bool = False

    @property
    def choices(self) -> tuple[ThoughtChoice, ...]:
        """What can be chosen; only None if the template leaves no choice."""
        if self.switches or self.off or self.has_budget:
            return (None, True, False, *(self.efforts if len(self.efforts) > 1 else ()))
        return (None, *self.efforts)

    def fitted(self, choice: ThoughtChoice) -> ThoughtChoice:
        """Return the one of `choices` that comes nearest to a choice made for another model."""
        choice = False if choice == "none" else choice
        if choice in self.choices:
            return choice
        if choice is False:
            return self.efforts[0] if self.efforts else None
        if isinstance(choice, str) and self.efforts and self.efforts[-1] in self.choices:
            return self._nearest(choice)
        return True if choice and True in self.choices else None

    def variables(self, choice: ThoughtChoice, budget: int | None = None) -> dict[str, TemplateOption]:
        """Return the template's variables for a choice. budget: most tokens of the thought, or None."""
        choice = self.fitted(choice)
        made: dict[str, TemplateOption] = {}
        if choice is not None:
            made |= dict.fromkeys(self.switches, choice is not False)
        if effort := self._effort(choice):
            made[EFFORT] = effort
        if self.has_budget and (choice is False or budget is not None):
            made[BUDGET] = 0 if choice is False or budget is None else budget
        return made

    def _effort(self, choice: ThoughtChoice) -> str:
        """Return the effort for one of `choices`; "": none is set."""
        if choice is False:
            return self.off
        if choice is True:
            return self._nearest("medium") if self.off and self.efforts else ""
        return choice or ""

    def _nearest(self, effort: Effort) -> Effort:
        """Return the nearest effort that the template knows; of two, the greater one."""
        rank = EFFORTS.index
        return min(self.efforts, key=lambda each: (abs(rank(each) - rank(effort)), -rank(each)))


@lru_cache(maxsize=8)
def control_of(template: str) -> ThoughtControl:
    """Return what a chat template reads."""
    blocks = list(_blocks(template))
    known = _efforts(blocks) if _reads(blocks, EFFORT) else set()
    return ThoughtControl(
        switches=tuple(name for name in SWITCHES if _reads(blocks, name)),
        efforts=tuple(effort for effort in EFFORTS if effort in known and effort not in OFF_WORDS),
        off=next((word for word in OFF_WORDS if word in known), ""),
        has_budget=_reads(blocks, BUDGET),
    )


def may_think(template: str) -> bool:
    """Return whether a model with this chat template may begin answers with a thought."""
    return len(control_of(template).choices) > 1 or any(mark in template for mark in MARKS)


def _blocks(template: str) -> Iterator[list[str]]:
    """Yield the words of each statement and expression of a template."""
    start, closing = 0, ""
    for found in _DELIMITER.finditer(template):
        if not closing and found[0] in _CLOSING:
            start, closing = found.end(), _CLOSING[found[0]]
        elif found[0] == closing:
            if closing != "#}":
                yield _WORD.findall(template, start, found.start())
            closing = ""


def _reads(blocks: list[list[str]], name: str) -> bool:
    """Return whether a template reads a variable that it has not set itself before, or asks if one is
    defined. Within a loop or a macro that binds the name, it stands for another variable."""
    is_own = False
    inner = 0  # loops and macros that are open, from the one that binds the name
    for words in blocks:
        statement = next((word for word in words if word not in "-+"), "")
        if inner:
            inner += (statement in ("for", "macro")) - (statement in ("endfor", "endmacro"))
            continue
        if name not in words:
            continue
        bound, read = _divided(statement, words)
        if _is_tested(read, name) or (not is_own and name in read):
            return True
        if name in bound:
            is_own |= statement == "set"
            inner = int(statement in ("for", "macro"))
    return False


def _divided(statement: str, words: list[str]) -> tuple[list[str], list[str]]:
    """Return the words of a statement that it binds, and those that it reads. A name before "=" is neither,
    but an argument's."""
    end = len(words) if statement == "set" else 0  # without "=", it sets a block
    divider = {"set": "=", "for": "in"}.get(statement, "")
    if divider in words:
        end = words.index(divider)
    bound, read = words[:end], []
    behind = words[end:]
    for before, word, following in zip(["", *behind], behind, [*behind[1:], ""], strict=False):
        if statement == "macro" and before in ("(", ","):
            bound.append(word)
        elif following != "=":
            read.append(word)
    return bound, read


def _is_tested(words: list[str], name: str) -> bool:
    """Return whether words ask if a variable is defined."""
    tests = (["is", "defined"], ["is", "undefined"], ["is", "not", "defined"])
    places = (place for place, word in enumerate(words, 1) if word == name)
    return any(words[place : place + len(test)] == test for place in places for test in tests)


def _efforts(blocks: list[list[str]]) -> set[str]:
    """Return the efforts that a template knows: those that it checks for, or else names in statements that
    compare them; the usual ones if it inserts any."""
    named: set[str] = set()
    is_compared = False
    for words in blocks:
        if not any("effort" in word and word[0] not in "'\"" for word in words):
            continue
        if checked := _checked(words):
            return checked
        here = _texts(words)
        is_compared |= bool(here) and not {"==", "!=", "in"}.isdisjoint(words)
        named |= here
    return named if is_compared else set(USUAL)


def _checked(words: list[str]) -> set[str]:
    """Return the efforts in the list of “… not in [...]”, with which a template refuses all others."""
    for place in range(len(words) - 2):
        if words[place : place + 2] == ["not", "in"] and words[place + 2] in "[(":
            listed = words[place + 3 :]
            end = next((index for index, word in enumerate(listed) if word in "])"), len(listed))
            return _texts(listed[:end])
    return set()


def _texts(words: list[str]) -> set[str]:
    """Return the efforts that occur as texts."""
    return {word[1:-1] for word in words if word[0] in "'\"" and word[1:-1] in (*EFFORTS, *OFF_WORDS)}
