"""Generation of conversations without a data set: given the beginning of its chat template, a model writes a
user's question, then the answer (as in Magpie, arXiv 2406.08464).
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from engine.errors import UnsupportedModel
from engine.model.interface import Progress, no_progress
from engine.tokenizer import Tokenizer
from engine.torch_model.forward import TorchModel
from engine.torch_model.tensor_cache import row_nbytes
from engine.training.batched import StaticCache, check_trainable, run_layers

QUESTION_TOKENS = 96  # longer questions are cut to this length
QUESTION_TEMPERATURE = 1.0
# The first OPENING tokens of a question, which decide its subject, have a higher temperature: otherwise a
# small model asks the same few questions.
OPENING, OPENING_TEMPERATURE = 3, 1.5
# Temperatures of the answers, used in turn. Half of the answers are greedy (0), like those on which
# acceptance is measured.
TEMPERATURES = (0.0, 0.7, 0.0, 1.0)
MIN_P = 0.02  # tokens below this share of the highest probability are not drawn
KV_NBYTES = 2 << 30  # limit for the keys and values of all texts that are generated at once
MOST_TEXTS = 128  # texts at once; enough for matrix products to be fast on a CPU
# Of the texts generated together, at most ALIKE may have answers whose first SAME tokens are equal: a small
# model tends to refuse, always in the same words, and the tenth refusal teaches nothing.
ALIKE, SAME = 2, 12


@dataclass(frozen=True, slots=True)
class Frame:
    """The tokens that the chat template puts around a question: those `before` it, and those `after` it up to
    the answer. `ends`: the tokens that end a turn."""

    before: list[int]
    after: list[int]
    ends: frozenset[int]


def frame_of(tokenizer: Tokenizer) -> Frame:
    """Return the chat template's frame. Without a template, a text has no question and starts with an end
    token.

    Raises UnsupportedModel if the model has no token to start a text with.
    """
    one, other = (tokenizer.encode_chat([{"role": "user", "content": text}]) for text in ("a", "b"))
    common = next((i for i, pair in enumerate(zip(one, other, strict=False)) if len(set(pair)) > 1), 0)
    before, after = one[:common], one[common + 1 :]
    if not before:
        before = sorted(tokenizer.eos_ids)[:1]
    if not before:
        raise UnsupportedModel(
            "The model has no token to start a text with.", "Choose a model with a chat template."
        )
    return Frame(before, after, tokenizer.eos_ids)


@dataclass(frozen=True, slots=True)
class TrainingText:
    """One conversation, perhaps unfinished. tokens: int32 [tokens]; states: [tokens, levels, width], the
    outputs of the target's layers for these tokens; answer: index of the answer's first token, or the number
    of tokens if there is no answer."""

    tokens: Tensor
    states: Tensor
    answer: int


@dataclass(slots=True)
class _Growing:
    """A text being generated in one row of the batch."""

    temperature: float  # at which its answer is drawn
    tokens: list[int]
    forced: list[int] = field(default_factory=list)  # tokens of the frame that must come next
    answer: int = 0  # index of the answer's first token; 0: the question is not finished


class ConversationWriter:
    """Generates many texts at once, one in each row of a batch; every row has a position of its own."""

    def __init__(self, model: TorchModel, frame: Frame, levels: tuple[int, ...], length: int) -> None:
        """levels: layers whose outputs are kept. length: maximum number of tokens of a text. Raises
        UnsupportedModel as `check_trainable` does."""
        check_trainable(model, length)
        self._model, self._frame, self._levels, self._length = model, frame, levels, length
        self.rows = max(1, min(MOST_TEXTS, KV_NBYTES // (length * row_nbytes(model.config, model.dtype))))
        self._started = 0

    @torch.inference_mode()
    def write(self, steps: int, seed: int, progress: Progress = no_progress) -> list[TrainingText]:
        """Generate texts in `steps` passes, and return them; the texts still growing at the end are returned
        unfinished. progress: called before each pass with the number of passes done and the total; it may
        raise to end the generation."""
        model, frame = self._model, self._frame
        generator = torch.Generator(model.device).manual_seed(seed)
        cache = StaticCache(model, self.rows, self._length)
        kept = torch.empty(
            self.rows, self._length, len(self._levels), model.config.hidden_size, dtype=model.dtype
        )
        self._started = 0
        growing = [self._begin() for _ in range(self.rows)]
        for text in growing:
            text.tokens, text.forced = frame.before[:1], frame.before[1:]
        done: list[TrainingText] = []
        for step in range(steps):
            progress(step, steps)
            positions = torch.tensor([len(text.tokens) - 1 for text in growing], device=model.device)
            last = torch.tensor([text.tokens[-1:] for text in growing], device=model.device)
            mask = cache.move_to(positions)
            states = run_layers(model, last, positions[:, None], mask, cache, self._levels)[:, 0]
            kept[torch.arange(self.rows), positions.cpu()] = states.cpu()
            for row, token in enumerate(self._choose(states[:, -1], growing, generator)):
                if not self._append(growing[row], token):
                    done.append(_finished(growing[row], len(growing[row].tokens), kept[row]))
                    growing[row] = self._begin()  # starts with `before`, which is already cached
        return done + [_finished(text, len(text.tokens) - 1, kept[row]) for row, text in enumerate(growing)]

    def _begin(self) -> _Growing:
        before = self._frame.before
        self._started += 1
        temperature = TEMPERATURES[self._started % len(TEMPERATURES)]
        return _Growing(temperature, list(before), answer=0 if self._frame.after else len(before))

    def _append(self, text: _Growing, token: int) -> bool:
        """Append `token` to `text`; where the frame prescribes the next token, append that one instead.
        Return False, without appending anything, if the text is finished."""
        in_question = not text.answer
        if in_question and not text.forced:
            written = len(text.tokens) - len(self._frame.before)
            if token in self._frame.ends or written == QUESTION_TOKENS:
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
        written = len(text.tokens) - len(self._frame.before)
        return OPENING_TEMPERATURE if written < OPENING else QUESTION_TEMPERATURE

    def _choose(self, states: Tensor, growing: list[_Growing], generator: torch.Generator) -> list[int]:
        """Choose the next token of every text. states: [batch, width], outputs of the last layer."""
        module: Any = self._model.module
        logits = module.lm_head(module.model.norm(states))[:, : self._model.vocabulary].float()
        temperatures = torch.tensor([self._temperature(text) for text in growing], device=logits.device)
        probs = (logits / temperatures.clamp(min=1e-3)[:, None]).softmax(-1)
        probs *= probs >= MIN_P * probs.amax(-1, keepdim=True)
        reached = probs.cumsum(-1)
        point = torch.rand(len(probs), 1, generator=generator, device=probs.device) * reached[:, -1:]
        drawn = torch.searchsorted(reached, point, right=True)[:, 0].clamp(max=probs.shape[-1] - 1)
        chosen: list[int] = drawn.where(temperatures > 0, logits.argmax(-1)).tolist()
        return chosen


def drop_repetitive(texts: list[TrainingText]) -> list[TrainingText]:
    """Return `texts` without those whose answer has the same first SAME tokens as ALIKE earlier answers."""
    seen: Counter[tuple[int, ...]] = Counter()
    kept = []
    for text in texts:
        opening = tuple(text.tokens[text.answer : text.answer + SAME].tolist())
        seen[opening] += 1
        if len(opening) < SAME or seen[opening] <= ALIKE:
            kept.append(text)
    return kept


def _finished(text: _Growing, length: int, states: Tensor) -> TrainingText:
    tokens = torch.tensor(text.tokens[:length], dtype=torch.int32)
    return TrainingText(tokens, states[:length].clone(), min(text.answer or length, length))
