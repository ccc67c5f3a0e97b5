"""Grammars of calls, which force an answer to be calls, or the calls in it to follow their schemas."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from engine.protocol import Constraint

# Between two words of JSON: one line break at most, and an indent. More, which the standard allows, is a
# trap: small models write empty lines until the answer has reached its length.
WHITE_SPACE = r"\r?\n[\x20\x09]{0,64}|[\x20\x09]{1,64}"
JsonSchema = dict[str, Any] | bool


@dataclass(frozen=True, slots=True)
class CallForm:
    """A call of one function: what stands before its arguments, the body of their rule, what stands after.
    rules: further rules that the body uses."""

    begin: str
    arguments: str
    end: str
    rules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CallForms:
    """All calls that an answer may have. begin, between, end: what stands around them. maybe: what may stand
    before all that."""

    calls: Sequence[CallForm]
    begin: str = ""
    between: str = ""
    end: str = ""
    maybe: str = ""


def forced(forms: CallForms, several: bool) -> Constraint:
    """Return the constraint that an answer is calls only: one, or several if that is allowed."""
    more = f"({quoted(forms.between)} call)*" if several else ""
    maybe = f"({quoted(forms.maybe)})?" if forms.maybe else ""
    start = f"start: {maybe} {quoted(forms.begin)} call {more} {quoted(forms.end)}"
    return _constraint([start, *_rules(forms.calls, "")])


def offered(forms: CallForms, mark: str, several: bool) -> Constraint:
    """Return the constraint that after `mark`, with which every call begins, a call follows its schema; all
    other text is free. several: whether there may be more than one; if not, the answer ends with it."""
    assert not forms.begin
    return _constraint(
        [
            "start: (marked call)* tail" if several else "start: marked call | tail",
            "tail: ANY",
            "ANY: /(.|\\n)*/",
            f"marked[lazy]: ANY {quoted(mark)}",
            *_rules(forms.calls, mark),
        ]
    )


def _rules(calls: Sequence[CallForm], read: str) -> list[str]:
    """read: how much of a call's beginning has been read."""
    rules = ["call: " + " | ".join(f"call_{index}" for index in range(len(calls)))]
    for index, form in enumerate(calls):
        begin = form.begin.removeprefix(read)
        rules += [
            f"call_{index}: {quoted(begin)} arguments_{index} {quoted(form.end)}",
            f"arguments_{index}: {form.arguments}",
            *form.rules,
        ]
    return rules


def _constraint(rules: list[str]) -> Constraint:
    return Constraint(kind="grammar", text="\n".join(rules))


def quoted(text: str) -> str:
    """Return `text` as a word of the grammar; nothing stands for the empty text."""
    return json.dumps(text, ensure_ascii=False) if text else ""


def json_rule(schema: JsonSchema) -> str:
    """Return the body of a rule for JSON that satisfies `schema`."""
    if isinstance(schema, bool):
        schema = {}
    return f"%json {json.dumps({**schema, 'x-guidance': {'whitespace_pattern': WHITE_SPACE}})}"
