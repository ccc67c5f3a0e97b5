"""Training of Medusa heads (arXiv 2401.10774, section 2.2.1).

From the target's state at a token, head k (counted from 0) guesses the token k + 2 positions later. All heads
use the target's output head.
"""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from engine.torch_model.forward import TorchModel
from engine.torch_model.medusa import ResBlock
from engine.training.corpus import Batch
from engine.training.saved_heads import save_heads
from engine.training.student import Student, Teacher, distance, stored

HEADS = 4


class MedusaStudent(Student):
    """Medusa heads in training."""

    method = "medusa"

    def __init__(self, target: TorchModel, ids: Tensor) -> None:
        """ids: int64 [tokens], the training vocabulary, ascending."""
        self.levels = (target.layers - 1,)
        self._teacher = Teacher(target, ids)
        width: int = target.config.hidden_size
        heads = nn.ModuleList(nn.Sequential(ResBlock(width)) for _ in range(HEADS))
        self.module: Any = heads.to(target.device)
        for weight in self.module.parameters():
            nn.init.zeros_(weight)  # so that every head starts out equal to the target's own

    def losses(self, batch: Batch, generator: torch.Generator) -> Tensor:
        last = batch.states[:, :, -1]
        inputs = self._teacher.head_input(last).float()
        losses = []
        for ahead, head in enumerate(self.module, start=1):
            where = batch.learned[:, ahead:]
            logits = linear(head(inputs[:, :-ahead][where]), self._teacher.rows.float())
            losses.append(distance(logits, self._teacher.probs(last[:, ahead:][where])))
        return torch.stack(losses)

    def save(self, folder: Path) -> None:
        config = {"medusa_num_heads": HEADS, "medusa_num_layers": 1, "version": "2"}
        save_heads(folder, "medusa", config, stored(self.module))
