"""What a request says about the form of the answer: a schema, a regular expression, a grammar, a choice."""

from typing import Any

import msgspec
from msgspec import Struct

from engine.protocol import Constraint
from engine.server.faults import RequestFault, unsupported


class StructuredOutputs(Struct, forbid_unknown_fields=True, frozen=True):
    """vLLM's field: at most one of these."""

    json: dict[str, Any] | bool | str | None = None
    json_object: bool = False
    regex: str | None = None
    grammar: str | None = None
    choice: tuple[str, ...] = ()

    def constraint(self) -> Constraint | None:
        """Raises RequestFault if there are several."""
        found = []
        if self.json is not None:
            text = self.json if isinstance(self.json, str) else _text(self.json)
            found.append(Constraint(kind="json_schema", text=text))
        if self.json_object:
            found.append(Constraint(kind="json_object"))
        if self.regex is not None:
            found.append(Constraint(kind="regex", text=self.regex))
        if self.grammar is not None:
            found.append(Constraint(kind="grammar", text=self.grammar))
        if self.choice:
            found.append(Constraint(kind="choice", choices=self.choice))
        return one_of(found, "structured_outputs")


def constraint_of(form: dict[str, Any], name: str) -> Constraint | None:
    """Return the constraint that a `response_format` asks for; the schema may stand in it or in its
    `json_schema`. name: the field's name. Raises RequestFault."""
    match form:
        case {"type": "text"}:
            return None
        case {"type": "json_object"}:
            return Constraint(kind="json_object")
        case {"type": "json_schema", "json_schema": {"schema": dict() as schema}}:
            return Constraint(kind="json_schema", text=_text(schema))
        case {"type": "json_schema", "schema": dict() as schema}:
            return Constraint(kind="json_schema", text=_text(schema))
        case {"type": "json_schema"}:
            raise RequestFault(400, "bad_field", f"'{name}' has no schema.", name)
        case _:
            raise unsupported(name, f"The type {_text(form.get('type'))[:100]} of '{name}' is not supported.")


def one_of(constraints: list[Constraint], name: str) -> Constraint | None:
    """Return the only constraint, or None if there is none. name: the field to blame for several."""
    if len(constraints) > 1:
        raise RequestFault(400, "bad_field", f"'{name}' is not the only field that sets a form.", name)
    return constraints[0] if constraints else None


def _text(value: object) -> str:
    return msgspec.json.encode(value).decode()
