"""Gemma 3n's MLPs whose smaller gates are cut off."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import relu

from engine.torch_model.recurrent import take_parts


class CutoffMLP(nn.Module):
    """An MLP in which of a row's gates only those above mean + c deviation pass, less that number. c is the
    quantile of the normal distribution for the share of gates that are to be cut off.

    transformers computes c in every pass, from numbers of the host: a CUDA graph cannot record that.
    """

    gate_proj: nn.Module
    up_proj: nn.Module
    down_proj: nn.Module
    act_fn: nn.Module

    def __init__(self, module: Any, dtype: torch.dtype) -> None:
        """module: transformers' Gemma3nTextMLP. dtype: of states, to which c is rounded."""
        super().__init__()
        take_parts(module, self)
        share = torch.tensor(module.activation_sparsity, dtype=torch.float32)
        quantile: Tensor = torch.distributions.Normal(0.0, 1.0).icdf(share)  # type: ignore[no-untyped-call]
        self._quantile = float(quantile.to(dtype))

    def forward(self, states: Tensor) -> Tensor:
        """Return the MLP's output [1, rows, width] for states [1, rows, width]."""
        gates: Tensor = self.gate_proj(states)
        deviation = gates.std(dim=-1, keepdim=True, unbiased=False)
        passing = relu(gates - (gates.mean(dim=-1, keepdim=True) + deviation * self._quantile))
        output: Tensor = self.down_proj(self.act_fn(passing) * self.up_proj(states))
        return output


def replace_cutoffs(module: nn.Module, dtype: torch.dtype) -> None:
    """Put a `CutoffMLP` in place of each of transformers' MLPs that cut off gates."""
    for path, part in list(module.named_modules()):
        if type(part).__name__ == "Gemma3nTextMLP" and part.activation_sparsity:
            module.set_submodule(path, CutoffMLP(part, dtype))
