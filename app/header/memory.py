"""What is taken of each tier, in words."""

from PySide6.QtCore import QCoreApplication

from app import words
from engine.protocol.messages import Memory, MemoryPart


def _tr(text: str) -> str:
    return QCoreApplication.translate("memory", text)


def by_tier(memory: Memory) -> str:
    """One line; tiers that hold nothing are left out."""
    ssd = sum(part.nbytes for part in memory.parts if part.tier == "ssd")
    parts = [
        _tr("VRAM {}").format(words.nbytes(memory.vram)) if memory.vram else "",
        _tr("RAM {}").format(words.nbytes(memory.ram)) if memory.ram else "",
        _tr("{} read from the disk in each pass").format(words.nbytes(ssd)) if ssd else "",
    ]
    return " · ".join(filter(None, parts))


def by_part(memory: Memory) -> str:
    """A line for each part."""
    tiers = {"vram": _tr("VRAM"), "ram": _tr("RAM"), "ssd": _tr("disk")}
    return "\n".join(
        f"{_what(part)}: {words.nbytes(part.nbytes)} ({tiers[part.tier]})" for part in memory.parts
    )


def _what(part: MemoryPart) -> str:
    return {
        "target": _tr("target"),
        "target_ring": _tr("slots of streamed layers"),
        "target_cache": _tr("the target's KV cache"),
        "draft": _tr("draft"),
        "draft_cache": _tr("the draft's KV cache"),
        "heads": _tr("heads"),
    }[part.what]
