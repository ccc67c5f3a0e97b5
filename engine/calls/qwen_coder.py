"""`<tool_call><function=…><parameter=…>…</parameter></function></tool_call>`: Qwen 3 Coder and later Qwens.
Seed-OSS writes the same between marks of its own, with the values on the lines of their parameters.

Source for Seed-OSS: its chat template; ggml-org/llama.cpp, models/templates.
"""

import json

from engine.calls.bare_values import ANY_NAME, ANY_TEXT, Types, as_json, types_of, value_rules
from engine.calls.grammar import CallForm, CallForms, quoted
from engine.calls.offer import OfferedTool
from engine.calls.reader import LONGEST_NAME, CallReader, Reading

OPENING, CLOSING = "<tool_call>", "</tool_call>"
SEED_OPENING, SEED_CLOSING = "<seed:tool_call>", "</seed:tool_call>"
FUNCTION, END_FUNCTION = "<function=", "</function>"
PARAMETER, END_PARAMETER = "<parameter=", "</parameter>"


class QwenCoderReader(CallReader):
    marks = (OPENING, FUNCTION)
    opening, closing = OPENING, CLOSING
    padding = "\n"  # around a value

    def __init__(self, tools: list[OfferedTool]) -> None:
        self._types = {tool.name: types_of(tool) for tool in tools}
        super().__init__()

    def call(self, mark: str) -> Reading[str]:
        held = mark
        while not held.endswith(FUNCTION):
            held += yield from self.next(held)
            begun = held.removeprefix(self.opening).lstrip()
            if len(held) > LONGEST_NAME or not FUNCTION.startswith(begun):
                return self._no_call(mark, held)
        name = ""
        while not name.endswith(">"):
            name += yield from self.next(held, name)
            if len(name) > LONGEST_NAME or name[-1] in "\n<":
                return self._no_call(mark, held + name)
        self.emit("name", name[:-1].strip())
        stop = yield from self._parameters(self._types.get(name[:-1].strip(), {}))
        if stop == END_FUNCTION:
            stop = "" if mark == FUNCTION else (yield from self.until((self.closing, *self.marks)))
        return "" if stop == self.closing else stop

    def _no_call(self, mark: str, held: str) -> str:
        """Give a mark as text, and have what was read behind it read again: another one may be among it."""
        self.emit("text", mark)
        self.again(held[len(mark) :])
        return ""

    def _parameters(self, types: Types) -> Reading[str]:
        """Read the parameters up to the function's end, and give them as JSON. Return END_FUNCTION, or the
        mark that has cut the call off outside a value."""
        before = "{"
        ends = (self.closing, *self.marks)
        while (stop := (yield from self.until((PARAMETER, END_FUNCTION, *ends)))) == PARAMETER:
            name, stop = yield from self.up_to(*ends, ">")
            if stop != ">":
                break
            value, _ = yield from self.up_to(END_PARAMETER)
            value = value.removeprefix(self.padding).removesuffix(self.padding)
            made = as_json(value, types.get(name, ""))
            self.emit("arguments", f"{before}{json.dumps(name, ensure_ascii=False)}: {made}")
            before = ", "
        self.emit("arguments", "{}" if before == "{" else "}")
        return stop


class SeedReader(QwenCoderReader):
    marks = (SEED_OPENING, FUNCTION)
    opening, closing = SEED_OPENING, SEED_CLOSING
    padding = ""


def forms(tools: list[OfferedTool]) -> CallForms:
    return _forms(tools, QwenCoderReader)


def seed_forms(tools: list[OfferedTool]) -> CallForms:
    return _forms(tools, SeedReader)


def _forms(tools: list[OfferedTool], style: type[QwenCoderReader]) -> CallForms:
    return CallForms([_form(index, tool, style) for index, tool in enumerate(tools)], between="\n")


def _form(index: int, tool: OfferedTool, style: type[QwenCoderReader]) -> CallForm:
    rules, names = [], []
    end = f"{style.padding}{END_PARAMETER}\n"
    if tool.takes_any:
        rule = f"parameter_{index}"
        body, more = value_rules(rule, ANY_TEXT, end)
        rules += [f"{rule}: {quoted(PARAMETER)} {ANY_NAME} {quoted(f'>{style.padding}')} {body}", *more]
        names.append(f"{rule}*")
    for number, (name, schema) in enumerate(tool.properties.items()):
        rule = f"parameter_{index}_{number}"
        body, more = value_rules(rule, schema, end)
        rules += [f"{rule}: {quoted(f'{PARAMETER}{name}>{style.padding}')} {body}", *more]
        names.append(rule if name in tool.required else f"{rule}?")
    begin = f"{style.opening}\n{FUNCTION}{tool.name}>\n"
    return CallForm(begin, " ".join(names) or '""', f"{END_FUNCTION}\n{style.closing}", tuple(rules))
