"""`<tool_call>NAME<arg_key>…</arg_key><arg_value>…</arg_value></tool_call>`: GLM 4.5 and later.

Up to 4.6, each part has a line of its own; later models write none. Source: the chat templates of GLM-4.5 and
4.6 in ggml-org/llama.cpp, models/templates; that of 4.7 as quoted in public code.
"""

import json
import re
from typing import Any

from engine.calls.bare_values import ANY_NAME, ANY_TEXT, Types, as_json, types_of, value_rules
from engine.calls.grammar import CallForm, CallForms, quoted
from engine.calls.offer import OfferedTool
from engine.calls.reader import LONGEST_NAME, CallReader, Reading

OPENING, CLOSING = "<tool_call>", "</tool_call>"
KEY, END_KEY = "<arg_key>", "</arg_key>"
VALUE, END_VALUE = "<arg_value>", "</arg_value>"
_STOPS = (KEY, CLOSING, OPENING)  # what ends a name, and outside values a call that is cut off
_LINE = '"\\n"?'  # a line break, in a grammar
_NAME = re.compile(r"\s*([\w.:-]+)\s*")


class GlmReader(CallReader):
    marks = (OPENING,)

    def __init__(self, tools: list[OfferedTool]) -> None:
        super().__init__()
        self._types = {tool.name: types_of(tool) for tool in tools}

    def call(self, mark: str) -> Reading[str]:
        held, stop = "", ""
        while not stop:
            held += yield from self.next(mark + held)
            before, _, begun = held.partition("<")
            if len(before) > LONGEST_NAME or not any(each.startswith(f"<{begun}") for each in _STOPS):
                self.emit("text", mark + held)
                return ""
            stop = next((each for each in _STOPS if held.endswith(each)), "")
        name = _NAME.fullmatch(held.removesuffix(stop))
        if not name or stop == OPENING:
            self.emit("text", mark + held.removesuffix(OPENING))
            return OPENING if stop == OPENING else ""
        self.emit("name", name[1])
        return (yield from self._arguments(self._types.get(name[1], {}), stop))

    def _arguments(self, types: Types, stop: str) -> Reading[str]:
        """Read the arguments up to the call's end, and give them as JSON. stop: the mark that has been read.
        Return the mark of the next call if it has been read too, or else ""."""
        before = "{"
        while stop == KEY:
            name, stop = yield from self.up_to(END_KEY, CLOSING, OPENING)
            if stop != END_KEY:
                break
            stop = yield from self.until((VALUE, *_STOPS))
            if stop != VALUE:
                continue
            name = name.strip()
            value, _ = yield from self.up_to(END_VALUE)
            made = as_json(value, types.get(name, ""))
            self.emit("arguments", f"{before}{json.dumps(name, ensure_ascii=False)}: {made}")
            before = ", "
            stop = yield from self.until(_STOPS)
        self.emit("arguments", "{}" if before == "{" else "}")
        return "" if stop == CLOSING else stop


def forms(tools: list[OfferedTool]) -> CallForms:
    return CallForms([_form(index, tool) for index, tool in enumerate(tools)], between="\n")


def _form(index: int, tool: OfferedTool) -> CallForm:
    parts, rules = [_LINE], []
    if tool.takes_any:
        rule = f"parameter_{index}"
        rules += _parameter(rule, f"{quoted(KEY)} {ANY_NAME} {quoted(END_KEY)}", ANY_TEXT)
        parts.append(f"{rule}*")
    for number, (name, schema) in enumerate(tool.properties.items()):
        rule = f"parameter_{index}_{number}"
        rules += _parameter(rule, quoted(f"{KEY}{name}{END_KEY}"), schema)
        parts.append(rule if name in tool.required else f"{rule}?")
    return CallForm(f"{OPENING}{tool.name}", " ".join(parts), CLOSING, tuple(rules))


def _parameter(rule: str, key: str, schema: Any) -> list[str]:
    body, more = value_rules(rule, schema, END_VALUE)
    return [f"{rule}: {key} {_LINE} {quoted(VALUE)} {body} {_LINE}", *more]
