"""Conversations that a model makes up by itself: it says what a user asks, by its own chat template, and then
answers (as Magpie, arXiv 2406.08464, has it do). No data set is needed.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from engine.errors import UnsupportedModel
from engine.kv_cache import row_nbytes
from engine.model import Model, Watch, no_watch
from engine.tokenizer import Tokenizer
from engine.training.batched import StaticCache, check_trainable, run_layers

QUESTION_TOKENS = 96  # a question that has not ended by then is taken as it is
QUESTION_TEMPERATURE = 1.0
# Of a question's first tokens, which decide what it is about: a small model left alone asks the same few
# things.
OPENING, OPENING_TEMPERATURE = 3, 1.5
# Of answers, in turns. Greedy ones are what most people ask for, and what acceptance is measured on.
TEMPERATURES = (0.0, 0.7, 0.0, 1.0)
MIN_P = 0.02  # tokens less likely than this share of the best one are not drawn
KV_NBYTES = 2 << 30  # of all texts that are made up at once
MOST_TEXTS = 128  # where products are large enough to be fast on a CPU
# Texts made up together whose answers begin with the same so many tokens: a small model likes to refuse,
# always in the same words, and the tenth refusal teaches nothing.
ALIKE, SAME = 2, 12


@dataclass(frozen=True, slots=True)
class Frame:
    """Tokens around a user's turn: `before` it, and from its end to the beginning of the answer; `ends`, the
    tokens that end a turn."""

    before: list[int]
    after: list[int]
    ends: frozenset[int]


def frame_of(tokenizer: Tokenizer) -> Frame:
    """The chat template's; without one, a text begins by itself and has no question.

    Raises UnsupportedModel where there is no token to begin with.
    """
    one, other = (tokenizer.encode_chat([{"role": "user", "content": text}]) for text in ("a", "b"))
    common = next((i for i, pair in enumerate(zip(one, other, strict=False)) if len(set(pair)) > 1), 0)
    before, after = one[:common], one[common + 1 :]
    if not before:
        before = sorted(tokenizer.eos_ids)[:1]
    if not before:
        raise UnsupportedModel(
            "The model has no token that a text begins with.", "Choose a model with a chat template."
        )
    return Frame(before, after, tokenizer.eos_ids)


@dataclass(frozen=True, slots=True)
class Text:
    """One conversation, as far as it went. tokens: int32 [tokens]; states: [tokens, levels, width], what the
    target's layers said there; `answer`: where the answer begins, or `tokens` where none was begun."""

    tokens: Tensor
    states: Tensor
    answer: int


@dataclass(slots=True)
class _Growing:
    """A text being written in one row of the batch."""

    temperature: float  # of its answer
    tokens: list[int]
    forced: list[int] = field(default_factory=list)  # tokens of the frame that come next
    answer: int = 0  # 0: the question is not finished


class Writer:
    """Makes up texts, many at once, each row of the batch at a place of its own."""

    def __init__(self, model: Model, frame: Frame, levels: tuple[int, ...], length: int) -> None:
        """levels: layers whose outputs are kept. length: most tokens of a text. Raises UnsupportedModel."""
        check_trainable(model, length)
        self._model, self._frame, self._levels, self._length = model, frame, levels, length
        self.rows = max(1, min(MOST_TEXTS, KV_NBYTES // (length * row_nbytes(model.config, model.dtype))))
        self._begun = 0

    @torch.inference_mode()
    def write(self, steps: int, seed: int, watch: Watch = no_watch) -> list[Text]:
        """As many texts as get written in `steps` passes, the last ones unfinished. watch: told passes done
        of those in all; ends it by raising."""
        model, frame = self._model, self._frame
        generator = torch.Generator(model.device).manual_seed(seed)
        cache = StaticCache(model, self.rows, self._length)
        kept = torch.empty(
            self.rows, self._length, len(self._levels), model.config.hidden_size, dtype=model.dtype
        )
        self._begun = 0
        growing = [self._begin() for _ in range(self.rows)]
        for each in growing:
            each.tokens, each.forced = frame.before[:1], frame.before[1:]
        done: list[Text] = []
        for step in range(steps):
            watch(step, steps)
            places = torch.tensor([len(each.tokens) - 1 for each in growing], device=model.device)
            last = torch.tensor([each.tokens[-1:] for each in growing], device=model.device)
            mask = cache.turn_to(places)
            states = run_layers(model, last, places[:, None], mask, cache, self._levels)[:, 0]
            kept[torch.arange(self.rows), places.cpu()] = states.cpu()
            for row, token in enumerate(self._choose(states[:, -1], growing, generator)):
                if not self._go_on(growing[row], token):
                    done.append(_finished(growing[row], len(growing[row].tokens), kept[row]))
                    growing[row] = self._begin()  # the rows of `before` are still there
        return done + [_finished(each, len(each.tokens) - 1, kept[row]) for row, each in enumerate(growing)]

    def _begin(self) -> _Growing:
        before = self._frame.before
        self._begun += 1
        temperature = TEMPERATURES[self._begun % len(TEMPERATURES)]
        return _Growing(temperature, list(before), answer=0 if self._frame.after else len(before))

    def _go_on(self, text: _Growing, token: int) -> bool:
        """Add `token`, or what the frame has in its place; False: the text ends before it."""
        asking = not text.answer
        if asking and not text.forced:
            asked = len(text.tokens) - len(self._frame.before)
            if token in self._frame.ends or asked == QUESTION_TOKENS:
                text.forced = list(self._frame.after)
                text.answer = len(text.tokens) + len(text.forced)
        elif not text.forced and token in self._frame.ends:
            return False
        if len(text.tokens) == self._length:
            return False
        text.tokens.append(text.forced.pop(0) if text.forced else token)
        return True

    def _temperature(self, text: _Growing) -> float:
        if text.answer:
            return text.temperature
        asked = len(text.tokens) - len(self._frame.before)
        return OPENING_TEMPERATURE if asked < OPENING else QUESTION_TEMPERATURE

    def _choose(self, states: Tensor, growing: list[_Growing], generator: torch.Generator) -> list[int]:
        """The next token of each text. states: [batch, width] of the last layer."""
        module: Any = self._model.module
        logits = module.lm_head(module.model.norm(states))[:, : self._model.vocabulary].float()
        temperatures = torch.tensor([self._temperature(each) for each in growing], device=logits.device)
        probs = (logits / temperatures.clamp(min=1e-3)[:, None]).softmax(-1)
        probs *= probs >= MIN_P * probs.amax(-1, keepdim=True)
        reached = probs.cumsum(-1)
        point = torch.rand(len(probs), 1, generator=generator, device=probs.device) * reached[:, -1:]
        drawn = torch.searchsorted(reached, point, right=True)[:, 0].clamp(max=probs.shape[-1] - 1)
        chosen: list[int] = drawn.where(temperatures > 0, logits.argmax(-1)).tolist()
        return chosen


def unlike(texts: list[Text]) -> list[Text]:
    """Of answers that begin alike only the first ALIKE."""
    begun: Counter[tuple[int, ...]] = Counter()
    kept = []
    for text in texts:
        opening = tuple(text.tokens[text.answer : text.answer + SAME].tolist())
        begun[opening] += 1
        if len(opening) < SAME or begun[opening] <= ALIKE:
            kept.append(text)
    return kept


def _finished(text: _Growing, length: int, states: Tensor) -> Text:
    tokens = torch.tensor(text.tokens[:length], dtype=torch.int32)
    return Text(tokens, states[:length].clone(), min(text.answer or length, length))
