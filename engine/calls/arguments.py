"""The arguments of a call as an object, whatever a model has written."""

from typing import Any

from engine.documents import json_of

NO_JSON = "INVALID_JSON"  # the argument that holds what is no JSON object


def arguments_of(text: str) -> dict[str, Any]:
    """Return the arguments; what is no JSON object is the only argument of one."""
    try:
        return json_of(text.strip().encode() or b"{}", dict[str, Any])
    except ValueError:
        return {NO_JSON: text}
