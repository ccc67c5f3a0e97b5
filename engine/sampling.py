"""From logits to the next token, so that randomness depends only on (seed, absolute position, token id).

The next token is argmax(processed logits / T + Gumbel noise): a sample of softmax(processed logits / T), by
the Gumbel-max trick. The noise comes from a counter-based integer generator, Philox-4x32-10 (Salmon et al.
2011, "Parallel random numbers: as easy as 1, 2, 3"), which gives the same bits on every device. Knows nothing
of trees: it is given one node's logits and path.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

_MASK32 = 0xFFFFFFFF
_PHILOX_M = (0xD2511F53, 0xCD9E8D57)  # multipliers and key increments of the paper's reference code
_PHILOX_W = (0x9E3779B9, 0xBB67AE85)
_FIRST_CANDIDATES = 256  # most nuclei at everyday settings are smaller; more until the filter is satisfied
_COLDEST = 1e-6  # below it, logits leave the range of float32, and nothing changes any more


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


def gumbel_noise(seed: int, position: int, tokens: Tensor) -> Tensor:
    """Standard Gumbel noise, float64, in the shape of `tokens` (int64 token ids).

    seed: 0 <= seed < 2^64. position: absolute position of the token to be chosen in the sequence.
    """
    words = philox((tokens >> 2, position & _MASK32, position >> 32, 0), (seed & _MASK32, seed >> 32))
    bits = torch.stack([word.expand_as(tokens) for word in words]).gather(0, (tokens & 3)[None])[0]
    uniform = (bits.double() + 0.5) / 2**32  # inside (0, 1): both logarithms are finite
    return -(-uniform.log()).log()


@dataclass(frozen=True, slots=True)
class Sampler:
    """The processors a user asked for, in the order of transformers: penalty, temperature, top-k, top-p,
    min-p.

    temperature 0 is greedy; top_k 0, top_p 1, min_p 0 and repetition_penalty 1 are off.
    """

    seed: int = 0
    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    repetition_penalty: float = 1.0

    def choose(self, logits: Tensor, position: int, path: Sequence[int]) -> int:
        """The token at `position` (absolute), given logits [vocabulary] and every token id before it."""
        if self.temperature == 0:
            return int(self._penalised(logits, path).argmax())
        scores, tokens = self.perturbed(logits, position, path)
        return int(tokens[scores.argmax()])

    def perturbed(self, logits: Tensor, position: int, path: Sequence[int]) -> tuple[Tensor, Tensor]:
        """(scores float64 [candidates], token ids [candidates]); the best score wins. Greedy has no noise."""
        logits = self._penalised(logits, path)
        if self.temperature == 0:
            return logits.double(), torch.arange(len(logits), device=logits.device)
        scores, tokens = self._candidates(logits / max(self.temperature, _COLDEST))
        return scores.double() + gumbel_noise(self.seed, position, tokens), tokens

    def _penalised(self, logits: Tensor, path: Sequence[int]) -> Tensor:
        logits = logits.float()
        if self.repetition_penalty == 1.0 or not path:
            return logits
        seen = torch.tensor(sorted(set(path)), device=logits.device)
        values = logits[seen]
        values = torch.where(values < 0, values * self.repetition_penalty, values / self.repetition_penalty)
        return logits.index_copy(0, seen, values)

    def _candidates(self, logits: Tensor) -> tuple[Tensor, Tensor]:
        """Logits and ids of the tokens that pass every filter."""
        if self.top_k == 0 and self.top_p == 1.0 and self.min_p == 0.0:
            return logits, torch.arange(len(logits), device=logits.device)
        count = self.top_k or _FIRST_CANDIDATES
        while True:
            values, tokens = logits.topk(min(count, len(logits)))  # best first
            # top-p and min-p look at the distribution that top-k leaves, or at the whole one.
            everything = values if self.top_k else logits
            probs = (values - everything.logsumexp(0)).exp()
            keep = (probs.cumsum(0) - probs < self.top_p) & (probs >= self.min_p * probs[0])
            keep[0] = True
            if self.top_k or len(values) == len(logits) or not bool(keep[-1]):
                return values[keep], tokens[keep]
            count *= 4
