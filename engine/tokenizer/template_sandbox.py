"""Chat templates in jinja2's sandbox, with the functions and variables that transformers gives them.

Templates are written for transformers' `apply_chat_template`, which defines what they may use.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, NoReturn

from jinja2 import Template, nodes
from jinja2.exceptions import SecurityError, TemplateError
from jinja2.ext import Extension
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace

# The names under which templates read the thought of a message.
THOUGHTS = ("reasoning_content", "thinking", "reasoning")


def apply(template: str, messages: Sequence[Any], tools: Sequence[Any], variables: Mapping[str, Any]) -> str:
    """Return the text that `template` makes of `messages`. All values are what JSON can hold.

    Raises TemplateError if the template refuses them by raise_exception(...), and any other error if it
    fails.
    """
    return compiled(template).render(
        messages=[_with_thought(message) for message in messages],
        tools=list(tools) or None,
        documents=None,
        **variables,
    )


@lru_cache(maxsize=8)
def compiled(template: str) -> Template:
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols", GenerationBlock]
    )
    environment.filters["tojson"] = _to_json
    environment.globals.update(
        raise_exception=_refuse, strftime_now=_now, dict=_Dictionaries(), namespace=_Namespace
    )
    return environment.from_string(template)


class GenerationBlock(Extension):
    """The block {% generation %}, which marks what the model says, for training. It changes no text."""

    tags = {"generation"}  # noqa: RUF012  (jinja2 declares it as a variable of the instance)

    def parse(self, parser: Parser) -> nodes.Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.Scope(body, lineno=line)


class _Dictionaries:
    """The uses of the name `dict` in a template; the class itself would lead it to Python's other ones."""

    def __call__(self, *args: Any, **fields: Any) -> dict[Any, Any]:
        return dict(*args, **fields)

    def fromkeys(self, *args: Any) -> dict[Any, Any]:
        return dict.fromkeys(*args)


class _Namespace(Namespace):
    """jinja2's namespace, without names that begin with an underscore."""

    def __init__(*args: Any, **fields: Any) -> None:  # no name, so that a field may be called `self`
        self, *given = args
        values = dict(*given, **fields)
        for name in values:
            _check_field(name)
        Namespace.__init__(self, values)

    def __setitem__(self, name: str, value: Any) -> None:
        _check_field(name)
        super().__setitem__(name, value)


def _check_field(name: Any) -> None:
    if str(name).startswith("_"):
        raise SecurityError(f"a template cannot set {name!r}")


def _with_thought(message: Any) -> Any:
    """Return the message with its thought under each name by which templates ask for it."""
    if not isinstance(message, dict):
        raise TypeError("a message is not an object")
    thought = next((message[name] for name in THOUGHTS if message.get(name) is not None), None)
    if thought is None:
        return message
    return {"thinking": thought, **message, "reasoning_content": thought}


def _to_json(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | str | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """jinja2's own filter escapes the signs of HTML."""
    return json.dumps(
        value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
    )


def _refuse(message: str) -> NoReturn:
    raise TemplateError(message)


def _now(form: str) -> str:
    return datetime.now().strftime(form)
