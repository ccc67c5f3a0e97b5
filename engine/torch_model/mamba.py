"""Mamba-2 layers (Granite 4 hybrids, Nemotron-H; arXiv 2405.21060) in passes over token trees.

A head reads and writes one matrix S [state size, width of a head]. Along a text,

    S_i = a_i S_{i-1} + B_i (d_i x_i)^T,    output y_i = S_i^T C_i + D x_i,

with the step d_i = softplus(...) and a_i = exp(-d_i exp(A_log)). This is DeltaNet's recurrence
(`engine.torch_model.recurrent`) without its correction: keys are B, queries are C, and d x is written. So
the chunked scan with an ancestor mask in place of the causal one needs no system of equations.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus
from transformers.activations import ACT2FN

from engine.torch_model.attention import refuse_unknown
from engine.torch_model.hybrid_cache import HybridCache
from engine.torch_model.recurrent import DeltaInputs, RecurrentLayer, convolved, delta_rule, take_parts
from engine.torch_model.states import DeltaRows, LayerState, LayerStateShape
from engine.torch_model.visibility import Visibility


class MambaLayer(RecurrentLayer):
    """A Mamba-2 layer."""

    conv1d: nn.Conv1d
    A_log: nn.Parameter
    D: nn.Parameter
    dt_bias: nn.Parameter
    norm: nn.Module
    in_proj: nn.Module
    out_proj: nn.Module

    def __init__(self, module: Any) -> None:
        """module: transformers' GraniteMoeHybridMambaLayer, or one with the same parts."""
        super().__init__()
        take_parts(module, self)
        self.number = module.layer_idx
        self.shape = LayerStateShape(
            (module.num_heads, module.ssm_state_size, module.head_dim),
            (module.conv_kernel_size - 1, module.conv_dim),
        )
        self._activation = ACT2FN[module.activation]
        self._groups: int = module.n_groups  # heads of a group are neighbours, and share B and C
        self._step_limits: tuple[float, float] = module.time_step_limit

    def forward(
        self, hidden_states: Tensor, cache_params: HybridCache, attention_mask: Visibility, **others: object
    ) -> Tensor:
        """Return the layer's output [1, rows, width] for states [1, rows, width]."""
        refuse_unknown(self, others)
        heads, size, width = self.shape.matrix or (0, 0, 0)
        memory, paths = cache_params.memory(self.number), cache_params.paths(attention_mask)
        inner = heads * width
        gates, read, steps = self.in_proj(hidden_states)[0].split(
            [inner, self.shape.inputs[1], heads], dim=-1
        )
        known = torch.cat([memory.tail.known(), read])
        weight = self.conv1d.weight.squeeze(1)
        mixed = convolved(known, paths.sources(weight.shape[1]), weight, self.conv1d.bias)
        mixed = self._activation(mixed.to(read.dtype)).float()
        shared = self._groups * size
        values, keys, queries = mixed.split([inner, shared, shared], dim=-1)
        values = values.unflatten(-1, (heads, width))
        sizes = softplus(steps.float() + self.dt_bias.float()).clamp(*self._step_limits)
        inputs = DeltaInputs(
            queries.unflatten(-1, (self._groups, size)).transpose(0, 1),
            keys.unflatten(-1, (self._groups, size)).transpose(0, 1),
            (values * sizes.unsqueeze(-1)).transpose(0, 1),
            None,
            (-self.A_log.float().exp() * sizes).T,
        )
        output = values * self.D.float().unsqueeze(-1)  # [rows, heads, width]

        def step(start: int, stop: int, base: LayerState, before: DeltaRows | None) -> DeltaRows:
            assert base.matrix is not None
            found, rows = delta_rule(inputs.part(start, stop), base.matrix, paths.seen(start, stop), before)
            output[start:stop] += found.transpose(0, 1)
            return rows

        self._run_windows(memory, paths, known, step)
        gated: Tensor = self.norm(output.flatten(1)[None], gates[None])
        projected: Tensor = self.out_proj(gated.to(hidden_states.dtype))
        return projected
