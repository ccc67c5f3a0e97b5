"""The functions that a request offers to the model, and how it is to use them."""

import json
from dataclasses import dataclass
from typing import Any, Literal

from engine.protocol import Tool

NAME_LIMIT = 128  # characters; both interfaces allow 64 to 128


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A function. schema: the JSON schema of its arguments. strict: whether every call must follow it."""

    name: str
    description: str
    schema: dict[str, Any]
    strict: bool = False

    @property
    def quoted_name(self) -> str:
        return json.dumps(self.name, ensure_ascii=False)

    @property
    def properties(self) -> dict[str, Any]:
        found = self.schema.get("properties")
        return found if isinstance(found, dict) else {}

    @property
    def takes_any(self) -> bool:
        """Whether the schema names no arguments, and forbids none."""
        return not self.properties and self.schema.get("additionalProperties") is not False

    @property
    def required(self) -> list[str]:
        found = self.schema.get("required")
        return found if isinstance(found, list) else []

    def as_tool(self) -> Tool:
        parameters = json.dumps(self.schema, ensure_ascii=False)
        return Tool(name=self.name, description=self.description, parameters=parameters)


@dataclass(frozen=True, slots=True)
class ToolOffer:
    """What a request offers. choice: "auto": text or calls; "required": calls only. several: whether there
    may be more than one call. named: the only function that may be called, or ""."""

    tools: tuple[OfferedTool, ...] = ()
    choice: Literal["auto", "required"] = "auto"
    several: bool = True
    named: str = ""

    @property
    def callable(self) -> list[OfferedTool]:
        return [tool for tool in self.tools if self.named in ("", tool.name)]


NO_OFFER = ToolOffer()
