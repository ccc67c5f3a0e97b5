"""Checks of what layers compute between products: attention, and layers with states. Rows are a token tree,
or a text."""

from collections.abc import Sequence
from itertools import product

import torch
from torch import Tensor, nn

from engine.proof.card import TestedCard
from engine.proof.inputs import SUMS, dtype_named, random_numbers
from engine.proof.speed import Speed, expect
from engine.torch_model.attention import attend
from engine.torch_model.recurrent import DeltaInputs, convolved, delta_rule, normalized
from engine.torch_model.visibility import TensorRows, Visibility

_CAP = 2.0  # scores are about as large
_HEADS, _KEY_HEADS, _KEY, _VALUE, _KERNEL = 4, 2, 16, 8, 4  # of a layer with a state
_STATES = 1e-4  # the largest error, relative to the largest number: float32, and systems of equations


def check_attention(card: TestedCard, subject: list[str], way: str) -> Speed | None:
    """Attention of a tree with a sliding window and without, and of a single row."""
    for rows, window in product((1, 7), (None, 6)):
        _check_attention(card, int(subject[0]), subject[1], rows, window)
    return None


def check_scores(card: TestedCard, subject: list[str], way: str) -> Speed | None:
    """The same with capped scores, and with sinks."""
    for rows, window, cap in product((1, 7), (None, 6), (None, _CAP)):
        _check_attention(card, int(subject[0]), subject[1], rows, window, cap, sinks=cap is None)
    return None


def _check_attention(
    card: TestedCard,
    width: int,
    dtype: str,
    rows: int,
    window: int | None,
    cap: float | None = None,
    sinks: bool = False,
) -> None:
    """Check the attention of a binary tree of `rows` rows in heads of `width`. The other arguments are those
    of `attend`; sinks: whether there are any."""
    heads, kv_heads, before = 4, 2, 21
    keys = before + rows
    query, key, value = (
        random_numbers(count * number, width, seed=count).view(1, count, number, width).to(dtype_named(dtype))
        for count, number in ((heads, rows), (kv_heads, keys), (kv_heads, keys))
    )
    among = _tree(_parents(rows))
    positions = before - 1 + among.sum(dim=1)
    at = torch.cat([torch.arange(before).expand(rows, before), positions.expand(rows, rows)], dim=1)
    seen = torch.cat([torch.ones(rows, before, dtype=torch.bool), among], dim=1)
    if window is not None:
        seen = seen & (at > positions[:, None] - window)
    s_aux = random_numbers(1, heads, seed=5)[0].to(query.dtype) if sinks else None
    expected = _attention(query, key, value, seen, width**-0.5, cap, s_aux)
    place = card.device
    tree = TensorRows(positions.to(place), positions.to(place), among.to(place))
    shown, _ = attend(
        nn.Module(),
        query.to(place),
        key.to(place),
        value.to(place),
        Visibility(tree, int(positions.max()), before, tree.positions[:0]),
        width**-0.5,
        sliding_window=window,
        softcap=cap,
        s_aux=None if s_aux is None else s_aux.to(place),
    )
    largest = value.double().abs().max()
    expect(shown[0].transpose(0, 1), expected[0], SUMS[dtype] * largest, "attention")


def _attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    seen: Tensor,
    scale: float,
    cap: float | None,
    sinks: Tensor | None,
) -> Tensor:
    """Return softmax(cap tanh(scale Q K^T / cap) + mask) V in double precision, [1, heads, rows, width]. A
    sink, of those of the heads, is one more score, without a value."""
    group = query.shape[1] // key.shape[1]
    key, value = (part.double().repeat_interleave(group, dim=1) for part in (key, value))
    scores = query.double() @ key.transpose(2, 3) * scale
    if cap is not None:
        scores = cap * (scores / cap).tanh()
    scores = scores.masked_fill(~seen, float("-inf"))
    if sinks is not None:
        scores = torch.cat([scores, sinks.double()[None, :, None, None].expand(*scores.shape[:3], 1)], dim=3)
    return scores.softmax(dim=-1)[..., : key.shape[2]] @ value


def check_states(card: TestedCard, subject: list[str], way: str) -> Speed | None:
    """The delta rule (DeltaNet, and Mamba-2, which has no strengths) for a text and a tree behind it, the
    state behind the text, and short convolutions."""
    text, count = 33, 7
    parents = [*range(-1, text - 1), *(text - 1 if each < 0 else text + each for each in _parents(count))]
    for strong in (True, False):
        inputs, base = _inputs(text + count, strong), random_numbers(_HEADS * _KEY, _VALUE, seed=9)
        base = base.view(_HEADS, _KEY, _VALUE)
        expected, states = _states(inputs, base, parents)
        there, state = _moved(inputs, card.device), base.to(card.device)
        seen = _tree(parents).to(card.device)
        first, rows = delta_rule(there.part(0, text), state, seen[:text, :text], None)
        behind, _ = delta_rule(there.part(text, text + count), state, seen[text:], rows)
        _expect(torch.cat([first, behind], dim=1), expected, "outputs of states")
        rows.advance(state := state.clone())
        _expect(state, states[text - 1], "states")
    _check_convolution(card, parents)
    return None


def _check_convolution(card: TestedCard, parents: Sequence[int]) -> None:
    channels, oldest = 24, _KERNEL - 1
    known = random_numbers(oldest + len(parents), channels, seed=3)
    weight, bias = random_numbers(channels, _KERNEL, seed=4), random_numbers(1, channels, seed=5)[0]
    sources = [[oldest + row for row in range(len(parents))]]
    for _ in range(oldest):  # before the first row, its inputs are those of the text
        sources.append([oldest + parents[at - oldest] if at >= oldest else at - 1 for at in sources[-1]])
    expected = bias.double().expand(len(parents), channels)
    for back, places in enumerate(sources):
        expected = expected + known.double()[places] * weight.double()[:, -1 - back]
    place = card.device
    there = torch.tensor(sources, device=place)
    shown = convolved(known.to(place), there, weight.to(place), bias.to(place))
    _expect(shown, expected, "convolutions")


def _parents(rows: int) -> list[int]:
    """Return the parent of each row of a binary tree; -1 for the first."""
    return [-1, *((row - 1) // 2 for row in range(1, rows))]


def _tree(parents: Sequence[int]) -> Tensor:
    """Return which rows each row has on its path, itself among them, bool [rows, rows]."""
    seen = torch.eye(len(parents), dtype=torch.bool)
    for row, parent in enumerate(parents):
        if parent >= 0:
            seen[row] |= seen[parent]
    return seen


def _inputs(rows: int, strong: bool) -> DeltaInputs:
    """Return inputs of the delta rule. strong: whether they have strengths."""

    def numbers(heads: int, width: int, seed: int) -> Tensor:
        return random_numbers(heads * rows, width, seed).view(heads, rows, width)

    return DeltaInputs(
        normalized(numbers(_KEY_HEADS, _KEY, 1)),
        normalized(numbers(_KEY_HEADS, _KEY, 2)),
        numbers(_HEADS, _VALUE, 3),
        numbers(_HEADS, 1, 4)[..., 0].sigmoid() if strong else None,
        -numbers(_HEADS, 1, 5)[..., 0].exp() / 64,  # so slow that the state before a text is left behind it
    )


def _moved(inputs: DeltaInputs, device: torch.device) -> DeltaInputs:
    return DeltaInputs(
        inputs.queries.to(device),
        inputs.keys.to(device),
        inputs.values.to(device),
        None if inputs.strengths is None else inputs.strengths.to(device),
        inputs.decays.to(device),
    )


def _states(inputs: DeltaInputs, base: Tensor, parents: Sequence[int]) -> tuple[Tensor, list[Tensor]]:
    """Return the outputs [heads, rows, value width] and the state of each row in double precision, step by
    step as `engine.torch_model.recurrent` states the rule."""
    group = _HEADS // _KEY_HEADS
    keys, queries = (part.double().repeat_interleave(group, dim=0) for part in (inputs.keys, inputs.queries))
    states: list[Tensor] = []
    outputs = []
    for row, parent in enumerate(parents):
        state = (states[parent] if parent >= 0 else base.double()) * inputs.decays.double()[:, row].exp()[
            :, None, None
        ]
        update = inputs.values.double()[:, row]
        if inputs.strengths is not None:
            held = torch.einsum("hkv,hk->hv", state, keys[:, row])
            update = inputs.strengths.double()[:, row, None] * (update - held)
        states.append(state + keys[:, row, :, None] * update[:, None, :])
        outputs.append(torch.einsum("hkv,hk->hv", states[-1], queries[:, row]))
    return torch.stack(outputs, dim=1), states


def _expect(shown: Tensor, expected: Tensor, what: str) -> None:
    expect(shown, expected, _STATES * expected.abs().max(), what)
