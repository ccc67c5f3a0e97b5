"""What several benches ask: which prompts, how tokens are sampled, lists of numbers."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from engine import protocol
from engine.cli.common import validated
from engine.errors import BadOption

if TYPE_CHECKING:
    from engine.bench.prompts import Prompt

T = TypeVar("T")


def add_prompt_options(parser: argparse.ArgumentParser, tokens: int = 128) -> None:
    prompts = parser.add_argument_group("prompts")
    prompts.add_argument(
        "--prompts", type=Path, metavar="FILE", help="JSON or text, one a line; default: a short set"
    )
    prompts.add_argument("--kinds", metavar="NAME,…", help="kinds of prompts; default: all of the file")
    prompts.add_argument("--per-kind", type=int, metavar="N", help="the first N of each kind")
    prompts.add_argument("--tokens", type=int, metavar="N", default=tokens, help="most of each answer")


def add_sampling_options(parser: argparse.ArgumentParser) -> None:
    sampling = parser.add_argument_group("sampling, where the temperature is above 0")
    sampling.add_argument("--top-p", type=float, metavar="P", default=1.0)
    sampling.add_argument("--top-k", type=int, metavar="K", default=0)
    sampling.add_argument("--min-p", type=float, metavar="P", default=0.0)
    sampling.add_argument("--seed", type=int, metavar="S", default=0)


def prompts_of(parsed: argparse.Namespace) -> "list[Prompt]":
    """Raises BadOption."""
    from engine.bench.prompts import SHORT, choose, read_prompts

    if parsed.tokens < 1 or (parsed.per_kind is not None and parsed.per_kind < 1):
        raise BadOption("--tokens and --per-kind begin at 1.", "Leave them out for the usual ones.")
    prompts = read_prompts(parsed.prompts) if parsed.prompts else SHORT
    return choose(prompts, listed(parsed.kinds) if parsed.kinds else [], parsed.per_kind)


def checked_options(parsed: argparse.Namespace, **more: object) -> protocol.Options:
    """The sampling options, and `more` of Options. Raises BadOption where one is out of range."""
    fields = {name: getattr(parsed, name) for name in ("top_p", "top_k", "min_p", "seed")}
    return validated(protocol.Options, fields | more)


def listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]


def numbers(option: str, text: str, kind: Callable[[str], T]) -> list[T]:
    """A list like “1,64,256”, each once. Raises BadOption."""
    try:
        return list(dict.fromkeys(kind(part) for part in listed(text)))
    except ValueError:
        raise BadOption(
            f"--{option} is no list of numbers.", f"“{text}” was given; look at --help."
        ) from None


def say(what: str) -> None:
    """What is being measured, where it is not in the way of a table."""
    print(what, file=sys.stderr)
