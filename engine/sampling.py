"""From logits to the next token, so that randomness depends only on (seed, absolute position, token id).

The next token is argmax(processed logits / T + Gumbel noise): a sample of softmax(processed logits / T), by
the Gumbel-max trick. The noise comes from a counter-based integer generator, Philox-4x32-10 (Salmon et al.
2011, "Parallel random numbers: as easy as 1, 2, 3"), which gives the same bits on every device. Works on
many rows at once; of trees it knows only that rows have histories that begin alike.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

_MASK32 = 0xFFFFFFFF
_PHILOX_M = (0xD2511F53, 0xCD9E8D57)  # multipliers and key increments of the paper's reference code
_PHILOX_W = (0x9E3779B9, 0xBB67AE85)
_FIRST_CANDIDATES = 256  # most nuclei at everyday settings are smaller
_COLDEST = 1e-6  # below it, logits leave the range of float32, and nothing changes any more

# What `Sampler.choose` gives where it gives no token.
MORE_CANDIDATES = -1  # the nucleus is larger than the candidates looked at
NOT_NUMBERS = -2  # the logits are not finite

# Independent streams of noise of one seed.
TARGET_STREAM, DRAFT_STREAM, TEST_STREAM = range(3)


def philox(counter: tuple[Tensor | int, ...], key: tuple[int, int]) -> tuple[Tensor, ...]:
    """Four words of 32 random bits for each counter.

    counter: four 32-bit words, each an int or an int64 tensor, of shapes that broadcast; key: two 32-bit
    words.
    """
    c0, c1, c2, c3 = (torch.as_tensor(word) for word in counter)
    k0, k1 = key
    for _ in range(10):
        # The low 64 bits of an int64 product are right whatever its sign, so the shift only needs a mask.
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
    """Uniform in (0, 1), float64, in the shape that `numbers` (int64, token ids say) and `positions` have in
    common.

    seed: 0 <= seed < 2^64. positions: absolute, of the token to be chosen in the sequence.
    """
    positions = torch.as_tensor(positions, device=numbers.device)
    counter = (numbers >> 2, positions & _MASK32, positions >> 32, stream)
    words = torch.stack(philox(counter, (seed & _MASK32, seed >> 32)))
    bits = words.gather(0, (numbers & 3).expand_as(words[0])[None])[0]
    return (bits.double() + 0.5) / 2**32


def gumbel_noise(seed: int, positions: Tensor | int, tokens: Tensor, stream: int = TARGET_STREAM) -> Tensor:
    """Standard Gumbel noise, float64; arguments as of `uniforms`."""
    return -(-uniforms(seed, positions, tokens, stream).log()).log()


@dataclass(frozen=True, slots=True)
class History:
    """The tokens before each of some rows: `context`, which all share, then `tails[row]`."""

    context: Sequence[int]
    tails: Sequence[Sequence[int]]

    def counts(self, device: torch.device) -> tuple[Tensor, Tensor]:
        """Tokens that stand before any row, int64 [tokens]; how often before each, float32 [rows, tokens]."""
        pairs = [(row, token) for row, tail in enumerate(self.tails) for token in tail]
        rows, behind = np.asarray(pairs, dtype=np.int64).reshape(-1, 2).T
        context = np.asarray(self.context, dtype=np.int64)
        tokens, places = np.unique(np.concatenate([context, behind]), return_inverse=True)
        counts = np.zeros((len(self.tails), len(tokens)), np.float32)
        counts += np.bincount(places[: len(context)], minlength=len(tokens)).astype(np.float32)
        np.add.at(counts, (rows, places[len(context) :]), 1)
        return torch.from_numpy(tokens).to(device), torch.from_numpy(counts).to(device)


@dataclass(frozen=True, slots=True)
class Sampler:
    """The processors a user asked for, in the order of transformers: bias, penalties, temperature, top-k,
    top-p, min-p.

    temperature 0 is greedy; top_k 0, top_p 1, min_p 0, repetition_penalty 1 and the other penalties 0 are
    off. Presence and frequency penalties as OpenAI's: subtracted once, or for each time, a token stands
    before. logit_bias: token id -> added to its logit.
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
    def looks_back(self) -> bool:
        """Whether the choice depends on the tokens before."""
        return (self.repetition_penalty, self.presence_penalty, self.frequency_penalty) != (1.0, 0.0, 0.0)

    def choose(
        self,
        logits: Tensor,
        positions: Tensor,
        history: History,
        candidates: int = _FIRST_CANDIDATES,
    ) -> Tensor:
        """The token at each row's position, int64 [rows]; MORE_CANDIDATES or NOT_NUMBERS where there is none.

        logits: [rows, vocabulary]. positions: int64 [rows]. candidates: how many of the best tokens are
        looked at where a filter needs them sorted.
        """
        finite = torch.isfinite(logits).all(-1)
        logits = self.penalised(logits, history)
        if self.temperature == 0:
            return logits.argmax(-1).where(finite, NOT_NUMBERS)
        values, tokens = self.filtered(logits, candidates)
        best = self.perturbed(values, tokens, positions).argmax(-1, keepdim=True)
        chosen = tokens.gather(-1, best)[:, 0]
        if self._sorts and not self.top_k and values.shape[-1] < logits.shape[-1]:
            chosen = chosen.where(values[:, -1].isneginf(), MORE_CANDIDATES)
        return chosen.where(finite, NOT_NUMBERS)

    def penalised(self, logits: Tensor, history: History) -> Tensor:
        """Logits [rows, vocabulary], float32, after bias and penalties."""
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
        """Penalised logits / temperature of the best tokens, best first, -inf where a filter drops them, and
        the token ids, both [rows, some]. Without a filter: of all tokens, unsorted.

        Where the last one is not dropped and there is no top_k, more candidates may pass.
        """
        logits = logits / max(self.temperature, _COLDEST)
        if not self._sorts:
            return logits, torch.arange(logits.shape[-1], device=logits.device).expand_as(logits)
        values, tokens = logits.topk(min(self.top_k or candidates, logits.shape[-1]))
        # top-p and min-p look at the distribution that top-k leaves, or at the whole one.
        everything = values if self.top_k else logits
        probs = (values - everything.logsumexp(-1, keepdim=True)).exp()
        keep = (probs.cumsum(-1) - probs < self.top_p) & (probs >= self.min_p * probs[:, :1])
        keep[:, 0] = True
        return values.where(keep, -torch.inf), tokens

    def perturbed(self, values: Tensor, tokens: Tensor, positions: Tensor) -> Tensor:
        """values: as of `filtered`; with the noise of these tokens, float64. The best one is chosen."""
        return values.double() + gumbel_noise(self.seed, positions[:, None], tokens)

    def probabilities(self, logits: Tensor, history: History) -> Tensor:
        """The distribution that `choose` samples from, float64 [rows, vocabulary]; greedy: 1 at its choice.

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
