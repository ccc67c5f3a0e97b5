"""Schemas and grammars that are damaged or explode: refused by name, or compiled, and soon."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

from engine.constraint.check import TIME_LIMIT_S, check
from engine.protocol import Constraint
from tests.campaign.attack import SURVIVED, Outcome, Try, Verdict
from tests.campaign.mutation import damaged, spoiled

FIXED = 12
NODE = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}, "n": {"type": "integer"}}}
MANY = {"type": "array", "items": {"anyOf": [{"type": "number"}, {"$ref": "#/$defs/node"}]}, "maxItems": 9}
SCHEMA: dict[str, Any] = {
    "$defs": {"node": NODE},
    "type": "object",
    "properties": {
        "name": {"type": "string", "pattern": "^[A-Z][a-z]{1,30}$", "maxLength": 40},
        "kind": {"enum": ["a", "b", "c"]},
        "many": MANY,
    },
    "required": ["name"],
}
GRAMMARS = (
    'start: "a" NAME+ (","  NAME)*\nNAME: /[a-z]{1,9}/\n',
    'root ::= "yes" | "no" root | [a-z]+ ("," root)?\n',
)
EXPRESSIONS = ("[A-Z][a-z]{3,9}!", "(a|b)*c{2,5}", r"\d{4}-\d\d-\d\d", "(x+x+)+y")


@contextmanager
def prepared(folder: Path) -> Iterator[Try]:
    def once(random: Random) -> Outcome:
        constraint = _constraint(random)
        began = time.monotonic()
        try:
            check(constraint)
        finally:
            seconds = time.monotonic() - began
        if seconds > TIME_LIMIT_S + 5:
            return Outcome(Verdict.RAW, f"{constraint.kind} took {seconds:.0f} s")
        return SURVIVED

    yield once


def _constraint(random: Random) -> Constraint:
    match random.randrange(5):
        case 0:
            return Constraint(kind="json_schema", text=json.dumps(_exploding(random)))
        case 1:
            return Constraint(kind="regex", text=_spoilt(random.choice(EXPRESSIONS), random))
        case 2:
            return Constraint(kind="grammar", text=_spoilt(random.choice(GRAMMARS), random))
        case _:
            return Constraint(kind="json_schema", text=spoiled(SCHEMA, random).decode("utf-8", "replace"))


def _spoilt(text: str, random: Random) -> str:
    return damaged(text.encode(), random).decode("utf-8", "replace")


def _exploding(random: Random) -> dict[str, Any]:
    """Return a schema that is far larger when it is compiled."""
    size = random.choice((10, 1_000, 30_000))
    match random.randrange(5):
        case 0:
            return {"enum": [f"{number:x}" for number in range(size)]}
        case 1:
            return {"type": "string", "minLength": size * size}
        case 2:
            return {"type": "array", "items": {"type": "integer"}, "minItems": size, "maxItems": size * size}
        case 3:
            return {
                "type": "object",
                "properties": {f"p{number}": {"type": "string"} for number in range(size)},
            }
        case _:
            nested: dict[str, Any] = {"type": "string"}
            for _ in range(min(size, 400)):
                nested = {"anyOf": [nested, {"type": "object", "properties": {"x": nested}}]}
                if len(json.dumps(nested)) > 500_000:
                    break
            return nested
