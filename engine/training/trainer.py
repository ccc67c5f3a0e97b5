"""The training loop: batches, gradients, a schedule, and checkpoints from which it resumes bit for bit.

It depends neither on the type of student nor on where the texts come from.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch.optim import AdamW

from engine.errors import BadCheckpoint, DiskProblem, Diverged
from engine.files import replacing
from engine.training.corpus import Batch, Corpus
from engine.training.student import Student

WARM_UP = 50  # steps
FADE = 0.8  # the loss of each further token ahead weighs this much of the one before it, as in EAGLE-3
LAST_RATE = 0.05  # share of the learning rate that is left at the end
BETAS = (0.9, 0.95)
LARGEST_GRADIENT = 1.0


@dataclass(frozen=True, slots=True)
class TrainingSchedule:
    """The duration of a training and its learning rate. Training ends after `steps`, or `minutes` of
    learning, whichever comes first; None: no such limit. A step learns from `accumulate` batches of about
    `batch_tokens` tokens each."""

    steps: int | None
    minutes: float | None
    learning_rate: float = 1e-3
    batch_tokens: int = 4096
    accumulate: int = 1
    seed: int = 0
    save_every_s: float = 300.0

    def progress(self, step: int, elapsed_s: float) -> float:
        """Return how much of the training is done, from 0 to 1."""
        by_steps = step / self.steps if self.steps else 0.0
        by_time = elapsed_s / (60 * self.minutes) if self.minutes else 0.0
        return min(1.0, max(by_steps, by_time))

    def rate(self, step: int, progress: float) -> float:
        """Return the learning rate: after a linear warm-up, it falls from `learning_rate` along a cosine."""
        falling = LAST_RATE + (1 - LAST_RATE) * (1 + math.cos(math.pi * progress)) / 2
        return self.learning_rate * falling * min(1.0, (step + 1) / WARM_UP)


@dataclass(frozen=True, slots=True)
class TrainingReport:
    """A report on one step. losses: one for each token ahead; tokens_per_s: tokens learned from per second;
    remaining_s: estimated seconds until the end of the training."""

    step: int
    losses: list[float]
    tokens_per_s: float
    remaining_s: float


class Trainer:
    """Trains a student on a corpus. `step`: number of steps done; `tokens`: number of tokens learned from so
    far, including repeats; `elapsed_s`: seconds of learning so far."""

    def __init__(
        self, student: Student, corpus: Corpus, schedule: TrainingSchedule, file: Path, autocast: torch.dtype
    ) -> None:
        """file: where checkpoints are written. autocast: dtype of matrix products; float32: autocast is
        off."""
        self.step = self.tokens = 0
        self.elapsed_s = 0.0
        self._student, self._corpus, self._schedule, self._file = student, corpus, schedule, file
        self._autocast = autocast
        self._device = next(student.module.parameters()).device
        self._optimizer = AdamW(student.module.parameters(), betas=BETAS, weight_decay=0.01, fused=True)

    def load(self) -> None:
        """Continue from the last checkpoint, if there is one. Raises BadCheckpoint if it cannot be read."""
        if not self._file.exists():
            return
        try:
            state: dict[str, Any] = torch.load(self._file, map_location=self._device, weights_only=True)
            self._student.module.load_state_dict(state["module"])
            self._optimizer.load_state_dict(state["optimizer"])
            self.step, self.tokens, self.elapsed_s = state["step"], state["tokens"], state["elapsed_s"]
        except Exception as error:  # a damaged pickle fails in many ways
            raise BadCheckpoint(
                f"{self._file.name} is not a checkpoint of this training: {str(error)[:200]}",
                "Choose another folder and start over.",
            ) from error

    def save(self) -> None:
        """Write a checkpoint. If that fails, raises DiskProblem and leaves the previous checkpoint in
        place."""
        state = {
            "module": self._student.module.state_dict(),
            "optimizer": self._optimizer.state_dict(),
            "step": self.step,
            "tokens": self.tokens,
            "elapsed_s": self.elapsed_s,
        }
        try:
            with replacing(self._file, single_writer=True) as temporary:
                torch.save(state, temporary)
        except (OSError, RuntimeError) as error:  # torch's writer has no error class of its own
            raise DiskProblem(
                f"{self._file} cannot be written: {str(error)[:200]}",
                "Free some space, then continue with --resume.",
            ) from error

    def run(self, report: Callable[[TrainingReport], None], saved: Callable[[], None]) -> None:
        """Train to the end of the schedule; write a checkpoint every `save_every_s` seconds and at the end.

        report: called after every step; it may raise to end the training, and the last checkpoint stays on
        disk. saved: called after every checkpoint but the last; the time it takes does not count as training.
        Raises Diverged if the loss is not a number; the last good checkpoint stays on disk.
        """
        schedule = self._schedule
        first = self.step * schedule.accumulate
        batches = self._corpus.batches(schedule.batch_tokens, schedule.seed, first)
        last_save = self.elapsed_s
        while (progress := schedule.progress(self.step, self.elapsed_s)) < 1:
            started = time.perf_counter()
            before = self.tokens
            for group in self._optimizer.param_groups:
                group["lr"] = schedule.rate(self.step, progress)
            losses = self._learn(list(islice(batches, schedule.accumulate)))
            self.step += 1
            seconds = time.perf_counter() - started
            self.elapsed_s += seconds
            progress = schedule.progress(self.step, self.elapsed_s)
            remaining = self.elapsed_s * (1 - progress) / progress
            report(TrainingReport(self.step, losses, (self.tokens - before) / seconds, remaining))
            if self.elapsed_s - last_save >= schedule.save_every_s and progress < 1:
                last_save = self.elapsed_s
                self.save()
                saved()
        self.save()

    def _learn(self, batches: list[Batch]) -> list[float]:
        """Learn from `batches` in one step; return the mean losses, one for each token ahead."""
        self._optimizer.zero_grad()
        total = []
        for number, batch in enumerate(batches):
            chance = torch.Generator().manual_seed(self._schedule.seed + self.step * len(batches) + number)
            losses = self.losses(batch, chance)
            weights = FADE ** torch.arange(len(losses), device=losses.device)
            loss = (losses * weights).sum() / weights.sum() / len(batches)
            loss.backward()  # type: ignore[no-untyped-call]
            total.append(losses.detach())
            self.tokens += int(batch.learned.sum())
        mean = torch.stack(total).mean(0)
        norm = torch.nn.utils.clip_grad_norm_(self._student.module.parameters(), LARGEST_GRADIENT)
        if not bool(mean.isfinite().all() and norm.isfinite()):
            raise Diverged(
                f"The loss of step {self.step + 1:,} is not a number.",
                "Start again from the last checkpoint with a smaller --learning-rate and --resume.",
            )
        self._optimizer.step()
        losses_by_token: list[float] = mean.tolist()
        return losses_by_token

    def losses(self, batch: Batch, chance: torch.Generator) -> torch.Tensor:
        """Return the student's losses for `batch`, with products in this training's dtype."""
        enabled = self._autocast != torch.float32
        with torch.autocast(self._device.type, self._autocast if enabled else torch.bfloat16, enabled):
            return self._student.losses(batch.to(self._device), chance)
