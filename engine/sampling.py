"""Sampling of the next token from logits, with randomness that depends only on (seed, absolute position,
token id).

The next token is argmax(processed logits / T + Gumbel noise): a sample of softmax(processed logits / T), by
the Gumbel-max trick. The noise comes from a counter-based integer generator, Philox-4x32-10 (Salmon et al.
2011, "Parallel random numbers: as easy as 1, 2, 3"), which gives the same bits on every device. Works on
many rows at once; trees appear only as rows whose histories share a prefix.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from engine.compiled.best import best

_MASK32 = 0xFFFFFFFF
# The multipliers and the key increments in the paper's reference code.
_PHILOX_M = (0xD2511F53, 0xCD9E8D57)
_PHILOX_W = (0x9E3779B9, 0xBB67AE85)
_FIRST_CANDIDATES = 256  # number of tokens to examine first; most nuclei at everyday settings are smaller
# Lower temperatures are raised to this one: below it, logits would leave the range of float32, and the choice
# no longer changes.
_COLDEST = 1e-6

# Returned by `Sampler.choose` in place of a token.
MORE_CANDIDATES = -1  # the nucleus is larger than the candidates examined
NOT_NUMBERS = -2  # the logits are not finite

# Independent streams of noise from one seed.
TARGET_STREAM, DRAFT_STREAM, TEST_STREAM = range(3)


def philox(counter: tuple[Tensor | int, ...], key: tuple[int, int]) -> tuple[Tensor, ...]:
    """Return four words of 32 random bits for each counter.

    counter: four 32-bit words, each an int or an int64 tensor, of shapes that broadcast; key: two 32-bit
    words.
    """
    c0, c1, c2, c3 = (torch.as_tensor(word) for word in counter)
    k0, k1 = key
    for _ in range(10):
        # The low 64 bits of an int64 product are correct whatever its sign, so the shift only needs a mask.
        p0, p1 = c0 * _PHILOX_M[0], c2 * _PHILOX_M[1]
        c0, c1, c2, c3 = (
            (p1 >> 32) & _MASK32 ^ c1 ^ k0,
            p1 & _MASK32,
            (p0 >> 32) & _MASK32 ^ c3 ^ k1,
            p0 & _MASK32,
        )
        k0, k1 = (k0 + _PHILOX_W[0]) & _MASK32, (k1 + _PHILOX_W[1]) & _MASK32
    return c0, c1, c2, c3


def uniforms(seed: int, positions: Tensor | int, numbers: Tensor, stream: int = TARGET_STREAM) -> Tensor:
    """Return random numbers, uniform in (0, 1), float64, in the shape to which `numbers` and `positions`
    broadcast.

    seed: 0 <= seed < 2^64. positions: absolute positions, within the sequence, of the tokens to choose.
    numbers: int64; each gives another random number at the same position; token ids, for example.
    """
    positions = torch.as_tensor(positions, device=numbers.device)
    counter = (numbers >> 2, positions & _MASK32, positions >> 32, stream)
    words = torch.stack(philox(counter, (seed & _MASK32, seed >> 32)))
    bits = words.gather(0, (numbers & 3).expand_as(words[0])[None])[0]
    return (bits.double() + 0.5) / 2**32


def draw(probs: Tensor, uniforms: Tensor) -> Tensor:
    """Draw tokens from each row of `probs` by the inverse of its cumulative sum; return int64 [rows, draws].

    probs: [rows, vocabulary]; a row need not sum to 1. uniforms: float64 [draws], in (0, 1); a row's draws
    are independent if these numbers are. This is far cheaper than a Gumbel number for every token and draw.
    """
    sums = probs.double().cumsum(-1)
    # `right` finds the first token whose sum is above the number, so it never finds one of probability 0.
    return torch.searchsorted(sums, uniforms.to(sums.device) * sums[:, -1:], right=True)


def gumbel_noise(seed: int, positions: Tensor | int, tokens: Tensor, stream: int = TARGET_STREAM) -> Tensor:
    """Return standard Gumbel noise, float64. The arguments are those of `uniforms`."""
    return -(-uniforms(seed, positions, tokens, stream).log()).log()


def best_tokens(logits: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Return the `count` likeliest tokens of each row of logits [rows, vocabulary], or all if there are
    fewer: int64 ids and float32 log-probabilities, both [rows, count], best first."""
    count = min(count, logits.shape[-1])
    if not count:  # a drafter that needs none pays nothing
        none = logits.new_empty(len(logits), 0, dtype=torch.float32)
        return none.long(), none
    if logits.device.type == "cpu" and logits.dtype == torch.float32 and logits.stride(-1) == 1:
        tokens, log_probs = best(logits.numpy(), count)
        return torch.from_numpy(tokens), torch.from_numpy(log_probs)
    top = logits.float().log_softmax(-1).topk(count)
    return top.indices, top.values


def _finite(logits: Tensor) -> Tensor:
    """Return for each row, bool [rows], whether its logits [rows, vocabulary] are all finite."""
    # One sum takes a twentieth of the time, and is finite unless a number is not, or the sum overflows.
    if logits.device.type == "cpu" and bool(logits.sum().isfinite()):
        return torch.ones(len(logits), dtype=torch.bool)
    return torch.isfinite(logits).all(-1)


@dataclass(frozen=True, slots=True)
class TokenHistory:
    """The tokens that precede each row: first `context`, which all rows share, then `tails[row]`."""

    context: Sequence[int]
    tails: Sequence[Sequence[int]]

    def counts(self, device: torch.device) -> tuple[Tensor, Tensor]:
        """Return all tokens that precede at least one row, int64 [tokens], and how often each of them
        precedes each row, float32 [rows, tokens]."""
        pairs = [(row, token) for row, tail in enumerate(self.tails) for token in tail]
        rows, tail_tokens = np.asarray(pairs, dtype=np.int64).reshape(-1, 2).T
        context = np.asarray(self.context, dtype=np.int64)
        tokens, places = np.unique(np.concatenate([context, tail_tokens]), return_inverse=True)
        counts = np.zeros((len(self.tails), len(tokens)), np.float32)
        counts += np.bincount(places[: len(context)], minlength=len(tokens)).astype(np.float32)
        np.add.at(counts, (rows, places[len(context) :]), 1)
        return torch.from_numpy(tokens).to(device), torch.from_numpy(counts).to(device)


@dataclass(frozen=True, slots=True)
class Sampler:
    """The sampling settings of one answer, applied in transformers' order: bias, penalties, temperature,
    top-k, top-p, min-p.

    Temperature 0 means greedy decoding; top_k 0, top_p 1, min_p 0, repetition_penalty 1 and the other
    penalties at 0 have no effect. As at OpenAI, the presence penalty is subtracted once if a token has
    occurred before, the frequency penalty once per occurrence. logit_bias: token id -> number to add to the
    token's logit.
    """

    seed: int = 0
    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    logit_bias: Mapping[int, float] = field(default_factory=dict)

    @property
    def alters(self) -> bool:
        """Whether the logits are changed before the choice."""
        return self.looks_back or bool(self.logit_bias)

    @property
    def looks_back(self) -> bool:
        """Whether the choice depends on earlier tokens."""
        return (self.repetition_penalty, self.presence_penalty, self.frequency_penalty) != (1.0, 0.0, 0.0)

    def choose(
        self,
        logits: Tensor,
        positions: Tensor,
        history: TokenHistory,
        candidates: int = _FIRST_CANDIDATES,
    ) -> Tensor:
        """Return the token chosen at each row's position, int64 [rows], or MORE_CANDIDATES or NOT_NUMBERS in
        place of a token that cannot be chosen.

        logits: [rows, vocabulary]. positions: int64 [rows]. candidates: number of best tokens to examine if a
        filter needs sorted tokens.
        """
        finite = _finite(logits)
        logits = self.penalised(logits, history)
        if self.temperature == 0:
            return logits.argmax(-1).where(finite, NOT_NUMBERS)
        values, tokens = self.filtered(logits, candidates)
        best = self.perturbed(values, tokens, positions).argmax(-1, keepdim=True)
        chosen = tokens.gather(-1, best)[:, 0]
        if self._sorts and not self.top_k and values.shape[-1] < logits.shape[-1]:
            chosen = chosen.where(values[:, -1].isneginf(), MORE_CANDIDATES)
        return chosen.where(finite, NOT_NUMBERS)

    def penalised(self, logits: Tensor, history: TokenHistory) -> Tensor:
        """Return logits [rows, vocabulary], float32, after bias and penalties."""
        logits = logits.float()
        if self.logit_bias:
            tokens = torch.tensor(list(self.logit_bias), device=logits.device)
            values = torch.tensor(list(self.logit_bias.values()), device=logits.device)
            logits = logits.index_add(1, tokens, values.float().expand(len(logits), -1))
        if not self.looks_back:
            return logits
        tokens, counts = history.counts(logits.device)
        values = logits[:, tokens]
        penalty = self.repetition_penalty
        penalised = torch.where(values < 0, values * penalty, values / penalty)
        penalised -= self.presence_penalty + self.frequency_penalty * counts
        return logits.index_copy(1, tokens, penalised.where(counts > 0, values))

    def filtered(self, logits: Tensor, candidates: int = _FIRST_CANDIDATES) -> tuple[Tensor, Tensor]:
        """Return logits / temperature for the best tokens, best first, and the ids of these tokens, both
        [rows, candidates]. Tokens that a filter drops have -inf. Without a filter, return all tokens,
        unsorted.

        logits: [rows, vocabulary], penalised. If the last candidate is not dropped and there is no top_k,
        more tokens may pass than are returned.
        """
        logits = logits / max(self.temperature, _COLDEST)
        if not self._sorts:
            return logits, torch.arange(logits.shape[-1], device=logits.device).expand_as(logits)
        values, tokens = logits.topk(min(self.top_k or candidates, logits.shape[-1]))
        # top-p and min-p apply to the distribution that top-k leaves, or to the whole one.
        support = values if self.top_k else logits
        probs = (values - support.logsumexp(-1, keepdim=True)).exp()
        keep = (probs.cumsum(-1) - probs < self.top_p) & (probs >= self.min_p * probs[:, :1])
        keep[:, 0] = True
        return values.where(keep, -torch.inf), tokens

    def perturbed(self, values: Tensor, tokens: Tensor, positions: Tensor) -> Tensor:
        """Return `values` with the noise of their tokens added, float64. The token with the highest sum is
        the one to choose. values, tokens: as `filtered` returns them."""
        return values.double() + gumbel_noise(self.seed, positions[:, None], tokens)

    def probabilities(self, logits: Tensor, history: TokenHistory) -> Tensor:
        """Return the distribution from which `choose` samples, float64 [rows, vocabulary]. In greedy decoding
        it is 1 at the chosen token.

        logits: [rows, vocabulary].
        """
        penalised = self.penalised(logits, history)
        if self.temperature == 0:
            return torch.nn.functional.one_hot(penalised.argmax(-1), logits.shape[-1]).double()
        values, tokens = self.filtered(penalised)
        if self._sorts and not self.top_k and not bool(values[:, -1].isneginf().all()):
            values, tokens = self.filtered(penalised, logits.shape[-1])
        probs = values.double().softmax(-1)
        return torch.zeros_like(logits, dtype=torch.float64).scatter(-1, tokens, probs)

    @property
    def _sorts(self) -> bool:
        return (self.top_k, self.top_p, self.min_p) != (0, 1.0, 0.0)
