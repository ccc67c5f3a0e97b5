"""Questions to `specexec serve` in the words of each interface, and how their answers are read."""

import json
from dataclasses import dataclass
from typing import Any

CHAT, TEXT, RESPONSES, MESSAGES = PATHS = (
    "/v1/chat/completions",
    "/v1/completions",
    "/v1/responses",
    "/v1/messages",
)
LIMITS = {CHAT: "max_tokens", TEXT: "max_tokens", RESPONSES: "max_output_tokens", MESSAGES: "max_tokens"}
SCHEMA = {
    "type": "object",
    "properties": {"colour": {"enum": ["red", "green", "blue"]}, "number": {"enum": [1, 2, 3]}},
    "required": ["colour", "number"],
    "additionalProperties": False,
}
FORMED_TOKENS = 250  # more than SCHEMA allows with all the white space that a small model likes
BAD_BODIES = (b"", b"{", b"[]", b'{"model": 1}', b"\xff", b'{"model": "no-such-model"}', b"[" * 9_999)
BAD_STATUSES = (400, 404)


@dataclass(frozen=True, slots=True)
class Question:
    """A text to answer, or, at the path of completions, to continue. temperature: 0: greedy. is_formed:
    whether the answer must satisfy SCHEMA."""

    path: str
    content: str
    max_tokens: int = 12
    temperature: float = 0.0
    seed: int = 0
    is_formed: bool = False

    def body(self, model: str, **fields: object) -> dict[str, Any]:
        """Return the body of a request. fields: others than those of the question."""
        asked: dict[str, Any] = {"model": model, "temperature": self.temperature, "seed": self.seed}
        asked[LIMITS[self.path]] = FORMED_TOKENS if self.is_formed else self.max_tokens
        if self.path == TEXT:
            asked["prompt"] = self.content
        elif self.path == RESPONSES:
            asked["input"] = self.content
        else:
            asked["messages"] = [{"role": "user", "content": self.content}]
        return {**asked, **(_form(self.path) if self.is_formed else {}), **fields}


def _form(path: str) -> dict[str, Any]:
    form = {"type": "json_schema", "name": "pick", "schema": SCHEMA, "strict": True}
    match path:
        case "/v1/chat/completions":
            return {"response_format": {"type": "json_schema", "json_schema": form}}
        case "/v1/responses":
            return {"text": {"format": form}}
        case "/v1/messages":
            return {"output_config": {"format": form}}
    return {"structured_outputs": {"json": SCHEMA}}


def text_of(path: str, answer: dict[str, Any]) -> str:
    """Return the text of a whole answer."""
    match path:
        case "/v1/chat/completions":
            return answer["choices"][0]["message"]["content"]
        case "/v1/completions":
            return answer["choices"][0]["text"]
        case "/v1/responses":
            return answer["output"][0]["content"][0]["text"]
    return "".join(block["text"] for block in answer["content"])


def tokens_of(path: str, answer: dict[str, Any]) -> int:
    """Return the number of tokens of a whole answer, as it says itself."""
    usage = answer["usage"]
    return usage["output_tokens" if path in (RESPONSES, MESSAGES) else "completion_tokens"]


class EventReader:
    """Puts an answer together from the lines of its events.

    Attributes: `text`; `tokens`, the number of tokens that the answer says it has; `has_ended`, whether the
    last event has come; `fault`, the line of an event that reports one.
    """

    def __init__(self, path: str) -> None:
        self.text, self.tokens, self.has_ended, self.fault = "", 0, False, ""
        self._path = path

    def take(self, line: str) -> None:
        if not line.startswith("data: ") or line == "data: [DONE]":
            return
        data = json.loads(line.removeprefix("data: "))
        if data.get("error") or data.get("type") == "error":
            self.fault = line
            return
        match self._path:
            case "/v1/chat/completions" | "/v1/completions":
                for choice in data["choices"]:
                    self.text += choice.get("text") or choice.get("delta", {}).get("content", "")
                    self.has_ended |= choice["finish_reason"] is not None
                self.tokens = data.get("timings", {}).get("predicted_n", self.tokens)
            case "/v1/responses":
                self.text += data["delta"] if data["type"] == "response.output_text.delta" else ""
                if data["type"] in ("response.completed", "response.incomplete"):
                    self.tokens, self.has_ended = tokens_of(RESPONSES, data["response"]), True
            case "/v1/messages":
                self.text += data["delta"]["text"] if data["type"] == "content_block_delta" else ""
                if data["type"] == "message_delta":
                    self.tokens = tokens_of(MESSAGES, data)
                self.has_ended |= data["type"] == "message_stop"


def satisfies_schema(text: str) -> bool:
    """Return whether `text` is JSON that satisfies SCHEMA."""
    try:
        value = json.loads(text)
    except ValueError:
        return False
    wanted = SCHEMA["properties"]
    return (
        isinstance(value, dict)
        and value.keys() == wanted.keys()
        and all(value[name] in wanted[name]["enum"] for name in wanted)
    )
