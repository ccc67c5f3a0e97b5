"""`<|tool_call>call:NAME{key:<|"|>text<|"|>,number:3}<tool_call|>`: Gemma 4.

Texts stand between marks of their own; keys have no quotes and come in alphabetical order. A forced list or
object is JSON, which is read, too. Source: Gemma 4's chat template; ggml-org/llama.cpp, models/templates;
vLLM's documentation of its parser.
"""

import json
import re
from typing import Any

from engine.calls.bare_values import ANY_NAME, ANY_TEXT, as_json, value_rules
from engine.calls.grammar import CallForm, CallForms, json_rule, quoted
from engine.calls.offer import OfferedTool
from engine.calls.reader import LONGEST_NAME, CallReader, Reading
from engine.protocol.thoughts import overlap

OPENING, CLOSING, QUOTE = "<|tool_call>", "<tool_call|>", '<|"|>'
ENDS = (CLOSING, OPENING)  # what ends a call outside texts, complete or not
CALL = "call:"
_HEADER = re.compile(r"\s*call:\s*([\w.:-]+)\s*\{")


class GemmaReader(CallReader):
    marks = (OPENING,)

    def call(self, mark: str) -> Reading[str]:
        held = ""
        while not held.endswith("{"):
            held += yield from self.next(mark + held)
            begun = held.lstrip()
            if len(held) > LONGEST_NAME or not (CALL.startswith(begun) or begun.startswith(CALL)):
                self.emit("text", mark + held)
                return ""
        header = _HEADER.fullmatch(held)
        if not header:
            self.emit("text", mark + held)
            return ""
        self.emit("name", header[1])
        stop = yield from self._arguments()
        stop = stop or (yield from self.until(ENDS))
        return "" if stop == CLOSING else stop

    def _arguments(self) -> Reading[str]:
        """Read the arguments, of which "{" has been read, and give them as JSON. Return the mark that has cut
        them off, or ""."""
        self.emit("arguments", "{")
        closings, has_any, begun = ["}"], False, ""
        while closings:
            begun = yield from self._mark(begun or (yield from self.next()))
            if begun in ENDS:
                self.emit("arguments", "".join(reversed(closings)))
                return begun
            if begun in ("}", "]"):
                self.emit("arguments", closings.pop())
                has_any, begun = True, ""
                continue
            if begun.isspace() or begun == ",":
                begun = ""
                continue
            before = ", " if has_any else ""
            if closings[-1] == "}":
                key, begun = yield from self._key(begun)
                if begun != ":":  # a key without a value
                    continue
                before += f"{key}: "
                _, character = yield from self.spaces("")
                begun = yield from self._mark(character)
            self.emit("arguments", before)
            has_any = begun not in ("{", "[")
            if has_any:
                begun = yield from self._value(begun)
            else:
                self.emit("arguments", begun)
                closings.append("}" if begun == "{" else "]")
                begun = ""
        return ""

    def _key(self, begun: str) -> Reading[tuple[str, str]]:
        """Read a key, of which `begun` has been read. Return it as JSON, and the character or mark behind it,
        which is ":" if it has a value."""
        if begun not in (QUOTE, '"'):
            key, stop = yield from self.up_to(":", "}", *ENDS, begun=begun)
            return json.dumps(key.strip(), ensure_ascii=False), stop
        if begun == QUOTE:
            text, _ = yield from self.up_to(QUOTE)
            key = json.dumps(text, ensure_ascii=False)
        else:
            key = yield from self._json_text()
        _, character = yield from self.spaces("")
        return key, character

    def _value(self, begun: str) -> Reading[str]:
        """Read a text, a number or a word, and give it as JSON. begun: how much of it has been read. Return
        the character or mark that ends it, or "" if that belongs to it."""
        if begun == QUOTE:
            yield from self._text()
            return ""
        if begun == '"':
            self.emit("arguments", (yield from self._json_text()))
            return ""
        value, stop = yield from self.up_to(",", "}", "]", *ENDS, begun=begun)
        self.emit("arguments", "null" if value.strip() in ("", "None") else as_json(value.strip(), ""))
        return stop

    def _mark(self, begun: str) -> Reading[str]:
        """Read on as long as it may be a mark. Return what has been read, `begun` included."""
        marks = (QUOTE, *ENDS)
        while begun not in marks and any(mark.startswith(begun) for mark in marks):
            begun += yield from self.next()
        return begun

    def _text(self) -> Reading[None]:
        """Read a text up to its closing mark; its opening one has been read."""
        self.emit("arguments", '"')
        held = ""
        while held != QUOTE:
            held += yield from self.next()
            keep = len(QUOTE) if held.endswith(QUOTE) else overlap(held, QUOTE)
            self.emit("arguments", json.dumps(held[: len(held) - keep], ensure_ascii=False)[1:-1])
            held = held[len(held) - keep :]
        self.emit("arguments", '"')

    def _json_text(self) -> Reading[str]:
        """Read a text of JSON, of which the quotation mark has been read."""
        text, is_escaped = '"', False
        while is_escaped or len(text) == 1 or text[-1] != '"':
            is_escaped = not is_escaped and text[-1] == "\\"
            text += yield from self.next()
        return as_json(text, "")


def forms(tools: list[OfferedTool]) -> CallForms:
    return CallForms([_form(index, tool) for index, tool in enumerate(tools)])


def _form(index: int, tool: OfferedTool) -> CallForm:
    begin, end = f"{OPENING}{CALL}{tool.name}{{", f"}}{CLOSING}"
    if tool.takes_any:
        rule = f"parameter_{index}"
        text, more = _value_rules(rule, ANY_TEXT)
        rules = [f'{rule}: {ANY_NAME} ":" ({text} | {rule}_json)', f"{rule}_json: {json_rule({})}", *more]
        return CallForm(begin, f'({rule} ("," {rule})*)?', end, tuple(rules))
    rules = []
    first: list[str] = []  # what may come first: all up to the first that is required
    may_be_first = True
    parameters = sorted(tool.properties.items())
    for number, (name, schema) in enumerate(parameters):
        rule = f"parameter_{index}_{number}"
        body, more = _value_rules(rule, schema)
        rest = f"rest_{index}_{number + 1}" if number + 1 < len(parameters) else ""
        following = f'"," {rule}' if name in tool.required else f'("," {rule})?'
        rules += [f"{rule}: {quoted(f'{name}:')} {body}", *more]
        if number:
            rules.append(f"rest_{index}_{number}: {following} {rest}")
        if may_be_first:
            first.append(f"{rule} {rest}")
            may_be_first = name not in tool.required
    listed = f"({' | '.join(first)}){'?' if may_be_first else ''}" if first else '""'
    return CallForm(begin, listed, end, tuple(rules))


def _value_rules(rule: str, schema: Any) -> tuple[str, list[str]]:
    """Return the body of a rule for a value, and the rules that the body uses."""
    if isinstance(schema, dict) and schema.get("type") == "string":
        body, more = value_rules(rule, schema, QUOTE)
        return f"{quoted(QUOTE)} {body}", more
    return value_rules(rule, schema, "")
