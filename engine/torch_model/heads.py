"""Loads heads for torch to run."""

from engine.heads import Heads, HeadsFile
from engine.model.interface import Model
from engine.torch_model.eagle import TorchEagleHead
from engine.torch_model.medusa import TorchMedusaHeads


def load_heads(file: HeadsFile, target: Model, context: int) -> Heads:
    """Bind the heads in `file` to `target`, which need not be a `TorchModel`. Arguments and errors are those
    of `engine.heads.load_compiled_heads`."""
    return TorchMedusaHeads(file, target) if file.kind == "medusa" else TorchEagleHead(file, target, context)
