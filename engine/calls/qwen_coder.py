"""`<tool_call><function=…><parameter=…>…</parameter></function></tool_call>`: Qwen 3 Coder.

Values are written without quotes; the schema says what they are.
"""

import json
from typing import Any

import msgspec

from engine.calls.grammar import CallForm, CallForms, json_rule, quoted
from engine.calls.offer import OfferedTool
from engine.calls.reader import CallReader, Reading

OPENING, CLOSING = "<tool_call>", "</tool_call>"
FUNCTION, END_FUNCTION = "<function=", "</function>"
PARAMETER, END_PARAMETER = "<parameter=", "</parameter>"


class QwenCoderReader(CallReader):
    marks = (OPENING, FUNCTION)

    def __init__(self, tools: list[OfferedTool]) -> None:
        self._types = {tool.name: types_of(tool) for tool in tools}
        super().__init__()

    def call(self, mark: str) -> Reading[str]:
        held = mark
        while not held.endswith(FUNCTION):
            held += yield from self.next(held)
            if not FUNCTION.startswith(held.removeprefix(OPENING).lstrip()):
                self.emit("text", held)
                return ""
        name = ""
        while not name.endswith(">"):
            name += yield from self.next(held + name)
            if "\n" in name or "<" in name:
                self.emit("text", held + name)
                return ""
        self.emit("name", name[:-1].strip())
        yield from self._parameters(self._types.get(name[:-1].strip(), {}))
        if mark == FUNCTION:
            return ""
        stop = yield from self.until((CLOSING, OPENING, FUNCTION))
        return "" if stop == CLOSING else stop

    def _parameters(self, types: dict[str, str]) -> Reading[None]:
        """Read the parameters up to the function's end, and give them as JSON."""
        before = "{"
        while (yield from self._until((PARAMETER, END_FUNCTION))) == PARAMETER:
            name = yield from self._up_to(">")
            value = yield from self._up_to(END_PARAMETER)
            made = typed(value.removeprefix("\n").removesuffix("\n"), types.get(name, ""))
            self.emit("arguments", f"{before}{json.dumps(name, ensure_ascii=False)}: {made}")
            before = ", "
        self.emit("arguments", "{}" if before == "{" else "}")

    def _until(self, marks: tuple[str, ...]) -> Reading[str]:
        return (yield from self.until(marks))

    def _up_to(self, mark: str) -> Reading[str]:
        text = ""
        while not text.endswith(mark):
            text += yield
        return text.removesuffix(mark)


def types_of(tool: OfferedTool) -> dict[str, str]:
    """Return the types of a function's parameters, "" where the schema names none or several."""
    types = {}
    for name, schema in tool.properties.items():
        kind = schema.get("type") if isinstance(schema, dict) else None
        types[name] = kind if isinstance(kind, str) else ""
    return types


def typed(value: str, kind: str) -> str:
    """Return a value as JSON. kind: its type in the schema, or ""."""
    if kind != "string":
        try:
            return msgspec.json.encode(msgspec.json.decode(value)).decode()
        except (ValueError, RecursionError):
            pass
    return json.dumps(value, ensure_ascii=False)


def forms(tools: list[OfferedTool]) -> CallForms:
    calls = [_form(index, tool) for index, tool in enumerate(tools)]
    return CallForms(calls, between="\n")


def _form(index: int, tool: OfferedTool) -> CallForm:
    rules, names = [], []
    end = f"\n{END_PARAMETER}\n"
    if tool.takes_any:
        rule = f"parameter_{index}"
        rules += [f'{rule}: {quoted(PARAMETER)} /[A-Za-z0-9_.-]+/ ">\\n" {rule}_text', _text_rule(rule, end)]
        names.append(f"{rule}*")
    for number, (name, schema) in enumerate(tool.properties.items()):
        rule = f"parameter_{index}_{number}"
        begin = quoted(f"{PARAMETER}{name}>\n")
        if _is_text(schema):
            rules += [f"{rule}: {begin} {rule}_text", _text_rule(rule, end)]
        else:
            rules += [f"{rule}: {begin} {rule}_value {quoted(end)}", f"{rule}_value: {json_rule(schema)}"]
        names.append(rule if name in tool.required else f"{rule}?")
    begin, end = f"{OPENING}\n{FUNCTION}{tool.name}>\n", f"{END_FUNCTION}\n{CLOSING}"
    return CallForm(begin, " ".join(names) or '""', end, tuple(rules))


def _text_rule(rule: str, end: str) -> str:
    return f"{rule}_text[suffix={quoted(end)}]: /(.|\\n)*/"


def _is_text(schema: Any) -> bool:
    return isinstance(schema, dict) and schema.get("type") == "string" and "enum" not in schema
