"""`<tool_call>{"name": …, "arguments": {…}}</tool_call>`: Hermes, Qwen 2.5 and 3."""

from typing import Literal

from engine.calls.grammar import CallForm, CallForms, json_rule
from engine.calls.offer import OfferedTool
from engine.calls.reader import CallReader, Reading

OPENING, CLOSING = "<tool_call>", "</tool_call>"
STOPS = (CLOSING, OPENING)
FENCED, FENCE = "```json", "```"
DOUBLED = '{{"name"'  # Qwen 2.5's template shows the form of a call with doubled brackets
BARE = '{"name"'


class HermesReader(CallReader):
    """Small coding models forget the marks, but write the call as a block of JSON, with the doubled brackets
    of their template, or as an answer of JSON alone: if that is a call of a function that there is, it is
    taken for one."""

    marks = (OPENING, FENCED, DOUBLED, BARE)  # BARE last: DOUBLED ends like it

    def __init__(self, tools: list[OfferedTool]) -> None:
        super().__init__()
        self._offered = {tool.name for tool in tools}
        self._has_text = False  # beside calls and white space

    def emit(self, kind: Literal["text", "name", "arguments"], text: str) -> None:
        self._has_text |= kind == "text" and bool(text.strip())
        super().emit(kind, text)

    def call(self, mark: str) -> Reading[str]:
        self._names = None if mark == OPENING else self._offered
        if mark == FENCED:
            stop = yield from self._between(FENCED, FENCE, (FENCE,))
        elif mark == OPENING:
            stop = yield from self._between(OPENING, CLOSING, STOPS)
        elif mark == DOUBLED:
            stop = yield from self._doubled()
        else:
            stop = yield from self._bare()
        return stop if stop and stop in self.marks else ""

    def _between(self, opening: str, closing: str, stops: tuple[str, ...]) -> Reading[str | None]:
        """Read a call between two marks, of which the opening one has been read."""
        held, character = yield from self.spaces(opening)
        if character != "{":
            self.no_call(held)
            return None
        stop = yield from self.record(held, stops)
        return (yield from self.end(closing)) if stop == "" else stop

    def _doubled(self) -> Reading[str | None]:
        """Read a call in doubled brackets; its mark has been read."""
        stop = yield from self.record(DOUBLED, STOPS, begun=DOUBLED[1:])
        if stop == "":
            yield from self.mark(("}",))
        return stop

    def _bare(self) -> Reading[str | None]:
        """Read JSON without a mark, of which the beginning has been read. Within a text it is an example."""
        if self._has_text:
            self.emit("text", BARE)
            return None
        return (yield from self.record(BARE, STOPS, begun=BARE))


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
