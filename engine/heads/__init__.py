"""Draft heads, small networks that guess a target's next tokens from its hidden states: Medusa, EAGLE,
P-EAGLE, DFlash, assistants of Gemma 4, and the layer for multi-token prediction that comes with a target.
Here are their files, how they fit a target, and all as compiled programs but Medusa; `engine.torch_model`
has all of them.

Heads are trained for one target and bound to it when loaded: they read its states, and may share its
embedding and its output head.
"""

from collections.abc import Callable

from engine.heads import (
    compiled_assistant,
    compiled_dflash,
    compiled_eagle,
    compiled_first_eagle,
    compiled_p_eagle,
)
from engine.heads.companion import is_companion_of
from engine.heads.compiled_mtp import load_compiled_mtp
from engine.heads.files import BUILT_IN, HeadsFile, built_in_heads, open_heads
from engine.heads.interface import AssistantHead, BlockHead, CachedHead, EagleHead, Heads, MedusaHeads
from engine.heads.target_parts import with_borrowed
from engine.model.compiled import CompiledModel
from engine.model.interface import Model

__all__ = [
    "BUILT_IN",
    "AssistantHead",
    "BlockHead",
    "CachedHead",
    "EagleHead",
    "Heads",
    "HeadsFile",
    "MedusaHeads",
    "built_in_heads",
    "is_companion_of",
    "load_compiled_heads",
    "open_heads",
    "with_borrowed",
]

_Covers = Callable[[HeadsFile, CompiledModel], bool]
_Bind = Callable[[HeadsFile, CompiledModel, int], Heads]
_COMPILED: tuple[tuple[_Covers, _Bind], ...] = (
    (compiled_eagle.covers, compiled_eagle.CompiledEagleHead),
    (compiled_first_eagle.covers, compiled_first_eagle.CompiledFirstEagleHead),
    (compiled_p_eagle.covers, compiled_p_eagle.CompiledPEagleHead),
    (compiled_dflash.covers, compiled_dflash.CompiledDFlashHead),
    (compiled_assistant.covers, compiled_assistant.CompiledAssistantHead),
)


def load_compiled_heads(file: HeadsFile, target: Model, context: int) -> Heads | None:
    """Bind the heads in `file` to `target`. Return None if compiled steps do not cover them or the target.

    context: maximum number of tokens in a text. Raises BadCheckpoint or VocabularyMismatch if the heads are
    damaged or made for another target.
    """
    if not isinstance(target, CompiledModel):
        return None
    if file.layer:
        return load_compiled_mtp(file.layer, target, context)
    made = (bind(file, target, context) for covers, bind in _COMPILED if covers(file, target))
    return next(made, None)
