"""`{"name": …, "parameters": {…}}` as the whole answer, or after `<|python_tag|>`: Llama 3.1 to 3.3."""

from engine.calls.grammar import CallForm, CallForms, json_rule
from engine.calls.offer import OfferedTool
from engine.calls.reader import CallReader, Reading

TAG = "<|python_tag|>"


class LlamaReader(CallReader):
    marks = (TAG,)

    def read(self) -> Reading[None]:
        held, character = yield from self.spaces("")
        if character == "{":
            held = yield from self._calls(held)
        self.again(held)
        yield from super().read()

    def call(self, mark: str) -> Reading[str]:
        held, character = yield from self.spaces(mark)
        if character == "{":
            return (yield from self._calls(held))
        self.no_call(held)
        return ""

    def _calls(self, held: str) -> Reading[str]:
        """Read calls with semicolons or commas between them; "{" has been read. Return the mark that has cut
        them off, or ""."""
        character = "{"
        while character == "{":
            if stop := (yield from self.record(held, self.marks)):
                return stop
            held, character = yield from self.spaces("")
            if character in ";,":
                held, character = yield from self.spaces(held)
        self.again(held)
        return ""


def forms(tools: list[OfferedTool]) -> CallForms:
    calls = [
        CallForm(f'{{"name": {tool.quoted_name}, "parameters": ', json_rule(tool.schema), "}")
        for tool in tools
    ]
    return CallForms(calls, between="; ")
