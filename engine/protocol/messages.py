"""All messages of the protocol: requests to the engine and events from it, and how they are encoded."""

import msgspec
from msgspec import Struct

from engine.protocol.events import *  # noqa: F403
from engine.protocol.events import Event
from engine.protocol.remarks import *  # noqa: F403
from engine.protocol.requests import *  # noqa: F403
from engine.protocol.requests import Request

_encoder = msgspec.msgpack.Encoder()


def encode(message: Request | Event) -> bytes:
    """Encode a message. Replaces lone surrogates, which cannot be sent; they come from file names that are
    not valid text."""
    try:
        return _encoder.encode(message)
    except UnicodeEncodeError:
        return _encoder.encode(_well_formed(msgspec.to_builtins(message)))


def _well_formed(value: object) -> object:
    match value:
        case str():
            return value.encode("utf-8", "replace").decode()
        case list():
            return [_well_formed(item) for item in value]
        case dict():
            return {key: _well_formed(item) for key, item in value.items()}
        case _:
            return value


class _Identified(Struct):
    id: int = 0


def id_of(data: bytes) -> int:
    """Return the id of an encoded request, even if the rest of it is invalid; 0 if it has no id."""
    try:
        return msgspec.msgpack.decode(data, type=_Identified).id
    except ValueError:
        return 0


decode_request = msgspec.msgpack.Decoder(Request).decode
decode_event = msgspec.msgpack.Decoder(Event).decode
