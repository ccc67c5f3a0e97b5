"""Draft heads, small networks that guess a target's next tokens from its hidden states: Medusa and EAGLE.

Heads are trained for one target and bound to it when loaded: they read its states, and may share its
embedding and its output head.
"""

from engine.heads.compiled_eagle import CompiledEagleHead, covers
from engine.heads.eagle import EagleHead
from engine.heads.files import HeadsFile, open_heads
from engine.heads.medusa import MedusaHeads
from engine.heads.target_parts import with_borrowed
from engine.model.compiled import CompiledModel
from engine.model.interface import Model

__all__ = [
    "AnyEagleHead",
    "EagleHead",
    "Heads",
    "HeadsFile",
    "MedusaHeads",
    "load_heads",
    "open_heads",
    "with_borrowed",
]

AnyEagleHead = EagleHead | CompiledEagleHead
Heads = MedusaHeads | AnyEagleHead


def load_heads(file: HeadsFile, target: Model, context: int) -> Heads:
    """Bind the heads in `file` to `target`. context: maximum number of tokens in a text.

    Raises BadCheckpoint or VocabularyMismatch if the heads are damaged or made for another target.
    """
    if file.kind == "medusa":
        return MedusaHeads(file, target)
    if isinstance(target, CompiledModel) and covers(file, target):
        return CompiledEagleHead(file, target, context)
    return EagleHead(file, target, context)
