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
            yield from self._calls(held)
        elif TAG.startswith(character):
            self.emit("text", held[:-1])
            yield from self._after_letter(character)
        else:
            self.emit("text", held)
        while True:
            mark = yield from self.text()
            yield from self.call(mark)

    def _after_letter(self, held: str) -> Reading[None]:
        """Read what begins like the tag."""
        while TAG.startswith(held) and held != TAG:
            held += yield from self.next(held)
        if held == TAG:
            yield from self.call(TAG)
        else:
            self.emit("text", held)

    def call(self, mark: str) -> Reading[str]:
        held, character = yield from self.spaces(mark)
        if character == "{":
            yield from self._calls(held)
        else:
            self.emit("text", held)
        return ""

    def _calls(self, held: str) -> Reading[None]:
        """Read calls with semicolons or commas between them; "{" has been read."""
        character = "{"
        while character == "{":
            yield from self.record(held)
            held, character = yield from self.spaces("")
            if character in ";,":
                held, character = yield from self.spaces(held)
        self.emit("text", held)


def forms(tools: list[OfferedTool]) -> CallForms:
    calls = [
        CallForm(f'{{"name": {tool.quoted_name}, "parameters": ', json_rule(tool.schema), "}")
        for tool in tools
    ]
    return CallForms(calls, between="; ")
