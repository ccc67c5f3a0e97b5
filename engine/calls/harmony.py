"""`<|channel|>commentary to=functions.NAME <|constrain|>json<|message|>{…}<|call|>`: gpt-oss.

An answer is a sequence of messages: a header, `<|message|>`, and a text. The header names the channel, and
the function in a call, which may stand before or behind the channel. Source: openai/harmony, docs/format.md.
"""

import re

from engine.calls.grammar import CallForm, CallForms, json_rule
from engine.calls.offer import OfferedTool
from engine.calls.reader import CallReader, Reading

START, CHANNEL, MESSAGE, END = "<|start|>assistant", "<|channel|>", "<|message|>", "<|end|>"
CONSTRAIN, CALL = "<|constrain|>", "<|call|>"
TO = " to=functions."  # begins the header if its `<|start|>assistant` ends the prompt
LONGEST_HEADER = 512  # characters
_FUNCTION = re.compile(r"\bto=functions\.([\w.-]+)")


class HarmonyReader(CallReader):
    marks = (START, CHANNEL, TO, END, CALL)

    def call(self, mark: str) -> Reading[str]:
        if mark in (END, CALL):
            return ""
        header = mark
        while not header.endswith(MESSAGE):
            header += yield from self.next(header)
            if len(header) > LONGEST_HEADER:
                self.emit("text", header)
                return ""
        function = _FUNCTION.search(header)
        if not function:
            return ""  # the text of another channel
        held, character = yield from self.spaces(header)
        if character != "{":
            self.no_call(held)
            return ""
        self.emit("name", function[1])
        return (yield from self.value((START, CHANNEL, END, CALL)))


def forms(tools: list[OfferedTool]) -> CallForms:
    calls = [
        CallForm(
            f"{CHANNEL}commentary to=functions.{tool.name} {CONSTRAIN}json{MESSAGE}",
            json_rule(tool.schema),
            "",
        )
        for tool in tools
    ]
    return CallForms(calls, between=START, maybe=START)
