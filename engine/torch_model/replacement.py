"""Puts layers that compute along paths in place of transformers' layers with states."""

from collections.abc import Callable
from typing import Any

from torch import nn

from engine.torch_model.mamba import MambaLayer
from engine.torch_model.recurrent import ConvolutionLayer, DeltaLayer, RecurrentLayer
from engine.torch_model.states import LayerStateShape

# The names of transformers' classes. A module of another class stays, and a pass through it fails.
_LAYERS: dict[str, Callable[[Any], RecurrentLayer]] = {
    "Qwen3_5GatedDeltaNet": DeltaLayer,
    "Qwen3_5MoeGatedDeltaNet": DeltaLayer,
    "Qwen3NextGatedDeltaNet": DeltaLayer,
    "Lfm2ShortConv": ConvolutionLayer,
    "Lfm2MoeShortConv": ConvolutionLayer,
    "GraniteMoeHybridMambaLayer": MambaLayer,
    "NemotronHMamba2Mixer": MambaLayer,
}


def replace_recurrent(module: nn.Module, tiled: bool = False) -> dict[int, LayerStateShape]:
    """Put layers that compute along paths in place of transformers' recurrent ones; return the shapes of
    their states, by the number of the layer. tiled: whether heads are in the order of GGUF files
    (`DeltaLayer.tile`)."""
    for path, part in list(module.named_modules()):
        if make := _LAYERS.get(type(part).__name__):
            layer = make(part)
            if tiled and isinstance(layer, DeltaLayer):
                layer.tile()
            module.set_submodule(path, layer)
    return {part.number: part.shape for part in module.modules() if isinstance(part, RecurrentLayer)}
