"""Why the server refuses a request: an HTTP status, a kind, a sentence, and the field it is about."""

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as field_of

from engine import protocol
from engine.errors import SpecExecError

STATUSES = {
    "bad_constraint": 400,
    "bad_option": 400,
    "empty_prompt": 400,
    "prompt_too_long": 400,
    "model_not_found": 404,
    "cancelled": 503,
    "card_failed": 503,
    "disk_silent": 503,
    "engine_gone": 503,
    "not_loaded": 503,
    "out_of_memory": 503,
    "system_limit": 503,
}  # HTTP statuses of the engine's kinds of errors; all others are 500


@dataclass
class RequestFault(Exception):
    """A request that cannot be fulfilled.

    status: HTTP status. kind: as in engine.errors, or one of the server's own. message: a sentence or two.
    field: the name of the request's field that is at fault, or "".
    """

    status: int
    kind: str
    message: str
    field: str = ""
    headers: Mapping[str, str] = field_of(default_factory=dict)

    def as_error(self) -> SpecExecError:
        """Return the same as an error for the command line."""
        error = SpecExecError(self.message)
        error.kind = self.kind
        return error


def unsupported(name: str, what: str = "") -> RequestFault:
    """Return the fault of a request whose field `name` would change the text, but is not supported."""
    return RequestFault(400, "unsupported_field", what or f"The field '{name}' is not supported.", name)


def fault_of(failed: protocol.Failed) -> RequestFault:
    """Return the fault to report for a request that failed in the engine."""
    message = " ".join(filter(None, (failed.message, failed.hint)))
    return RequestFault(STATUSES.get(failed.kind, 500), failed.kind, message)
