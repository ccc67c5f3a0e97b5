"""Strict reading of requests: a field that could change the text and is not known is refused by name."""

import re
from typing import Any, TypeVar

import msgspec

from engine.documents import json_of
from engine.server.faults import RequestFault, unsupported

T = TypeVar("T")

_UNKNOWN = re.compile(r"unknown field `([^`]*)`(?: - at `\$\.?([^`]*)`)?")
_PLACE = re.compile(r" - at `\$\.?([^`]*)`$")


def read_fields(body: bytes, kind: type[T], harmless: frozenset[str]) -> T:
    """Return the JSON object `body` as a `kind`, whose constructor takes the fields that are supported.

    harmless: fields that cannot change the text; they are ignored. So is every field that is null, which
    stands for its default. Raises RequestFault.
    """
    try:
        content = json_of(body, dict[str, Any])
    except ValueError as error:
        raise RequestFault(400, "bad_json", f"The body is not a JSON object: {error}.") from None
    given = {name: value for name, value in content.items() if value is not None and name not in harmless}
    try:
        return msgspec.convert(given, kind)
    except msgspec.ValidationError as error:
        raise _refused(str(error)) from None


def _refused(reason: str) -> RequestFault:
    if unknown := _UNKNOWN.search(reason):
        return unsupported(".".join(filter(None, (unknown[2], unknown[1]))))
    place = _PLACE.search(reason)
    sentence = _PLACE.sub("", reason).replace("`", "'")
    name = place[1] if place else ""
    about = f" in the field '{name}'" if name else ""
    return RequestFault(400, "bad_field", f"The request is not valid{about}: {sentence}.", name)
