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
    marks = (OPENING,)

    def call(self, mark: str) -> Reading[str]:
        held, character = yield from self.spaces(mark)
        if character == "[":
            stop = yield from self.records(held, (CLOSING, OPENING))
        elif character == "{":  # a call that is no list
            stop = yield from self.record(held, (CLOSING, OPENING))
        else:
            self.no_call(held)
            return ""
        if stop == "":
            stop = yield from self.end(CLOSING)
        return stop if stop == OPENING else ""


def forms(tools: list[OfferedTool]) -> CallForms:
    return replace(mistral.list_forms(tools), begin=f"{OPENING}[", end=f"]{CLOSING}")
