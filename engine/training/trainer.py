"""The loop that learns: batches, gradients, a schedule, checkpoints it can go on from bit for bit.

Knows neither what the student is nor where texts come from.
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
from engine.training.corpus import Batch, Corpus
from engine.training.student import Student

WARM_UP = 50  # steps
FADE = 0.8  # what each further token ahead counts for, as in EAGLE-3
LAST_RATE = 0.05  # of the learning rate that is left at the end
BETAS = (0.9, 0.95)
LARGEST_GRADIENT = 1.0


@dataclass(frozen=True, slots=True)
class Schedule:
    """How long and how fast. It ends after `steps`, or `minutes` of learning, whichever is first; None: no
    such limit. A step learns from `accumulate` batches of `batch_tokens` tokens each."""

    steps: int | None
    minutes: float | None
    learning_rate: float = 1e-3
    batch_tokens: int = 4096
    accumulate: int = 1
    seed: int = 0
    save_every_s: float = 300.0

    def progress(self, step: int, elapsed_s: float) -> float:
        """0 at the beginning, 1 at the end."""
        by_steps = step / self.steps if self.steps else 0.0
        by_time = elapsed_s / (60 * self.minutes) if self.minutes else 0.0
        return min(1.0, max(by_steps, by_time))

    def rate(self, step: int, progress: float) -> float:
        """A cosine from `learning_rate` down, after a linear warm-up."""
        falling = LAST_RATE + (1 - LAST_RATE) * (1 + math.cos(math.pi * progress)) / 2
        return self.learning_rate * falling * min(1.0, (step + 1) / WARM_UP)


@dataclass(frozen=True, slots=True)
class Report:
    """Of the steps since the last report. losses: by tokens ahead; tokens_per_s: learned from;
    remaining_s: until the end."""

    step: int
    losses: list[float]
    tokens_per_s: float
    remaining_s: float


class Trainer:
    """Attributes: `step` (steps done), `tokens` (read so far, repeats included), `elapsed_s` (time spent on
    them)."""

    def __init__(
        self, student: Student, corpus: Corpus, schedule: Schedule, file: Path, autocast: torch.dtype
    ) -> None:
        """file: of its checkpoints. autocast: products are computed in it; float32: as they are."""
        self.step = self.tokens = 0
        self.elapsed_s = 0.0
        self._student, self._corpus, self._schedule, self._file = student, corpus, schedule, file
        self._autocast = autocast
        self._device = next(student.module.parameters()).device
        self._optimizer = AdamW(student.module.parameters(), betas=BETAS, weight_decay=0.01, fused=True)

    def load(self) -> None:
        """Go on from the last checkpoint, where there is one. Raises BadCheckpoint."""
        if not self._file.exists():
            return
        try:
            found: dict[str, Any] = torch.load(self._file, map_location=self._device, weights_only=True)
            self._student.module.load_state_dict(found["module"])
            self._optimizer.load_state_dict(found["optimizer"])
            self.step, self.tokens, self.elapsed_s = found["step"], found["tokens"], found["elapsed_s"]
        except Exception as error:  # a damaged pickle fails in many ways
            raise BadCheckpoint(
                f"{self._file.name} is no checkpoint of this training: {str(error)[:200]}",
                "Name another folder, and start anew.",
            ) from error

    def save(self) -> None:
        """Raises DiskProblem; the checkpoint before it stays."""
        part = self._file.with_suffix(".part")
        state = {
            "module": self._student.module.state_dict(),
            "optimizer": self._optimizer.state_dict(),
            "step": self.step,
            "tokens": self.tokens,
            "elapsed_s": self.elapsed_s,
        }
        try:
            torch.save(state, part)
            part.replace(self._file)
        except (OSError, RuntimeError) as error:  # torch's writer has no class of its own
            part.unlink(missing_ok=True)
            raise DiskProblem(
                f"{self._file} cannot be written: {str(error)[:200]}",
                "Free some space, then start again with --resume.",
            ) from error

    def run(self, report: Callable[[Report], None], saved: Callable[[], None]) -> None:
        """Learn to the end of the schedule. `report` is told of each step, and may end it by raising; the
        last checkpoint stays. saved: called behind each checkpoint, its time does not count.

        Raises Diverged where the loss is no number, with the last good checkpoint on disk.
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
            report(Report(self.step, losses, (self.tokens - before) / seconds, remaining))
            if self.elapsed_s - last_save >= schedule.save_every_s and progress < 1:
                last_save = self.elapsed_s
                self.save()
                saved()
        self.save()

    def _learn(self, batches: list[Batch]) -> list[float]:
        """One step; the losses by tokens ahead."""
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
        found: list[float] = mean.tolist()
        return found

    def losses(self, batch: Batch, chance: torch.Generator) -> torch.Tensor:
        """The student's, with the products of this training."""
        enabled = self._autocast != torch.float32
        with torch.autocast(self._device.type, self._autocast if enabled else torch.bfloat16, enabled):
            return self._student.losses(batch.to(self._device), chance)
