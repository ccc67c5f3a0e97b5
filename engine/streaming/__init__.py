"""Bytes from SSD and RAM to the compute device in time. Moves what it is told; knows no model."""

from engine.streaming.chunks import Stored
from engine.streaming.disk import DiskFile
from engine.streaming.streamer import Streamer, slot_nbytes
from engine.streaming.table import DiskTable

__all__ = ["DiskFile", "DiskTable", "Stored", "Streamer", "slot_nbytes"]
