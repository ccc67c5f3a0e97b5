"""`[TOOL_CALLS]`, then a list of objects; or, in newer models, a name, `[ARGS]` and the arguments."""

from engine.calls.grammar import CallForm, CallForms, json_rule
from engine.calls.offer import OfferedTool
from engine.calls.reader import LONGEST_NAME, CallReader, Reading

MARK, ARGUMENTS, ID = "[TOOL_CALLS]", "[ARGS]", "[CALL_ID]"


class MistralReader(CallReader):
    marks = (MARK,)

    def call(self, mark: str) -> Reading[str]:
        held, name = yield from self.spaces(mark)
        before = held[:-1]
        if name == "[":
            self.again(name)
            if following := (yield from self.mark(self.marks)):  # no call came
                self.emit("text", before)
                return following
            yield from self.next()
            return (yield from self.records(held, self.marks)) or ""
        if name == "{":
            return (yield from self.record(held, self.marks)) or ""
        while not name.endswith(("{", MARK)) and len(name) <= LONGEST_NAME:
            name += yield from self.next(before, name)
        called = name[:-1].partition(ID)[0].strip().removesuffix(ARGUMENTS).strip()
        if not name.endswith("{") or not called or any(letter.isspace() for letter in called):
            self.emit("text", before)
            self.again(name)  # the next mark may be in it
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
