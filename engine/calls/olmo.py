"""`<function_calls>name(argument=value, …)</function_calls>`, one call a line: OLMo 3.

Values are JSON; Python's literals are read, too. Source: allenai's code that formats OLMo 3's chats, as
quoted in public code; vllm/frontend/processing/tool_parsers/olmo3_tool_parser.py in vllm-project/vllm.
"""

from engine.calls.grammar import CallForm, CallForms, json_rule
from engine.calls.lfm2 import Lfm2Reader, arguments_rule
from engine.calls.offer import OfferedTool
from engine.calls.reader import Reading

OPENING, CLOSING = "<function_calls>", "</function_calls>"


class OlmoReader(Lfm2Reader):
    marks = (OPENING,)
    closing = CLOSING

    def _ends_text(self, depth: int, is_named: bool) -> Reading[bool]:
        """Return that a quote ends a text: those within one have escapes."""
        yield from ()
        return True


def forms(tools: list[OfferedTool]) -> CallForms:
    calls = []
    for index, tool in enumerate(tools):
        arguments, rules = arguments_rule(index, tool, json_rule)
        calls.append(CallForm(f"{tool.name}(", arguments, ")", rules))
    return CallForms(calls, OPENING, "\n", CLOSING)
