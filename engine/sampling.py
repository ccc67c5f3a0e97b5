"""Sampling of the next token from logits, with randomness that depends only on (seed, absolute position,
token id).

The next token is argmax(processed logits / T + Gumbel noise): a sample of softmax(processed logits / T), by
the Gumbel-max trick. The noise comes from a counter-based integer generator, Philox-4x32-10 (Salmon et al.
2011, "Parallel random numbers: as easy as 1, 2, 3"), which gives the same bits on every device. Works on
many rows at once, numpy's or torch's; trees appear only as rows whose histories share a prefix.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from engine import ways
from engine.arrays import (
    Array,
    as_float,
    is_on_card,
    like,
    log_softmax,
    log_sum_exp,
    masked,
    namespace,
    on_host,
    top,
)
from engine.compiled.best import best
from engine.constraint.masks import Masks
from engine.repetition import Dry

_MASK32 = 0xFFFFFFFF
# The multipliers and the key increments in the paper's reference code.
_PHILOX_M = (0xD2511F53, 0xCD9E8D57)
_PHILOX_W = (0x9E3779B9, 0xBB67AE85)
_FIRST_CANDIDATES = 256  # number of tokens to examine first; most nuclei at everyday settings are smaller
# Noise is made for few rows at a time: making it takes some hundred bytes a number.
_ROWS_WITH_NOISE = 16  # rows to which that of a whole vocabulary is added: 20 MB
_NOISE = 1 << 20  # numbers of it where each row has its own
# Lower temperatures are raised to this one: below it, logits would leave the range of float32, and the choice
# no longer changes.
_COLDEST = 1e-6

# Returned by `Sampler.choose` in place of a token.
MORE_CANDIDATES = -1  # the nucleus is larger than the candidates examined
NOT_NUMBERS = -2  # the logits are not finite

# Independent streams of noise from one seed.
TARGET_STREAM, DRAFT_STREAM, TEST_STREAM, XTC_STREAM = range(4)


def philox(counter: tuple[Array, ...], key: tuple[int, int]) -> tuple[Array, ...]:
    """Return four words of 32 random bits for each counter.

    counter: four 32-bit words, int64 arrays of shapes that broadcast; key: two 32-bit words.
    """
    c0, c1, c2, c3 = counter
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


def uniforms(seed: int, positions: Array | int, numbers: Array, stream: int = TARGET_STREAM) -> Array:
    """Return random numbers, uniform in (0, 1), float64, in the shape to which `numbers` and `positions`
    broadcast.

    seed: 0 <= seed < 2^64. positions: absolute positions, within the sequence, of the tokens to choose.
    numbers: int64; each gives another random number at the same position; token ids, for example.
    """
    if _avoids_card(numbers):
        return like(numbers, uniforms(seed, _off_card(positions), on_host(numbers), stream))
    xp = namespace(numbers)
    positions = like(numbers, [positions]) if isinstance(positions, int) else positions
    counter = (numbers >> 2, positions & _MASK32, positions >> 32, like(numbers, [stream]))
    words = xp.stack(philox(counter, (seed & _MASK32, seed >> 32)))
    word = xp.broadcast_to(numbers & 3, words.shape[1:])
    bits = xp.take_along_axis(words, word[None], axis=0)[0]
    return (as_float(bits, double=True) + 0.5) / 2**32


def draw(probs: Array, uniforms: Array) -> Array:
    """Draw tokens from each row of `probs` by the inverse of its cumulative sum; return int64 [rows, draws].

    probs: [rows, vocabulary]; a row need not sum to 1. uniforms: float64 [draws] or [rows, draws], in (0, 1);
    a row's draws are independent if these numbers are. This is far cheaper than a Gumbel number for every
    token and draw.
    """
    xp = namespace(probs)
    sums = xp.cumulative_sum(as_float(probs, double=True), axis=-1)
    numbers = xp.broadcast_to(uniforms, (len(sums), uniforms.shape[-1])) * sums[:, -1:]
    # `right` finds the first token whose sum is above the number, so it never finds one of probability 0.
    pairs = zip(sums, numbers, strict=True)
    return xp.stack([xp.searchsorted(row, wanted, side="right") for row, wanted in pairs])


def gumbel_noise(seed: int, positions: Array | int, tokens: Array, stream: int = TARGET_STREAM) -> Array:
    """Return standard Gumbel noise, float64. The arguments are those of `uniforms`."""
    if _avoids_card(tokens):
        return like(tokens, gumbel_noise(seed, _off_card(positions), on_host(tokens), stream))
    xp = namespace(tokens)
    return -xp.log(-xp.log(uniforms(seed, positions, tokens, stream)))


def _avoids_card(array: Array) -> bool:
    """Return whether numpy computes the noise for a tensor, because its card does not compute it right."""
    return not isinstance(array, np.ndarray) and ways.taken("noise") == "processor"


def _off_card(positions: Array | int) -> Array | int:
    return positions if isinstance(positions, int) else on_host(positions)


def best_tokens(logits: Array, count: int) -> tuple[Array, Array]:
    """Return the `count` likeliest tokens of each row of logits [rows, vocabulary], or all if there are
    fewer: int64 ids and float32 log-probabilities, both [rows, count], best first."""
    count = min(count, logits.shape[-1])
    if not count:  # a drafter that needs none pays nothing
        return like(logits, np.empty((len(logits), 0), np.int64)), as_float(logits[:, :0])
    if isinstance(logits, np.ndarray) and logits.strides[-1] == logits.itemsize:
        return best(as_float(logits), count)
    if is_on_card(logits):  # one number per row to subtract, instead of a softmax of the whole vocabulary
        values, tokens = top(logits, count)
        return tokens, as_float(values) - log_sum_exp(as_float(logits))
    log_probs, tokens = top(log_softmax(as_float(logits)), count)
    return tokens, log_probs


def log_totals(logits: Array) -> Array:
    """Return log(sum(exp(logits))) of each row of logits [rows, vocabulary], float32 [rows, 1]: what
    `best_tokens` subtracts."""
    if isinstance(logits, np.ndarray):
        tokens, log_probs = best_tokens(logits, 1)
        return np.take_along_axis(as_float(logits), tokens, axis=-1) - log_probs
    return log_sum_exp(as_float(logits))


def finite_rows(logits: Array) -> Array:
    """Return for each row, bool [rows], whether its logits [rows, vocabulary] are all finite."""
    xp = namespace(logits)
    return xp.all(xp.isfinite(logits), axis=-1)


@dataclass(frozen=True, slots=True)
class TokenHistory:
    """The tokens that precede each row: first `context`, which all rows share, then `tails[row]`."""

    context: Sequence[int]
    tails: Sequence[Sequence[int]]

    def positions(self) -> NDArray[np.int64]:
        """Return the position of the token that each row chooses, int64 [rows]."""
        return len(self.context) + np.array([len(tail) for tail in self.tails], np.int64)

    def counts(self) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return all tokens that precede at least one row, int64 [tokens], and how often each of them
        precedes each row, float32 [rows, tokens]."""
        pairs = [(row, token) for row, tail in enumerate(self.tails) for token in tail]
        rows, tail_tokens = np.asarray(pairs, dtype=np.int64).reshape(-1, 2).T
        context = np.asarray(self.context, dtype=np.int64)
        tokens, places = np.unique(np.concatenate([context, tail_tokens]), return_inverse=True)
        counts = np.zeros((len(self.tails), len(tokens)), np.float32)
        counts += np.bincount(places[: len(context)], minlength=len(tokens)).astype(np.float32)
        np.add.at(counts, (rows, places[len(context) :]), 1)
        return tokens, counts


@dataclass(frozen=True, slots=True)
class Sampler:
    """The sampling settings of one answer, applied in transformers' order: bias, penalties, masks,
    temperature, top-k, top-p, min-p. DRY comes after the other penalties and XTC last, as in llama.cpp.

    Temperature 0 means greedy decoding; top_k 0, top_p 1, min_p 0, repetition_penalty 1 and the other
    penalties at 0 have no effect. As at OpenAI, the presence penalty is subtracted once if a token has
    occurred before, the frequency penalty once per occurrence. logit_bias: token id -> number to add to the
    token's logit. suppressed: tokens that are never chosen. first_suppressed: tokens that are not chosen at
    the position `first`, where an answer begins; None: it has begun. masks: which tokens may follow which
    path; None: any.

    xtc_probability: the chance, at each position, that XTC ("exclude top choices") applies there: of the
    tokens with at least the probability `xtc_threshold`, all but the least probable are excluded. As in
    llama.cpp, the probabilities are those before the temperature, of the tokens that the filters leave.
    spared: tokens that XTC never excludes. It has no effect in greedy decoding.
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
    suppressed: frozenset[int] = frozenset()
    first_suppressed: frozenset[int] = frozenset()
    first: int | None = None
    dry: Dry = field(default_factory=Dry)
    xtc_probability: float = 0.0
    xtc_threshold: float = 0.1
    spared: frozenset[int] = frozenset()
    masks: Masks | None = None

    @property
    def alters(self) -> bool:
        """Whether bias, suppression or penalties change the logits before the choice."""
        return self._penalises or self._opens or bool(self.logit_bias or self.suppressed)

    @property
    def looks_back(self) -> bool:
        """Whether the choice depends on earlier tokens."""
        return self._penalises or self._opens or self.masks is not None

    def behind(self, context: Sequence[int]) -> "Sampler":
        """Return the sampler for the tokens behind `context`, a prefix of the text with its prompt. Once the
        answer has begun, what only its first token is kept from costs nothing any more."""
        begun = self.first is not None and len(context) > self.first
        return replace(self, first=None) if begun and self.first_suppressed else self

    @property
    def _opens(self) -> bool:
        """Whether the first token of the answer is chosen otherwise than the others."""
        return self.first is not None and bool(self.first_suppressed)

    @property
    def _penalises(self) -> bool:
        return self._counts or self.dry.multiplier != 0

    @property
    def _counts(self) -> bool:
        return (self.repetition_penalty, self.presence_penalty, self.frequency_penalty) != (1.0, 0.0, 0.0)

    def choose(
        self,
        logits: Array,
        positions: Sequence[int],
        history: TokenHistory,
        candidates: int = _FIRST_CANDIDATES,
    ) -> NDArray[np.int64]:
        """Return the token chosen at each row's position, int64 [rows], or MORE_CANDIDATES or NOT_NUMBERS in
        place of a token that cannot be chosen.

        logits: [rows, vocabulary]. candidates: number of best tokens to examine if a filter needs sorted
        tokens.
        """
        xp = namespace(logits)
        finite = finite_rows(logits)
        if not is_on_card(logits) and not bool(xp.all(finite)):
            logits = xp.where(finite[:, None], logits, 0.0)  # numpy warns of arithmetic with infinity
        chosen = self._chosen(self.processed(logits, history), positions, candidates)
        return on_host(xp.where(finite, chosen, NOT_NUMBERS))

    def _chosen(self, logits: Array, positions: Sequence[int], candidates: int) -> Array:
        """Return the tokens chosen from processed logits, or MORE_CANDIDATES."""
        xp = namespace(logits)
        if self.temperature == 0:
            return xp.argmax(logits, axis=-1)
        values, tokens = self.filtered(logits, candidates)
        if not self._sorts:
            return self._chosen_of_all(values, tokens, positions)
        best = xp.argmax(self.perturbed(values, tokens, positions), axis=-1, keepdims=True)
        chosen = xp.take_along_axis(tokens, best, axis=-1)[:, 0]
        if not self.top_k and values.shape[-1] < logits.shape[-1]:
            chosen = xp.where(values[:, -1] == -math.inf, chosen, MORE_CANDIDATES)
        return chosen

    def _chosen_of_all(self, values: Array, tokens: Array, positions: Sequence[int]) -> Array:
        """Return the tokens chosen where every token takes part, a few rows at a time. Rows at the same
        position, such as nodes of the same depth, share one noise vector. Noise for all rows of a tree and a
        vocabulary of 152,000 would take gigabytes."""
        xp = namespace(values)
        at = np.asarray(positions, np.int64)
        chosen = like(tokens, np.zeros(len(at), np.int64))
        for position in np.unique(at).tolist():
            noise = gumbel_noise(self.seed, position, tokens[0])
            there = np.flatnonzero(at == position)
            for start in range(0, len(there), _ROWS_WITH_NOISE):
                which = there[start : start + _ROWS_WITH_NOISE]
                rows = like(tokens, which)
                scores = as_float(self.excluded(values[rows], tokens[rows], at[which]), double=True) + noise
                chosen[rows] = xp.argmax(scores, axis=-1)
        return chosen

    def processed(self, logits: Array, history: TokenHistory) -> Array:
        """Return logits [rows, vocabulary], float32, after bias, penalties and masks."""
        return self.masked(self.penalised(logits, history), history)

    def masked(self, logits: Array, history: TokenHistory) -> Array:
        """Return logits [rows, vocabulary] with -inf for tokens that may not follow a row's path. Where all
        that may follow are suppressed, the masks allow any, as at each dead end: the token chosen there is
        one that may not follow, and committing it raises DeadEnd."""
        flags = self.masks.rows(history.tails, logits.shape[-1]) if self.masks else None
        if flags is None:
            return logits
        self._suppress(flags, history, False)
        flags |= ~flags.any(axis=-1, keepdims=True)
        return masked(logits, flags)

    def _suppress(self, values: Array, history: TokenHistory, value: float) -> None:
        """Set `values` [rows, vocabulary] to `value` at the tokens that are suppressed in each row."""
        if self.suppressed:
            values[:, self._columns(values, self.suppressed)] = value
        if self._opens:
            rows = like(values, np.flatnonzero(history.positions() == self.first))
            values[rows[:, None], self._columns(values, self.first_suppressed)] = value

    def penalised(self, logits: Array, history: TokenHistory) -> Array:
        """Return logits [rows, vocabulary], float32, after bias, suppression and penalties."""
        if not self.alters:
            return as_float(logits)
        xp = namespace(logits)
        logits = xp.astype(logits, xp.float32)  # a copy
        if self.logit_bias:
            logits[:, like(logits, list(self.logit_bias))] += like(
                logits, np.array(list(self.logit_bias.values()), np.float32)
            )
        self._suppress(logits, history, -math.inf)
        if self._counts:
            tokens, counts = (like(logits, part) for part in history.counts())
            values = logits[:, tokens]
            penalty = self.repetition_penalty
            penalised = xp.where(values < 0, values * penalty, values / penalty)
            penalised -= self.presence_penalty + self.frequency_penalty * counts
            logits[:, tokens] = xp.where(counts > 0, penalised, values)
        if self.dry.multiplier:
            context = np.asarray(history.context, np.int64)
            for row, tail in enumerate(history.tails):
                tokens, numbers = (like(logits, part) for part in self.dry.penalties(context, tail))
                logits[row, tokens] -= numbers
        return logits

    def filtered(self, logits: Array, candidates: int = _FIRST_CANDIDATES) -> tuple[Array, Array]:
        """Return logits / temperature for the best tokens, best first, and the ids of these tokens, both
        [rows, candidates]. Tokens that a filter drops have -inf. Without a filter, return all tokens,
        unsorted.

        logits: [rows, vocabulary], processed. If the last candidate is not dropped and there is no top_k,
        more tokens may pass than are returned.
        """
        xp = namespace(logits)
        logits = logits / max(self.temperature, _COLDEST)
        if not self._sorts:
            return logits, xp.broadcast_to(like(logits, np.arange(logits.shape[-1])), logits.shape)
        values, tokens = top(logits, min(self.top_k or candidates, logits.shape[-1]))
        # top-p and min-p apply to the distribution that top-k leaves, or to the whole one.
        probs = xp.exp(values - log_sum_exp(values if self.top_k else logits))
        before = xp.cumulative_sum(probs, axis=-1) - probs
        keep = (before < self.top_p) & (probs >= self.min_p * probs[:, :1])
        keep[:, 0] = True
        return xp.where(keep, values, -math.inf), tokens

    def perturbed(self, values: Array, tokens: Array, positions: Sequence[int]) -> Array:
        """Return `values` after XTC, with the noise of their tokens added, float64. The token with the
        highest sum is the one to choose. values, tokens: as `filtered` returns them."""
        values = as_float(self.excluded(values, tokens, positions), double=True)
        at, step = like(tokens, positions)[:, None], max(1, _NOISE // tokens.shape[-1])
        pieces = [slice(start, start + step) for start in range(0, len(values), step)]
        noisy = [values[rows] + gumbel_noise(self.seed, at[rows], tokens[rows]) for rows in pieces]
        return noisy[0] if len(noisy) == 1 else namespace(values).concat(noisy)

    def excluded(self, values: Array, tokens: Array, positions: Sequence[int] | NDArray[np.int64]) -> Array:
        """Return `values` with -inf for the tokens that XTC excludes. values, tokens: as `filtered` returns
        them. Of several tokens that are equally the least probable, all stay."""
        if not self.xtc_probability:
            return values
        xp = namespace(values)
        probs = xp.exp(log_softmax(values * max(self.temperature, _COLDEST)))
        least = xp.min(xp.where(probs >= self.xtc_threshold, values, math.inf), axis=-1, keepdims=True)
        excluded = (values > least) & like(values, self.xtc_applies(positions))[:, None]
        for token in self.spared:
            excluded = excluded & (tokens != token)
        return xp.where(excluded, -math.inf, values)

    def xtc_applies(self, positions: Sequence[int] | NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether XTC applies at each position, bool [positions]. It depends on seed and position
        only, and not on the noise of the tokens there."""
        at = np.asarray(positions, np.int64)
        tosses: NDArray[np.float64] = uniforms(self.seed, at, np.zeros(len(at), np.int64), XTC_STREAM)
        return tosses < self.xtc_probability

    def probabilities(self, logits: Array, history: TokenHistory) -> Array:
        """Return the distribution from which `choose` samples, float64 [rows, vocabulary]. In greedy decoding
        it is 1 at the chosen token.

        logits: [rows, vocabulary]. history: all tokens that precede each row, so that its length is the
        position.
        """
        xp = namespace(logits)
        processed = self.processed(logits, history)
        probs = xp.zeros_like(logits, dtype=xp.float64)
        rows = like(logits, np.arange(len(logits)))[:, None]
        if self.temperature == 0:
            probs[rows, xp.argmax(processed, axis=-1, keepdims=True)] = 1.0
            return probs
        values, tokens = self.filtered(processed)
        if self._sorts and not self.top_k and bool(xp.any(values[:, -1] != -math.inf)):
            values, tokens = self.filtered(processed, logits.shape[-1])
        values = self.excluded(values, tokens, history.positions())
        probs[rows, tokens] = xp.exp(log_softmax(as_float(values, double=True)))
        return probs

    @staticmethod
    def _columns(logits: Array, tokens: frozenset[int]) -> Array:
        """Return the columns of logits for tokens; the head may have no rows for some."""
        return like(logits, np.array([token for token in tokens if token < logits.shape[-1]], np.int64))

    @property
    def _sorts(self) -> bool:
        return (self.top_k, self.top_p, self.min_p) != (0, 1.0, 0.0)
