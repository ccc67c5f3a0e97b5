"""Bytes from SSD and RAM to the compute device in time. Moves what it is told; knows no model."""

from engine.streaming.chunks import Stored
from engine.streaming.disk import DiskFile, open_files
from engine.streaming.link import link_to
from engine.streaming.placement import slot_nbytes
from engine.streaming.streamer import Limits, Streamer
from engine.streaming.table import DiskTable

__all__ = ["DiskFile", "DiskTable", "Limits", "Stored", "Streamer", "link_to", "open_files", "slot_nbytes"]
