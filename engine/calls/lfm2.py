"""`<|tool_call_start|>[name(argument=value, …), …]<|tool_call_end|>`: LFM2 and LFM2.5.

Calls are written like Python's, with its literals. Asked for JSON, the models put a list of objects between
the same marks. Templates put texts in quotes as they are, so that there may be the same quotes within: what
follows a quote tells whether it ends the text. That is ambiguous for a text without a name that has a quote,
a comma and a value within (`f('Say 'a', 'b' and go')`), and for one with `', name=` or `') name(` within, if
there is a function of that name: it is cut there.
Sources: models/templates/LFM2.5-8B-A1B.jinja in ggml-org/llama.cpp, and vllm/tool_parsers/lfm2_tool_parser.py
in vllm-project/vllm.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from msgspec import structs

from engine.calls.bare_values import types_of
from engine.calls.grammar import CallForm, CallForms, json_rule, quoted
from engine.calls.literals import Token, as_json
from engine.calls.offer import NAME_LIMIT, OfferedTool, ToolOffer
from engine.calls.reader import CallReader, EndOfText, Reading
from engine.protocol import Message, ToolCall

OPENING, CLOSING = "<|tool_call_start|>", "<|tool_call_end|>"
# What templates have that describe tools, but write no calls.
TOOL_LISTS = ("<|tool_list_start|>", "List of tools: [")
_NAME = re.compile(r"[\w.-]")
_PREFIXES = ("", *"rbfuRBFU")  # what may stand before the quotes of a text


@dataclass(frozen=True, slots=True)
class _Argument:
    """One argument: what is before "=", or ""; the value's tokens and their text; the character behind it."""

    name: str
    tokens: list[Token]
    source: str
    end: str


class Lfm2Reader(CallReader):
    marks = (OPENING,)
    closing = CLOSING

    def __init__(self, tools: list[OfferedTool]) -> None:
        self._types = {tool.name: types_of(tool) for tool in tools}
        super().__init__()

    def call(self, mark: str) -> Reading[str]:
        held, character = yield from self.spaces(mark)
        if character == "[":
            held, character = yield from self.spaces(held)
        is_call = False
        while character == "{" or _NAME.match(character):
            if character == "{":
                stop = yield from self.record(held, (self.closing,))
            else:
                stop = yield from self._function(held, character)
            if stop != "":
                return ""
            is_call = True
            held, character = yield from self.spaces("")
            if character == ",":
                held, character = yield from self.spaces(held)
        if not is_call:
            self.no_call(held)
            return ""
        if character != "]":
            self.again(held)
        stop = yield from self.end(self.closing)
        return "" if stop == self.closing else stop

    def _function(self, held: str, name: str) -> Reading[str | None]:
        """Read a call in Python's form, of whose name the first character has been read.

        held: what is text if it is no call. Return "", the closing mark if it has cut the call off, or None
        if it is text.
        """
        while (character := (yield from self.next(held))) != "(":
            held += character
            name += character
            if not _NAME.match(character) or len(name) > NAME_LIMIT:
                self.no_call(held)
                return None
        self.emit("name", name)
        self.emit("arguments", "{")
        types = self._types.get(name, {})
        names = dict(enumerate(types))
        before, position, end, has_names = "", 0, "", False
        while end != ")":
            argument = yield from self._argument(has_names)
            if argument is None:
                return self.closing
            has_names |= bool(argument.name)
            if argument.source:
                key = argument.name or names.get(position, str(position))
                value = as_json(argument.tokens, argument.source, types.get(key, ""))
                self.emit("arguments", f"{before}{json.dumps(key, ensure_ascii=False)}: {value}")
                before = ", "
            position, end = position + 1, argument.end
        self.emit("arguments", "}")
        return ""

    def _argument(self, has_names: bool) -> Reading[_Argument | None]:
        """Read an argument up to the comma or bracket behind it. Return None if the closing mark comes
        first. has_names: whether an argument before has a name, so that the next ones must have one, too."""
        tokens: list[Token] = []
        source, word, depth = "", "", 0
        while True:
            character = yield from self.next("")
            is_end = not depth and character in ",)"
            if word and (is_end or character.isspace() or character in "[](){}:,="):
                tokens.append(("word", word))
                word = ""
            if is_end:
                return _argument(tokens, source.strip(), character)
            if character in "'\"" and word in _PREFIXES:
                is_named = has_names or tokens[1:2] == [("mark", "=")]
                text = yield from self._text(character, depth, is_named)
                if text is None:
                    return None
                tokens.append(("text", text))
                source += character + text + character
                word = ""
                continue
            source += character
            if source.endswith(self.closing):
                return None
            if character in "[](){}:,=":
                tokens.append(("mark", character))
                depth = max(0, depth + (character in "[({") - (character in "])}"))
            elif not character.isspace():
                word += character

    def _text(self, quote: str, depth: int, is_named: bool) -> Reading[str | None]:
        """Read a text in quotes, of which the first has been read. Return None if the closing mark comes
        first. depth: how many brackets are open. is_named: whether further arguments must have names."""
        text = ""
        while True:
            character = yield from self.next("")
            if character == "\\":
                text += character + (yield from self.next(""))
            elif character == quote and (yield from self._ends_text(depth, is_named)):
                return text[2:-2] if len(text) >= 4 and text[:2] == text[-2:] == 2 * quote else text
            else:
                text += character
                if text.endswith(self.closing):
                    return None

    def _ends_text(self, depth: int, is_named: bool) -> Reading[bool]:
        """Return whether a quote ends a text, rather than being one within it, by what is behind it: further
        arguments, the end of the calls, or another call of a function that there is, be it without a comma.
        """
        looked: list[str] = []

        def read() -> Reading[str]:
            looked.append((yield from self.next("")))
            return looked[-1]

        def read_on() -> Reading[str]:
            while (character := (yield from read())).isspace():
                pass
            return character

        def read_word() -> Reading[tuple[str, str]]:
            """Return the next word, or "", and the character right behind it."""
            word = ""
            character = yield from read_on()
            while _NAME.match(character):
                word += character
                character = yield from read()
            return word, character

        try:
            character = yield from read_on()
            if depth:
                return character in ",)]}:"
            if character == ",":
                word, character = yield from read_word()
                if character.isspace():
                    character = yield from read_on()
                if word and character == "=":
                    return True
                if word or character != ")":
                    return not is_named and _begins_value(word, character)
            if character != ")":
                return False
            word, character = yield from read_word()
            return word in self._types and character == "(" if word else character in "],<"
        except EndOfText:
            return ")" in looked
        finally:
            self.again(looked)


def _argument(tokens: list[Token], source: str, end: str) -> _Argument:
    if len(tokens) > 1 and tokens[0][0] == "word" and tokens[1] == ("mark", "="):
        return _Argument(tokens[0][1], tokens[2:], source.partition("=")[2].strip(), end)
    return _Argument("", tokens, source, end)


def _begins_value(word: str, behind: str) -> bool:
    """Return whether a text, a list or an object begins, or a word is a literal and an argument. word: what
    stands before the character `behind`, or ""."""
    if behind in "'\"":
        return word in _PREFIXES
    if not word:
        return behind in "[{"
    return behind in ",)" and not as_json([("word", word)], word, "").startswith('"')


def with_calls_as_text(messages: list[Message], offer: ToolOffer) -> list[Message]:
    """Return a chat with its calls as text, for templates that write none."""
    return [
        structs.replace(message, content=_written(message.calls) + message.content, calls=[])
        if message.calls
        else message
        for message in messages
    ]


def _written(calls: list[ToolCall]) -> str:
    return f"{OPENING}[{', '.join(f'{call.name}({_arguments(call.arguments)})' for call in calls)}]{CLOSING}"


def _arguments(text: str) -> str:
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if not isinstance(given, dict):
        return text
    return ", ".join(f"{name}={_literal(value)}" for name, value in given.items())


def _literal(value: Any) -> str:
    return repr(value) if value is None or isinstance(value, bool) else json.dumps(value, ensure_ascii=False)


def forms(tools: list[OfferedTool]) -> CallForms:
    return CallForms([_form(index, tool) for index, tool in enumerate(tools)])


def _form(index: int, tool: OfferedTool) -> CallForm:
    arguments, rules = arguments_rule(index, tool, _value_rule)
    return CallForm(f"{OPENING}[{tool.name}(", arguments, f")]{CLOSING}", rules)


def arguments_rule(
    index: int, tool: OfferedTool, value_rule: Callable[[Any], str]
) -> tuple[str, tuple[str, ...]]:
    """Return the body of a rule for the arguments of a function, `name=value, …`, and the rules that it uses.
    index: the function's number; value_rule: makes the body of a value's rule from its schema."""
    rule = f"given_{index}"
    return _anything(rule) if tool.takes_any else _given(rule, tool, value_rule)


def _anything(rule: str) -> tuple[str, tuple[str, ...]]:
    """Return the body of a rule for any arguments, and the rules that it uses."""
    argument = f'{rule}: /[A-Za-z_][A-Za-z0-9_]*/ "=" {rule}_value'
    return f'({rule} (", " {rule})*)?', (argument, f"{rule}_value: {json_rule({})}")


def _given(rule: str, tool: OfferedTool, value_rule: Callable[[Any], str]) -> tuple[str, tuple[str, ...]]:
    """Return the body of a rule for arguments in the order of the schema, and the rules that it uses."""
    names = [f"{rule}_{number}" for number in range(len(tool.properties))]
    rules: list[str] = []
    behind: list[str] = []  # the arguments with what parts them from others
    for own, (name, schema) in zip(names, tool.properties.items(), strict=True):
        rules += (f"{own}: {quoted(f'{name}=')} {own}_value", f"{own}_value: {value_rule(schema)}")
        behind.append(f'", " {own}' if name in tool.required else f'(", " {own})?')
    ways: list[str] = []  # by the argument that is the first
    for number, name in enumerate(tool.properties):
        ways.append(" ".join((names[number], *behind[number + 1 :])))
        if name in tool.required:
            break
    else:
        ways.append('""')
    return " | ".join(ways), tuple(rules)


def _value_rule(schema: Any) -> str:
    is_flag = (
        isinstance(schema, dict) and schema.get("type") == "boolean" and not {"enum", "const"} & {*schema}
    )
    return '"True" | "False"' if is_flag else json_rule(schema)
