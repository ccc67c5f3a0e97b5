"""Fields of nested records by their path ("options.top_p"), with the ranges their types declare. Knows no
Qt."""

import math
from dataclasses import dataclass
from typing import Any, TypeVar, get_type_hints

import msgspec
from msgspec import Struct, structs

Record = TypeVar("Record", bound=Struct)


@dataclass(frozen=True, slots=True)
class Range:
    """Of a number. is_open: `lowest` itself is excluded. optional: None is a value too."""

    lowest: float
    highest: float
    is_open: bool
    optional: bool


def get(record: Struct, path: str) -> Any:
    value: Any = record
    for name in path.split("."):
        value = getattr(value, name)
    return value


def replaced(record: Record, path: str, value: object) -> Record:
    name, _, rest = path.partition(".")
    return structs.replace(record, **{name: replaced(getattr(record, name), rest, value) if rest else value})


def type_at(kind: type[Struct], path: str) -> Any:
    """With its constraints."""
    name, _, rest = path.partition(".")
    declared = get_type_hints(kind, include_extras=True)[name]
    return type_at(declared, rest) if rest else declared


def range_at(kind: type[Struct], path: str) -> Range:
    declared = msgspec.inspect.type_info(type_at(kind, path))
    kinds = declared.types if isinstance(declared, msgspec.inspect.UnionType) else (declared,)
    number = next(
        each for each in kinds if isinstance(each, msgspec.inspect.IntType | msgspec.inspect.FloatType)
    )
    lowest = number.ge if number.ge is not None else number.gt
    return Range(
        -math.inf if lowest is None else lowest,
        math.inf if number.le is None else number.le,
        number.gt is not None,
        len(kinds) > 1,
    )


def is_valid(kind: type[Struct], path: str, value: object) -> bool:
    """By the constraints of the field's type, which are the protocol's own."""
    try:
        msgspec.convert(msgspec.to_builtins(value, str_keys=True), type_at(kind, path), str_keys=True)
    except msgspec.ValidationError:
        return False
    return True
