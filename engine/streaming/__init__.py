"""Stream bytes from the SSD and RAM to the compute device, in the order in which a pass uses them.

This package knows nothing about models.
"""

from engine.streaming.chunks import StoredMatrix
from engine.streaming.disk import DiskFile, open_files
from engine.streaming.link import link_to
from engine.streaming.placement import slot_nbytes
from engine.streaming.streamer import Streamer, WeightLimits
from engine.streaming.table import DiskTable

__all__ = [
    "DiskFile",
    "DiskTable",
    "StoredMatrix",
    "Streamer",
    "WeightLimits",
    "link_to",
    "open_files",
    "slot_nbytes",
]
