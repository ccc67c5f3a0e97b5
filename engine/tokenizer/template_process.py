"""The process that renders chat templates.

Run as a program, this module writes a line that says “ready”, then reads requests from standard input: each
is a line with a JSON list, the arguments of `render`. It answers each with one line of JSON.
"""

import faulthandler
import json
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO

from jinja2.exceptions import TemplateError

from engine.tokenizer.template_sandbox import apply

TIME_LIMIT_S = 0.8  # for one conversation; current templates take 0.01 s for long ones
LENGTH_LIMIT = 16 << 20  # characters of a rendered conversation


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer all requests. If one takes too long, the process is ended by a timer in C, which a template
    cannot block. The process ends without an answer if that timer cannot be started."""
    with Path(os.devnull).open("w") as nowhere:
        answers.write(b"ready\n")
        answers.flush()
        for request in requests:
            try:
                faulthandler.dump_traceback_later(TIME_LIMIT_S, exit=True, file=nowhere)
            except RuntimeError:  # the system starts no thread for the timer
                return
            answer = json.dumps(render(*json.loads(request)))
            faulthandler.cancel_dump_traceback_later()
            answers.write(answer.encode() + b"\n")
            answers.flush()


def render(
    template: str,
    messages: list[dict[str, Any]],
    add_generation_prompt: bool,
    tokens: dict[str, Any],
    tools: Sequence[Any] = (),
    options: Mapping[str, Any] = MappingProxyType({}),
) -> dict[str, Any]:
    """Return {"text"}, the rendered conversation; or, if there is none, {"reason", "by_template"}, where
    `by_template` is whether the template itself refused, with raise_exception(...)."""

    variables = {"add_generation_prompt": add_generation_prompt, **tokens, **options}
    try:
        try:
            text = apply(template, messages, tools, variables)
        except TypeError:  # some templates take the arguments of calls as texts only
            if not any(message.get("tool_calls") for message in messages):
                raise
            text = apply(template, [_with_texts(message) for message in messages], tools, variables)
    except Exception as error:  # a template may raise any error; none must end this process
        reason = str(error)[:1000] or type(error).__name__
        return {"reason": reason, "by_template": type(error) is TemplateError}
    if len(text) > LENGTH_LIMIT:
        return {"reason": "its text is too long", "by_template": False}
    return {"text": text}


def _with_texts(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message whose calls have their arguments as JSON texts."""
    if not message.get("tool_calls"):
        return message
    calls = [
        {
            **call,
            "function": {**call["function"], "arguments": json.dumps(call["function"]["arguments"])},
        }
        for call in message["tool_calls"]
    ]
    return {**message, "tool_calls": calls}


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Windows sends Ctrl+C to this process too
    serve(sys.stdin.buffer, sys.stdout.buffer)
