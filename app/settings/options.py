"""What an option is, and how to read and replace the record field that it edits. Uses no Qt.

Each option is declared once, in `chat_options` or `program_options`; the pages are built from these lists.
A path such as "options.top_p" names a field of nested records. `range_at` takes the range of a number from
the constraints of the field's type, which the protocol declares; `Option.usual` is only the range of the
slider.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, get_type_hints

import msgspec
from msgspec import Struct, structs

Record = TypeVar("Record", bound=Struct)

Kind = Literal["choice", "switch", "whole", "fraction", "large", "text", "lines", "biases"]
Choice = tuple[str | bool | None, str]  # (value, text to show)


@dataclass(frozen=True, slots=True)
class Option:
    """The declaration of one option.

    Attributes:
        path: the path of the field that it edits.
        kind: the kind of editor. "large" is a whole number too large for a spin box, "lines" a list of texts.
        text, help: the name, and a sentence on the effect.
        lowest: the text to show for the lowest value, or for None in an optional field; "" shows the number.
        usual: the range of the slider; None if there is no slider.
        choices: what an option of kind "choice" always offers; the page adds what depends on the machine.
        reloads: whether a change takes effect only when the model is loaded again.
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
class OptionSection:
    """A titled group of options."""

    title: str
    options: Sequence[Option]


@dataclass(frozen=True, slots=True)
class Range:
    """The range of a number. `is_open`: whether `lowest` is excluded; `optional`: whether None is allowed."""

    lowest: float
    highest: float
    is_open: bool
    optional: bool


def get(record: Struct, path: str) -> Any:
    """Return the value of the field at a path."""
    value: Any = record
    for name in path.split("."):
        value = getattr(value, name)
    return value


def replaced(record: Record, path: str, value: object) -> Record:
    """Return a copy of `record` with `value` in the field at a path."""
    name, _, rest = path.partition(".")
    return structs.replace(record, **{name: replaced(getattr(record, name), rest, value) if rest else value})


def taken_back(now: Record, before: Record, after: Record) -> Record:
    """Return `now` without the change from `before` to `after`. A field that differs from `after` was changed
    since, and stays."""
    fields: dict[str, object] = {}
    for name in now.__struct_fields__:
        value, old, new = getattr(now, name), getattr(before, name), getattr(after, name)
        if all(isinstance(each, Struct) for each in (value, old, new)):
            fields[name] = taken_back(value, old, new)
        elif value == new:
            fields[name] = old
    return structs.replace(now, **fields)


def type_at(kind: type[Struct], path: str) -> Any:
    """Return the declared type, with its constraints, of the field at a path in a record of type `kind`."""
    name, _, rest = path.partition(".")
    declared = get_type_hints(kind, include_extras=True)[name]
    return type_at(declared, rest) if rest else declared


def range_at(kind: type[Struct], path: str) -> Range:
    """Return the range of a number field."""
    declared = msgspec.inspect.type_info(type_at(kind, path))
    kinds = declared.types if isinstance(declared, msgspec.inspect.UnionType) else (declared,)
    number = next(
        info for info in kinds if isinstance(info, msgspec.inspect.IntType | msgspec.inspect.FloatType)
    )
    lowest = number.ge if number.ge is not None else number.gt
    return Range(
        -math.inf if lowest is None else lowest,
        math.inf if number.le is None else number.le,
        number.gt is not None,
        len(kinds) > 1,
    )


def is_valid(kind: type[Struct], path: str, value: object) -> bool:
    """Return whether a value meets the constraints of the field's type, as declared by the protocol."""
    try:
        msgspec.convert(msgspec.to_builtins(value, str_keys=True), type_at(kind, path), str_keys=True)
    except msgspec.ValidationError:
        return False
    return True
