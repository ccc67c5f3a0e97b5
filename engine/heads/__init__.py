"""Small networks that guess a target's next tokens from its own hidden states: Medusa's heads and EAGLE's.

A head is made for one target and bound to it when it is loaded: it reads the target's states, and may borrow
its embedding and its head.
"""

from engine.heads.borrowed import with_borrowed
from engine.heads.eagle import EagleHead
from engine.heads.files import HeadsFile, open_heads
from engine.heads.medusa import MedusaHeads
from engine.model import Model

__all__ = ["EagleHead", "Heads", "HeadsFile", "MedusaHeads", "load_heads", "open_heads", "with_borrowed"]

Heads = MedusaHeads | EagleHead


def load_heads(file: HeadsFile, target: Model, context: int) -> Heads:
    """Bind the heads in `file` to `target`. context: most tokens of one text.

    Raises BadCheckpoint or VocabularyMismatch where they are damaged or made for another target.
    """
    return MedusaHeads(file, target) if file.kind == "medusa" else EagleHead(file, target, context)
