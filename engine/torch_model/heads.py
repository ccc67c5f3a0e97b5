"""Loads heads for torch to run."""

from engine.heads import Heads, HeadsFile
from engine.model.interface import Model
from engine.torch_model.dflash import TorchDFlashHead
from engine.torch_model.eagle import TorchEagleHead
from engine.torch_model.medusa import TorchMedusaHeads


def load_heads(file: HeadsFile, target: Model, context: int) -> Heads:
    """Bind the heads in `file` to `target`, which need not be a `TorchModel`. Arguments and errors are those
    of `engine.heads.load_compiled_heads`."""
    if file.kind == "medusa":
        return TorchMedusaHeads(file, target)
    make = TorchDFlashHead if file.kind == "dflash" else TorchEagleHead
    return make(file, target, context)
