"""What an option is. Each is declared once, in `chat_options` or `program_options`: the pages are made from
these lists.

Ranges are not here: they are the protocol's (`fields.range_at`). `usual` is only what a slider spans.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["choice", "switch", "whole", "fraction", "large", "text", "lines", "biases"]
Choice = tuple[str | None, str]  # value, text


@dataclass(frozen=True, slots=True)
class Option:
    """One field of a record.

    Attributes:
        path: of the field.
        kind: how it is edited. "large": a whole number too large for a spin box. "lines": a list of texts.
        text, help: its name, and a sentence on what it does.
        lowest: what the lowest value means in words, or no value where the field may have none; "": nothing.
        usual: the span of its slider; None: it has none.
        choices: of a "choice"; those that depend on the machine are set on the page.
        reloads: it counts from the next time the model is loaded.
    """

    path: str
    kind: Kind
    text: str
    help: str
    lowest: str = ""
    usual: tuple[float, float] | None = None
    step: float = 1
    unit: str = ""
    choices: Sequence[Choice] = ()
    reloads: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    options: Sequence[Option]
