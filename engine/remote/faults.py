"""What went wrong with a request to an engine elsewhere, as errors for the user."""

import re
import socket
import ssl

import httpx2
import msgspec

from engine.errors import ModelNotFound, SpecExecError
from engine.hub.headers import requested_wait_s
from engine.remote.engines import AddedEngine, variable_of
from engine.remote.errors import (
    CertificateRefused,
    EngineBusy,
    EngineUnreachable,
    KeyRefused,
    NotAnEngine,
    RequestRefused,
)

MOST_SAID = 500  # characters of a server's own words


def unreachable(engine: AddedEngine, error: httpx2.TransportError) -> SpecExecError:
    """Return the error for a fault of the network."""
    place = engine.place
    for cause in _causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            return CertificateRefused(
                f"The certificate of {place} is not trusted: {cause.verify_message}.",
                "If the server has a certificate of its own, add the engine with --certificate FILE.",
            )
        if isinstance(cause, ssl.SSLError):
            return EngineUnreachable(
                f"{place} does not speak TLS as expected.", "Check whether it is http:// or https://."
            )
        if isinstance(cause, socket.gaierror):
            return EngineUnreachable(
                f"The host of {place} is not known.", "Check the address, and the connection to the network."
            )
        if isinstance(cause, ConnectionRefusedError):
            return EngineUnreachable(
                f"Nothing listens at {place}.", "Start the server, or check the address and its port."
            )
    match error:
        case httpx2.ConnectTimeout():
            return EngineUnreachable(
                f"{place} did not respond in time.", "Check the address, the network and the firewall."
            )
        case httpx2.TimeoutException():
            return EngineUnreachable(
                f"{place} fell silent.", "Check the server, then ask again; what it wrote is kept."
            )
        case httpx2.ConnectError():
            return EngineUnreachable(
                f"{place} cannot be reached: {_words(str(error))}.", "Check the network and the address."
            )
        case _:
            return EngineUnreachable(
                f"The connection to {place} broke off.", "Check the server, then ask again."
            )


def refusal(engine: AddedEngine, response: httpx2.Response, body: bytes, sent_key: bool) -> SpecExecError:
    """Return the error for an answer whose status is not 200."""
    place, status, said = engine.place, response.status_code, said_in(body)
    if 300 <= status < 400:
        target = _words(response.headers.get("Location", "")) or "nowhere"
        return NotAnEngine(
            f"{place} redirects to {target}, which is not followed.",
            "If you trust that address, add the engine with it.",
        )
    if status in (401, 403, 407):
        if sent_key:
            return KeyRefused(
                f"{place} refuses the key{said}.", "Remove the engine and add it with the right key."
            )
        return KeyRefused(
            f"{place} asks for a key{said}.",
            f"Add the engine with a key, or set ${variable_of(engine.name)}.",
        )
    if status in (429, 502, 503, 504, 529):
        wait = requested_wait_s(response)
        hint = f"Ask again in {wait:.0f} s." if wait else "Ask again a little later."
        return EngineBusy(f"{place} cannot answer now{said}.", hint)
    if status == 404 and "model" in said.lower():
        return ModelNotFound(
            f"{place} no longer serves this model{said}.", "Choose one of those that it serves now."
        )
    if status in (404, 405):
        return NotAnEngine(f"{place} has no such interface{said}.", "Check the address: most end with /v1.")
    if 400 <= status < 500:
        return RequestRefused(f"{place} refuses the request{said}.", "Change what it names, then ask again.")
    return RequestRefused(f"{place} failed with the status {status}{said}.", "Read the log of that server.")


def said_in(body: bytes) -> str:
    """Return a server's own words about a problem, to be put behind a sentence: “: …”, or ""."""
    try:
        document = msgspec.json.decode(body)
    except (ValueError, RecursionError):
        return ""
    return said(document)


def said(document: object) -> str:
    """Return the same from what the JSON of an error contains, in the shapes of several servers."""
    match document:
        case {"error": str(text)} | {"error": {"message": str(text)}} | {"message": str(text)}:
            return _behind(text)
        case {"detail": str(text)} | {"object": "error", "message": str(text)}:
            return _behind(text)
        case {"error": inner} | {"detail": inner}:
            return _behind(msgspec.json.encode(inner).decode())
        case _:
            return ""


def _behind(text: str) -> str:
    words = _words(text)
    return f": {words}" if words else ""


def _words(text: str) -> str:
    """Return foreign words as one line of limited length."""
    line = re.sub(
        r"\s+", " ", "".join(c if c.isprintable() or c.isspace() else "\ufffd" for c in text[:4096])
    )
    line = line.strip().rstrip(".")
    return line if len(line) <= MOST_SAID else line[: MOST_SAID - 1] + "…"


def _causes(error: BaseException) -> list[BaseException]:
    found: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and len(found) < 10:
        found.append(cause)
        cause = cause.__cause__ or cause.__context__
    return found
