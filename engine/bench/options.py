"""Options shared by several benches: prompts, sampling, lists of numbers."""

import argparse
import json
import sys
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from engine import protocol
from engine.errors import BadOption, MissingExtra
from engine.terminal import add_truncation_options, validated

T = TypeVar("T")

PROMPT = "Explain how a hash table works, and give a short implementation in Python."

PARAGRAPH = (
    "The bicycle lanes along the harbour were opened in May, after four years of building. The city had "
    "planned for 2,000 riders a day; in the first summer there were 5,400 on weekdays and 7,100 on Sundays. "
    "Shops on the street feared for their trade, since 180 parking places had gone, but in a survey in "
    "October 61 of 94 owners said that they sold as much as before or more. Two crossings remain dangerous: "
    "at the fish market, where lorries turn, and below the railway bridge, where it is dark. The council "
    "has set aside 1.3 million for lights and a wider crossing, to be built next spring."
)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A single user message to answer. `kind`: the kind of task, such as "coding"."""

    name: str
    kind: str
    text: str

    @property
    def key(self) -> str:
        """The prompt's name, followed by a digest that identifies its text."""
        return f"{self.name} {sha256(self.text.encode()).hexdigest()[:8]}"


SHORT = (
    Prompt("hash-table", "coding", "Write a hash table in Python with put, get and delete, without dict."),
    Prompt("dates", "coding", "Write a C function that tells whether a year is a leap year, and test it."),
    Prompt("tides", "explaining", "Explain to a ten-year-old why there are two high tides a day."),
    Prompt("compilers", "explaining", "What is the difference between a compiler and an interpreter?"),
    Prompt(
        "translate",
        "translating",
        "Translate into German: The old bridge was closed in spring because its stones had come loose. Since "
        "then everybody who lives on the island takes the ferry, which sails every twenty minutes.",
    ),
    Prompt("summary", "summarising", f"Summarise this in two sentences.\n\n{PARAGRAPH}"),
    Prompt(
        "extract",
        "extracting",
        f"List every number in this text as JSON, each with what it counts.\n\n{PARAGRAPH}",
    ),
    Prompt(
        "trains",
        "arithmetic",
        "A train leaves at 9:40 at 80 km/h, another an hour later from the same station at 110 km/h on the "
        "same line. When does the second catch up? Work it out step by step.",
    ),
)


def add_prompt_options(
    parser: argparse.ArgumentParser, tokens: int = 128, default: str = "a built-in set of eight"
) -> None:
    """Add the options that `prompts_of` reads. tokens: default of --tokens; default: the prompts answered
    without --prompts, for the help text."""
    prompts = parser.add_argument_group("prompts")
    prompts.add_argument(
        "--prompts",
        type=Path,
        metavar="FILE",
        help='prompts to answer, one per line: plain text, or JSON with "prompt" or "turns" and optionally '
        f'"id" and "kind" (default: {default})',
    )
    prompts.add_argument(
        "--kinds",
        metavar="NAME,…",
        help="only prompts of these kinds; built in: coding, explaining, translating, summarising, "
        "extracting, arithmetic (default: all)",
    )
    prompts.add_argument(
        "--per-kind", type=int, metavar="N", help="only the first N prompts of each kind (default: all)"
    )
    prompts.add_argument(
        "--tokens",
        type=int,
        metavar="N",
        default=tokens,
        help="maximum number of tokens per answer (default: %(default)s)",
    )


def add_sampling_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that `checked_options` reads."""
    sampling = parser.add_argument_group("sampling", "These have no effect at temperature 0.")
    add_truncation_options(sampling)
    sampling.add_argument(
        "--seed", type=int, metavar="S", default=0, help="seed of the random numbers (default: 0)"
    )


def add_repeats_option(
    parser: "argparse._ActionsContainer", default: int, what: str = "number of timed runs of each measurement"
) -> None:
    """Add --repeats. what: what it counts, for the help text."""
    parser.add_argument(
        "--repeats", type=int, metavar="N", default=default, help=f"{what} (default: %(default)s)"
    )


def add_plot_option(parser: "argparse._ActionsContainer", what: str) -> None:
    """Add --plot. what: the plotted quantities, for the help text."""
    parser.add_argument(
        "--plot",
        type=Path,
        metavar="FILE",
        help=f"also plot {what} to this PNG or SVG file; needs the extra “bench” (default: none)",
    )


def prompts_of(parsed: argparse.Namespace) -> list[Prompt]:
    """Return the prompts that the options choose. Raises BadOption if they choose none, if a number is below
    1, or if the file of prompts cannot be read."""
    if parsed.tokens < 1 or (parsed.per_kind is not None and parsed.per_kind < 1):
        raise BadOption("--tokens and --per-kind must be at least 1.", "Omit them to use the defaults.")
    prompts = read_prompts(parsed.prompts) if parsed.prompts else SHORT
    return choose(prompts, listed(parsed.kinds) if parsed.kinds else [], parsed.per_kind)


def checked_options(parsed: argparse.Namespace, **more: object) -> protocol.Options:
    """Return the sampling options, together with the fields `more`, as Options. An answer that repeats itself
    is measured to its end. Raises BadOption if a value is out of range."""
    fields = {name: getattr(parsed, name) for name in ("top_p", "top_k", "min_p", "seed")}
    return validated(protocol.Options, fields | {"stop_loops": False} | more)


def listed(text: str) -> list[str]:
    """Return the parts of a comma-separated list."""
    return [part.strip() for part in text.split(",")]


def numbers(option: str, text: str, kind: Callable[[str], T]) -> list[T]:
    """Return the distinct numbers in a list such as “1,64,256”. Raises BadOption, which names `option`, if a
    part is not a number."""
    try:
        return list(dict.fromkeys(kind(part) for part in listed(text)))
    except ValueError:
        raise BadOption(f"--{option} {text!r} is not a list of numbers.", "Example: 1,64,256.") from None


def one_of(option: str, text: str, known: Collection[str]) -> tuple[str, ...]:
    """Return the names in a comma-separated list. Raises BadOption if a name is not in `known`."""
    names = tuple(listed(text))
    if unknown := set(names) - set(known):
        raise BadOption(f"--{option}: unknown name {min(unknown)!r}.", f"Choose from: {', '.join(known)}.")
    return names


def require_package(name: str, purpose: str) -> None:
    """Raise MissingExtra unless `name`, a package of the extra “bench”, is installed.

    purpose: what needs the package; the subject of the error's message.
    """
    if find_spec(name) is None:
        raise MissingExtra(
            f"{purpose} needs the package {name}.", 'Run: pip install "specexec-desktop[bench]"'
        )


def say(text: str) -> None:
    """Print `text`, which says what is being measured, to stderr."""
    print(text, file=sys.stderr)


def read_prompts(path: Path) -> list[Prompt]:
    """Read the prompts in a file. Each line is plain text, or a JSON object with `prompt` or `turns` (the
    first turn is used), and optionally `id` and `kind`.

    Raises BadOption if the file cannot be read or a line has no prompt.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise BadOption(
            f"{path} cannot be read as text.", "Name a UTF-8 file, one prompt per line."
        ) from None
    return [_prompt(line, number) for number, line in enumerate(lines, start=1) if line.strip()]


def _prompt(line: str, number: int) -> Prompt:
    if not line.lstrip().startswith("{"):
        return Prompt(str(number), "", line.strip())
    try:
        fields: dict[str, Any] = json.loads(line)
        text = fields["turns"][0] if "turns" in fields else fields["prompt"]
    except (ValueError, LookupError, TypeError):
        text = None
    if not isinstance(text, str) or not text.strip():
        raise BadOption(
            f"Line {number} of the prompt file has no prompt.",
            'Each JSON line is {"prompt": "…"} or {"turns": ["…"]}.',
        )
    return Prompt(str(fields.get("id", number)), str(fields.get("kind", "")), text)


def choose(prompts: Iterable[Prompt], kinds: Collection[str], per_kind: int | None) -> list[Prompt]:
    """Return the prompts of `kinds` (empty: all kinds), the first `per_kind` of each (None: all).

    Raises BadOption if a kind has no prompts or if there are no prompts at all.
    """
    by_kind: dict[str, list[Prompt]] = {}
    for prompt in prompts:
        by_kind.setdefault(prompt.kind, []).append(prompt)
    if missing := set(kinds) - set(by_kind):
        raise BadOption(f"No prompt is of the kind {min(missing)!r}.", f"Choose from: {', '.join(by_kind)}.")
    chosen = [prompt for kind in kinds or by_kind for prompt in by_kind[kind][:per_kind]]
    if not chosen:
        raise BadOption("The prompt file is empty.", "Name a file with one prompt per line.")
    return chosen
