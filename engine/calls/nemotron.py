"""`<TOOLCALL>[{"name": …, "arguments": {…}}, …]</TOOLCALL>`: Nemotron Nano 2 and Llama Nemotron.

Source: their chat templates; ggml-org/llama.cpp, models/templates.
"""

from dataclasses import replace

from engine.calls import mistral
from engine.calls.grammar import CallForms
from engine.calls.offer import OfferedTool
from engine.calls.reader import CallReader, Reading

OPENING, CLOSING = "<TOOLCALL>", "</TOOLCALL>"


class NemotronReader(CallReader):
    marks = (OPENING, CLOSING)

    def __init__(self) -> None:
        super().__init__()
        self._is_open = False

    def call(self, mark: str) -> Reading[str]:
        if mark == CLOSING:
            self.emit("text", "" if self._is_open else mark)
            self._is_open = False
            return ""
        held, character = yield from self.spaces(mark)
        if character == "[":
            self._is_open = yield from self.records(held)
        else:
            self.emit("text", held)
        return ""


def forms(tools: list[OfferedTool]) -> CallForms:
    return replace(mistral.list_forms(tools), begin=f"{OPENING}[", end=f"]{CLOSING}")
