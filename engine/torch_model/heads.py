"""Loads heads for torch to run."""

from collections.abc import Callable

from engine.heads import Heads, HeadsFile
from engine.model.interface import Model
from engine.torch_model.assistant import TorchAssistantHead
from engine.torch_model.dflash import TorchDFlashHead
from engine.torch_model.eagle import TorchEagleHead
from engine.torch_model.medusa import TorchMedusaHeads
from engine.torch_model.p_eagle import TorchPEagleHead

_MAKERS: dict[str, Callable[[HeadsFile, Model, int], Heads]] = {
    "assistant": TorchAssistantHead,
    "dflash": TorchDFlashHead,
    "p-eagle": TorchPEagleHead,
}


def load_heads(file: HeadsFile, target: Model, context: int) -> Heads:
    """Bind the heads in `file` to `target`, which need not be a `TorchModel`. Arguments and errors are those
    of `engine.heads.load_compiled_heads`."""
    if file.kind == "medusa":
        return TorchMedusaHeads(file, target)
    return _MAKERS.get(file.kind, TorchEagleHead)(file, target, context)
