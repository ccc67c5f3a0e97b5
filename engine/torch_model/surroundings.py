"""What a pass computes around the layers of a model, besides embedding, norm and head: further inputs of each
layer (Gemma 3n and 4), and several streams of states (Gemma 3n). transformers has it in the forward method of
the model that holds the layers, which is not called here."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

# Returns the further arguments of a layer by its number.
LayerInputs = Callable[[int], dict[str, Any]]


def _no_inputs(layer: int) -> dict[str, Any]:
    return {}


class LayerSurroundings:
    """What surrounds the layers of most models: nothing. States are [1, rows, width]."""

    def enter(self, tokens: Tensor, states: Tensor) -> tuple[Tensor, LayerInputs]:
        """Return what the first layer reads, and the further inputs of each. tokens: int64 [1, rows];
        states: their embeddings."""
        return states, _no_inputs

    def leave(self, states: Tensor) -> Tensor:
        """Return the states [1, rows, width] for what a layer has returned."""
        return states


class Gemma4(LayerSurroundings):
    """Gemma 4: an input of each layer that depends on the token (per-layer embeddings), and keys and values
    that later layers share with an earlier one."""

    def __init__(self, body: Any) -> None:
        """body: transformers' Gemma4TextModel, or one with the same parts."""
        self._body = body

    def enter(self, tokens: Tensor, states: Tensor) -> tuple[Tensor, LayerInputs]:
        shared: dict[str, tuple[Tensor, Tensor]] = {}  # by type of layer, within one pass
        own = self._per_layer(tokens, states)

        def inputs(layer: int) -> dict[str, Any]:
            mine = None if own is None else own[:, :, layer]
            return {"shared_kv_states": shared, "per_layer_input": mine}

        return states, inputs

    def _per_layer(self, tokens: Tensor, states: Tensor) -> Tensor | None:
        """Return the inputs of all layers, [1, rows, layers, width of an input], or None."""
        if not self._body.hidden_size_per_layer_input:
            return None
        found: Tensor = self._body.project_per_layer_inputs(states, self._body.get_per_layer_inputs(tokens))
        return found


class Gemma3n(Gemma4):
    """Gemma 3n: the same, and states in several streams [streams, 1, rows, width], of which a layer computes
    one and corrects the others (AltUp, arXiv 2301.13310)."""

    def enter(self, tokens: Tensor, states: Tensor) -> tuple[Tensor, LayerInputs]:
        _, inputs = super().enter(tokens, states)
        others = [projection(states) for projection in self._body.altup_projections]
        return torch.stack([states, *(_as_long(other, states) for other in others)]), inputs

    def leave(self, states: Tensor) -> Tensor:
        first, *rest = states
        projections = self._body.altup_unembed_projections
        others = [project(state) for project, state in zip(projections, rest, strict=True)]
        return torch.stack([first, *(_as_long(other, first) for other in others)]).mean(dim=0)


def _as_long(states: Tensor, as_these: Tensor) -> Tensor:
    """Return states scaled to the root mean square of others."""
    wanted = (as_these**2).mean(dim=-1, keepdim=True) ** 0.5
    return states * wanted / (states**2).mean(dim=-1, keepdim=True).clamp(min=1e-5).sqrt()


_KINDS: dict[str, Callable[[Any], LayerSurroundings]] = {
    "Gemma3nTextModel": Gemma3n,
    "Gemma4TextModel": Gemma4,
}


def surroundings_of(module: nn.Module) -> LayerSurroundings:
    """Return the surroundings of the layers of transformers' ...ForCausalLM."""
    body = module.model
    kind = _KINDS.get(type(body).__name__)
    return LayerSurroundings() if kind is None else kind(body)
