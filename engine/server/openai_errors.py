"""Errors as OpenAI's interfaces give them."""

from typing import Any

from engine.server.faults import RequestFault

_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}
_CODES = {"prompt_too_long": "context_length_exceeded", "model_not_found": "model_not_found"}


def error_of(fault: RequestFault) -> dict[str, Any]:
    kind = _TYPES.get(fault.status, "invalid_request_error" if fault.status < 500 else "server_error")
    return {
        "error": {
            "message": fault.message,
            "type": kind,
            "param": fault.field or None,
            "code": _CODES.get(fault.kind, fault.kind),
        }
    }
