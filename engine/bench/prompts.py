"""The prompts that drafters are compared on: a file's, or a short set that is always there."""

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from engine.errors import BadOption

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
    """Attributes: `kind` of task; `text`, of the one message of a user."""

    name: str
    kind: str
    text: str

    @property
    def key(self) -> str:
        """Tells its text from every other."""
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


def read_prompts(path: Path) -> list[Prompt]:
    """Of a file of JSON objects, one a line (`turns`, of which the first is taken, or `prompt`; perhaps `id`
    and `kind`), or of plain text, one prompt a line.

    Raises BadOption.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise BadOption(f"{path} is no file of prompts.", "Give a text file, one prompt a line.") from None
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
            f"Line {number} of the prompts has no text.", 'Each line is {"prompt": "…"} or {"turns": ["…"]}.'
        )
    return Prompt(str(fields.get("id", number)), str(fields.get("kind", "")), text)


def choose(prompts: Iterable[Prompt], kinds: Collection[str], per_kind: int | None) -> list[Prompt]:
    """Those of `kinds` (none: of all), the first `per_kind` of each (None: all). Raises BadOption where a
    kind, or everything, is missing."""
    found: dict[str, list[Prompt]] = {}
    for prompt in prompts:
        found.setdefault(prompt.kind, []).append(prompt)
    if missing := set(kinds) - set(found):
        raise BadOption(f"No prompt is of the kind {min(missing)}.", f"There are: {', '.join(found)}.")
    chosen = [prompt for kind in kinds or found for prompt in found[kind][:per_kind]]
    if not chosen:
        raise BadOption("There are no prompts.", "Give a file with one prompt a line.")
    return chosen
