"""Layers with a state instead of rows, in passes over token trees: gated DeltaNet (Qwen 3.5, Qwen3-Next;
arXiv 2412.06464) and short convolutions (LFM2). `engine.torch_model.mamba` has Mamba-2.

Gated DeltaNet reads and writes one matrix S [key width, value width] for each head. Along a text,

    S_i = a_i S_{i-1} + k_i u_i^T,    u_i = b_i (v_i - (a_i S_{i-1})^T k_i),    output o_i = S_i^T q_i,

with the gate a_i = exp(g_i) in (0, 1] and the writing strength b_i in (0, 1). In a tree, i - 1 is the parent
of node i. One state per node would take megabytes for each node and layer; none is stored. Unrolled to the
state S_0 at which all paths start, with G_i the sum of g on the path to i (i among it), and sums over
ancestors j,

    u_i + b_i sum_j exp(G_i - G_j) (k_i . k_j) u_j = b_i (v_i - exp(G_i) S_0^T k_i),
    o_i = exp(G_i) S_0^T q_i + sum_{j, and i itself} exp(G_i - G_j) (q_i . k_j) u_j.

That is the chunked form of DeltaNet (WY, or UT, transform) with an ancestor mask in place of the causal one
(TreeWY, arXiv 2608.20961). Nodes come behind their parents, so the system is unit lower triangular: one solve
gives u of all nodes. G_i - G_j is never positive, so nothing overflows. A plain text is a tree without
branches, and runs window by window through the same function. The sums are float32 and in another order than
step by step, so results are equal within float32's rounding, not bit for bit.

The short convolution of a node reads the inputs of its ancestors: those in the tail or the pass, and before
them the last ones of the committed text.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus
from transformers.activations import ACT2FN

from engine import ways
from engine.torch_model.attention import refuse_unknown
from engine.torch_model.hybrid_cache import HybridCache
from engine.torch_model.paths import RowPaths
from engine.torch_model.states import DeltaRows, LayerMemory, LayerState, LayerStateShape, Tail
from engine.torch_model.visibility import Visibility

# Most numbers in a matrix [heads, rows, ancestors] at a time: 64 MiB.
_MOST = 1 << 24


def convolved(known: Tensor, sources: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Return a depthwise convolution along paths, float32 [rows, channels].

    known: the inputs, [kernel - 1 + tail + rows, channels]. sources: int64 [kernel, rows], from `RowPaths`;
    the first row is each row's own place. weight: [channels, kernel], the last column for the row itself.
    """
    total = None
    for back, places in enumerate(sources):
        term = known.index_select(0, places).float() * weight[:, -1 - back].float()
        total = term if total is None else total.add_(term)
    assert total is not None
    return total if bias is None else total + bias.float()


def normalized(vectors: Tensor) -> Tensor:
    """Return vectors [..., width] divided by their length, as transformers' `l2norm` does."""
    return vectors * torch.rsqrt((vectors * vectors).sum(dim=-1, keepdim=True) + 1e-6)


@dataclass(frozen=True, slots=True)
class DeltaInputs:
    """The input of the delta rule for rows, float32. queries, keys: [key heads, rows, key width], normalized,
    queries scaled too; values: [heads, rows, value width]; strengths, decays: [heads, rows], b and g. Without
    strengths, values are written as they are (Mamba-2), and keys and queries have any length."""

    queries: Tensor
    keys: Tensor
    values: Tensor
    strengths: Tensor | None
    decays: Tensor

    def part(self, start: int, stop: int) -> "DeltaInputs":
        rows = slice(start, stop)
        return DeltaInputs(
            self.queries[:, rows],
            self.keys[:, rows],
            self.values[:, rows],
            None if self.strengths is None else self.strengths[:, rows],
            self.decays[:, rows],
        )


def delta_rule(
    inputs: DeltaInputs, base: Tensor, seen: Tensor, before: DeltaRows | None
) -> tuple[Tensor, DeltaRows]:
    """Return the output of rows, float32 [heads, rows, value width], and what advances the state past them.

    base: S_0, [heads, key width, value width]. seen: bool [rows, tail + rows], a row's path, itself included.
    before: the rows of the tail, or None if there is none.
    """
    heads, rows = inputs.decays.shape
    key_heads = len(inputs.keys)
    tail = 0 if before is None else before.decays.shape[1]
    decays = inputs.decays if before is None else torch.cat([before.decays, inputs.decays], dim=1)
    own = decays @ seen.float().T  # G_i, [heads, rows]
    totals = own if before is None else torch.cat([before.totals, own], dim=1)
    keys = inputs.keys if before is None else torch.cat([before.keys, inputs.keys], dim=1)
    output, updates = torch.empty_like(inputs.values), torch.empty_like(inputs.values)
    group = heads // key_heads
    step = max(1, _MOST // (group * rows * (tail + rows)))
    for first in range(0, key_heads, step):
        some = slice(first, first + step)
        mine = slice(first * group, (first + step) * group)
        shape = len(inputs.keys[some]), group
        # One more dimension than above: [key heads, heads of each, ...].
        apart = own[mine].unsqueeze(2) - totals[mine].unsqueeze(1)
        factors = apart.masked_fill_(~seen, float("-inf")).exp_().view(*shape, rows, tail + rows)
        across = keys[some].transpose(1, 2)
        state = base[mine].view(*shape, *base.shape[1:])
        fading = own[mine].exp().view(*shape, rows, 1)
        found = inputs.values[mine].view(*shape, rows, -1)
        if before is not None:
            earlier = before.updates[mine].view(*shape, tail, -1)
        if inputs.strengths is not None:
            strengths = inputs.strengths[mine].view(*shape, rows, 1)
            system = (inputs.keys[some] @ across).unsqueeze(1) * factors * strengths
            right = strengths * (found - fading * (inputs.keys[some].unsqueeze(1) @ state))
            if before is not None:
                right -= system[..., :tail] @ earlier
            found = _solved(system[..., tail:], right)
        scores = (inputs.queries[some] @ across).unsqueeze(1) * factors
        read = fading * (inputs.queries[some].unsqueeze(1) @ state) + scores[..., tail:] @ found
        if before is not None:
            read += scores[..., :tail] @ earlier
        updates[mine] = found.flatten(0, 1)
        output[mine] = read.flatten(0, 1)
    return output, DeltaRows(inputs.keys, updates, inputs.decays, own)


def _solved(system: Tensor, right: Tensor) -> Tensor:
    """Return the solutions of unit lower triangular systems [..., rows, rows], in the way that is taken for
    them; what is above their diagonals, and on them, does not count. right: [..., rows, n]."""
    found: Tensor
    if ways.taken("states") == "solver":
        found = torch.linalg.solve_triangular(system, right, upper=False, unitriangular=True)
        return found
    found = right.clone()
    for row in range(1, right.shape[-2]):
        found[..., row, :] -= (system[..., row : row + 1, :row] @ found[..., :row, :]).squeeze(-2)
    return found


# -- layers --------------------------------------------------------------------------------------------------


def _no_step(start: int, stop: int, base: LayerState, before: DeltaRows | None) -> DeltaRows | None:
    return None


class RecurrentLayer(nn.Module):
    """A layer of transformers, computed along paths. Takes over the parts of transformers' module, so that
    weights keep their names. Attributes: `number`, that of the layer; `shape`, that of its state."""

    number: int
    shape: LayerStateShape

    def _run_windows(
        self,
        memory: LayerMemory,
        paths: RowPaths,
        known: Tensor,
        step: Callable[[int, int, LayerState, DeltaRows | None], DeltaRows | None] = _no_step,
    ) -> None:
        """Run `step` on one window of the pass after the other, and propose the new tail.

        known: the convolution's inputs, as for `convolved`. step: takes the first row of a window, the row
        behind it, the state from which its paths start, and the rows of the tail; returns what advances the
        state.
        """
        tail = memory.tail
        base, delta, absorbed = tail.base, tail.delta, tail.absorbed
        oldest = len(base.inputs)
        saved = dict(tail.saved)
        start = 0
        for stop in paths.windows:
            rows = step(start, stop, base, delta)
            if stop == paths.count:
                delta = rows if delta is None or rows is None else delta.joined(rows)
                break
            if start == 0:
                base = base.copy()  # until now, the committed state
            base.inputs = known[stop : stop + oldest].clone()
            if rows is not None:
                assert base.matrix is not None
                rows.advance(base.matrix)
            if stop in paths.saved:
                saved[stop] = paths.saved[stop]
                saved[stop].layers[self.number].fill(base)
            start = absorbed = stop
        memory.propose(Tail(base, known[oldest + start :].clone(), delta, absorbed, saved))


class DeltaLayer(RecurrentLayer):
    """Gated DeltaNet of Qwen 3.5 and Qwen3-Next."""

    conv1d: nn.Conv1d
    A_log: nn.Parameter
    dt_bias: nn.Parameter
    norm: nn.Module
    out_proj: nn.Module
    in_proj_qkv: nn.Module
    in_proj_z: nn.Module
    in_proj_b: nn.Module
    in_proj_a: nn.Module
    in_proj_qkvz: nn.Module
    in_proj_ba: nn.Module
    _places: Tensor | None  # where the heads are among the projections' outputs; None: in their order

    def __init__(self, module: Any) -> None:
        """module: transformers' Qwen3_5GatedDeltaNet, or one with the same parts."""
        super().__init__()
        take_parts(module, self)
        self.number = module.layer_idx
        self.shape = LayerStateShape(
            (module.num_v_heads, module.head_k_dim, module.head_v_dim),
            (module.conv_kernel_size - 1, module.conv_dim),
        )
        self.register_buffer("_places", None, persistent=False)
        self._activation = ACT2FN[module.activation]
        self._widths = [module.key_dim, module.key_dim, module.value_dim]
        self._key_heads: int = module.num_k_heads

    def tile(self) -> None:
        """Expect heads in the order of GGUF files: the first one of each key head, then the second ones, and
        so on. In Hugging Face's, heads that share a key head are neighbours."""
        heads = self.shape.matrix[0] if self.shape.matrix else 0
        places = torch.arange(heads, device=self.A_log.device).view(-1, self._key_heads)
        self._places = places.T.flatten()

    def forward(
        self, hidden_states: Tensor, cache_params: HybridCache, attention_mask: Visibility, **others: object
    ) -> Tensor:
        """Return the layer's output [1, rows, width] for states [1, rows, width]."""
        refuse_unknown(self, others)
        heads, key_width, value_width = self.shape.matrix or (0, 0, 0)
        memory, paths = cache_params.memory(self.number), cache_params.paths(attention_mask)
        mixed, gates, strengths, steps = self._projected(hidden_states)
        known = torch.cat([memory.tail.known(), mixed])
        weight = self.conv1d.weight.squeeze(1)
        sources = paths.sources(weight.shape[1])
        mixed = self._activation(convolved(known, sources, weight, self.conv1d.bias).to(mixed.dtype))
        queries, keys, values = mixed.float().split(self._widths, dim=-1)
        queries = normalized(queries.unflatten(-1, (self._key_heads, key_width))) * key_width**-0.5
        keys = normalized(keys.unflatten(-1, (self._key_heads, key_width)))
        decays = -self.A_log.float().exp() * softplus(steps.float() + self.dt_bias.float())
        values, strengths = values.unflatten(-1, (heads, value_width)), strengths.sigmoid().float()
        if self._places is not None:
            values, strengths, decays = (part[:, self._places] for part in (values, strengths, decays))
        inputs = DeltaInputs(
            queries.transpose(0, 1), keys.transpose(0, 1), values.transpose(0, 1), strengths.T, decays.T
        )
        output = torch.empty(len(mixed), heads, value_width, device=mixed.device)

        def step(start: int, stop: int, base: LayerState, before: DeltaRows | None) -> DeltaRows:
            assert base.matrix is not None
            seen = paths.seen(start, stop)
            found, rows = delta_rule(inputs.part(start, stop), base.matrix, seen, before)
            output[start:stop] = found.transpose(0, 1)
            return rows

        self._run_windows(memory, paths, known, step)
        if self._places is not None:
            output = output[:, self._places.argsort()]
        gated: Tensor = self.norm(output.flatten(0, 1).to(mixed.dtype), gates.reshape(-1, value_width))
        projected: Tensor = self.out_proj(gated.view(1, len(mixed), -1))
        return projected

    def _projected(self, states: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return the convolution's inputs [rows, channels], the output's gates [rows, heads * value width],
        and what strengths and decays are made of, each [rows, heads]."""
        if hasattr(self, "in_proj_qkvz"):
            values = self._widths[-1]
            *read, gates = self._by_key_head(self.in_proj_qkvz(states)[0], [*self._widths, values])
            mixed = torch.cat(read, dim=-1)
        else:
            mixed, gates = self.in_proj_qkv(states)[0], self.in_proj_z(states)[0]
        if hasattr(self, "in_proj_ba"):
            heads = len(self.A_log)
            strengths, steps = self._by_key_head(self.in_proj_ba(states)[0], [heads, heads])
        else:
            strengths, steps = self.in_proj_b(states)[0], self.in_proj_a(states)[0]
        return mixed, gates, strengths, steps

    def _by_key_head(self, results: Tensor, widths: list[int]) -> list[Tensor]:
        """Return the parts of results [rows, all parts], of which those of a key head lie side by side
        (Qwen3-Next). widths: of the parts."""
        apart = results.reshape(len(results), self._key_heads, -1)
        parts = torch.split(apart, [width // self._key_heads for width in widths], dim=-1)
        return [part.flatten(1) for part in parts]


class ConvolutionLayer(RecurrentLayer):
    """The gated short convolution of LFM2."""

    conv: nn.Conv1d
    in_proj: nn.Module
    out_proj: nn.Module

    def __init__(self, module: Any) -> None:
        """module: transformers' Lfm2ShortConv or Lfm2MoeShortConv."""
        super().__init__()
        take_parts(module, self)
        self.number = module.layer_idx
        self.shape = LayerStateShape(None, (module.conv_kernel_size - 1, module.conv.in_channels))

    def forward(
        self,
        hidden_states: Tensor,
        past_key_values: HybridCache,
        attention_mask: Visibility,
        **others: object,
    ) -> Tensor:
        """Return the layer's output [1, rows, width] for states [1, rows, width]."""
        refuse_unknown(self, others)
        memory, paths = past_key_values.memory(self.number), past_key_values.paths(attention_mask)
        before, behind, values = self.in_proj(hidden_states)[0].chunk(3, dim=-1)
        known = torch.cat([memory.tail.known(), before * values])
        weight = self.conv.weight.squeeze(1)
        mixed = convolved(known, paths.sources(weight.shape[1]), weight, self.conv.bias)
        self._run_windows(memory, paths, known)
        projected: Tensor = self.out_proj((behind * mixed.to(behind.dtype))[None])
        return projected


def part_inputs(module: nn.Module) -> None:
    """Expect the matrix before layers of Qwen3-Next as GGUF files have it: one for queries, keys and values,
    and one for gates. module: transformers', without weights."""
    parts: list[Any] = list(module.modules())
    for part in parts:
        if fused := getattr(part, "in_proj_qkvz", None):
            part.in_proj_qkv = nn.Linear(fused.in_features, part.conv_dim, bias=False)
            part.in_proj_z = nn.Linear(fused.in_features, part.value_dim, bias=False)
            del part.in_proj_qkvz


def take_parts(source: nn.Module, target: nn.Module) -> None:
    """Give the parts and parameters of a module to another one, under their names."""
    for name, part in source.named_children():
        target.add_module(name, part)
    for name, parameter in source.named_parameters(recurse=False):
        target.register_parameter(name, parameter)
