"""MLPs whose gate and up projections a GGUF file has as two matrices, and transformers' module as one."""

from typing import Any

from torch import Tensor, nn


class ApartMLP(nn.Module):
    """Takes the place of the MLP of a Granite 4 hybrid."""

    def __init__(self, module: Any) -> None:
        """module: transformers' GraniteMoeHybridMLP, on the meta device."""
        super().__init__()
        sizes = module.input_size, module.hidden_size
        self.gate_proj, self.up_proj = (nn.Linear(*sizes, bias=False, device="meta") for _ in range(2))
        self.output_linear: nn.Module = module.output_linear
        self._activation = module.activation

    def forward(self, states: Tensor) -> Tensor:
        gated: Tensor = self.output_linear(self._activation(self.gate_proj(states)) * self.up_proj(states))
        return gated


def replace_mlps(module: nn.Module) -> None:
    """Put an `ApartMLP` in place of each MLP."""
    for path, part in list(module.named_modules()):
        if type(part).__name__ == "GraniteMoeHybridMLP":
            module.set_submodule(path, ApartMLP(part))
