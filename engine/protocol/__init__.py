"""The protocol between a client, such as the window, and the engine process. Never imports torch or Qt."""

from engine.protocol.connection import EngineConnection as EngineConnection
from engine.protocol.events import *  # noqa: F403
from engine.protocol.messages import decode_event as decode_event
from engine.protocol.messages import decode_request as decode_request
from engine.protocol.messages import encode as encode
from engine.protocol.messages import id_of as id_of
from engine.protocol.outbox import Outbox as Outbox
from engine.protocol.remarks import *  # noqa: F403
from engine.protocol.requests import *  # noqa: F403
