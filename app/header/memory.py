"""Memory use in words, by tier and by part."""

from PySide6.QtCore import QCoreApplication

from app import formatting
from engine.protocol.messages import Memory, MemoryPart


def _tr(text: str) -> str:
    return QCoreApplication.translate("memory", text)


def by_tier(memory: Memory) -> str:
    """Return one line of text with the bytes in each tier in use."""
    on_disk = [part for part in memory.parts if part.tier == "ssd"]
    experts = sum(part.nbytes for part in on_disk if part.what == "target_experts")
    ssd = sum(part.nbytes for part in on_disk) - experts
    parts = [
        _tr("VRAM {}").format(formatting.nbytes(memory.vram)) if memory.vram else "",
        _tr("RAM {}").format(formatting.nbytes(memory.ram)) if memory.ram else "",
        _tr("{} read from the disk in every pass").format(formatting.nbytes(ssd)) if ssd else "",
        _tr("experts of {} on the disk").format(formatting.nbytes(experts)) if experts else "",
    ]
    return " · ".join(filter(None, parts))


def by_part(memory: Memory) -> str:
    """Return one line of text per part: its name, its bytes and its tier."""
    tiers = {"vram": _tr("VRAM"), "ram": _tr("RAM"), "ssd": _tr("disk")}
    return "\n".join(
        f"{_part_name(part)}: {formatting.nbytes(part.nbytes)} ({tiers[part.tier]})" for part in memory.parts
    )


def _part_name(part: MemoryPart) -> str:
    return {
        "target": _tr("target"),
        "target_experts": _tr("experts"),
        "target_ring": _tr("slots for streamed layers"),
        "target_cache": _tr("target KV cache"),
        "draft": _tr("draft"),
        "draft_cache": _tr("draft KV cache"),
        "prompt_cache": _tr("other chats"),
        "heads": _tr("heads"),
    }[part.what]
