"""Stream bytes from the SSD and RAM to the compute device, in the order in which a pass uses them.

This package knows nothing about models, and only `link` needs torch.
"""

from engine.streaming.chunk_placement import WeightLimits
from engine.streaming.chunks import CachedForm, StoredMatrix
from engine.streaming.disk import DiskFile, close_files, open_files
from engine.streaming.expert_counts import ExpertCounts
from engine.streaming.mover import Bytes, Movable, Mover
from engine.streaming.streamer import Streamer
from engine.streaming.table import DiskTable, StoredTable

__all__ = [
    "Bytes",
    "CachedForm",
    "DiskFile",
    "DiskTable",
    "ExpertCounts",
    "Movable",
    "Mover",
    "StoredMatrix",
    "StoredTable",
    "Streamer",
    "WeightLimits",
    "close_files",
    "open_files",
]
