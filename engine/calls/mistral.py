"""`[TOOL_CALLS]`, then a list of objects; or, in newer models, a name, `[ARGS]` and the arguments."""

from engine.calls.grammar import CallForm, CallForms, json_rule
from engine.calls.offer import OfferedTool
from engine.calls.reader import LONGEST_NAME, CallReader, Reading

MARK, ARGUMENTS, ID = "[TOOL_CALLS]", "[ARGS]", "[CALL_ID]"


class MistralReader(CallReader):
    marks = (MARK,)

    def call(self, mark: str) -> Reading[str]:
        held, character = yield from self.spaces(mark)
        if character == "[":
            return (yield from self.records(held, self.marks)) or ""
        if character == "{":
            return (yield from self.record(held, self.marks)) or ""
        name = character
        while not name.endswith("{"):
            character = yield from self.next(held)
            held += character
            name += character
            if len(name) > LONGEST_NAME or name.endswith(MARK):
                break
        called = name[:-1].partition(ID)[0].strip().removesuffix(ARGUMENTS).strip()
        if not name.endswith("{") or not called or any(letter.isspace() for letter in called):
            self.emit("text", held)
            return ""
        self.emit("name", called)
        return (yield from self.value(self.marks))


def list_forms(tools: list[OfferedTool]) -> CallForms:
    calls = [
        CallForm(f'{{"name": {tool.quoted_name}, "arguments": ', json_rule(tool.schema), "}")
        for tool in tools
    ]
    return CallForms(calls, f"{MARK}[", ", ", "]")


def named_forms(tools: list[OfferedTool]) -> CallForms:
    return CallForms(
        [CallForm(f"{MARK}{tool.name}{ARGUMENTS}", json_rule(tool.schema), "") for tool in tools]
    )
