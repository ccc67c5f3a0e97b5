"""The protocol between a client, such as the window, and the engine process. Never imports torch or Qt."""

from engine.protocol.connection import EngineConnection as EngineConnection
from engine.protocol.messages import *  # noqa: F403
from engine.protocol.outbox import Outbox as Outbox
