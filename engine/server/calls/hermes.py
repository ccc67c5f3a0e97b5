"""`<tool_call>{"name": …, "arguments": {…}}</tool_call>`: Hermes, Qwen 2.5 and 3."""

from engine.server.calls.grammar import CallForm, CallForms, json_rule
from engine.server.calls.offer import OfferedTool
from engine.server.calls.reader import CallReader, Reading

OPENING, CLOSING = "<tool_call>", "</tool_call>"


class HermesReader(CallReader):
    marks = (OPENING,)

    def call(self, mark: str) -> Reading[str]:
        held, character = yield from self.spaces(mark)
        if character != "{":
            self.emit("text", held)
            return ""
        stop = yield from self.record(held, (CLOSING, OPENING))
        if stop is None:
            return ""
        stop = stop or (yield from self.until((CLOSING, OPENING)))
        return OPENING if stop == OPENING else ""


def forms(tools: list[OfferedTool]) -> CallForms:
    calls = [
        CallForm(
            f'{OPENING}\n{{"name": {tool.quoted_name}, "arguments": ',
            json_rule(tool.schema),
            f"}}\n{CLOSING}",
        )
        for tool in tools
    ]
    return CallForms(calls, between="\n")
