"""Medusa heads that learn (arXiv 2401.10774, section 2.2.1): head k guesses, from the target's state at a
token, the token k + 2 places behind it. They share the target's own head.
"""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from engine.heads.files import save_heads
from engine.heads.medusa import ResBlock
from engine.model import Model
from engine.training.corpus import Batch
from engine.training.student import Student, Teacher, distance, stored

HEADS = 4


class MedusaStudent(Student):
    method = "medusa"

    def __init__(self, target: Model, ids: Tensor) -> None:
        """ids: int64 [tokens], those that are told apart when learning, ascending."""
        self.levels = (target.layers - 1,)
        self._teacher = Teacher(target, ids)
        width: int = target.config.hidden_size
        heads = nn.ModuleList(nn.Sequential(ResBlock(width)) for _ in range(HEADS))
        self.module: Any = heads.to(target.device)
        for weight in self.module.parameters():
            nn.init.zeros_(weight)  # so that each begins as the target's own head

    def losses(self, batch: Batch, generator: torch.Generator) -> Tensor:
        said = batch.states[:, :, -1]
        read = self._teacher.read(said).float()
        found = []
        for ahead, head in enumerate(self.module, start=1):
            where = batch.learned[:, ahead:]
            logits = linear(head(read[:, :-ahead][where]), self._teacher.rows.float())
            found.append(distance(logits, self._teacher.probs(said[:, ahead:][where])))
        return torch.stack(found)

    def save(self, folder: Path) -> None:
        config = {"medusa_num_heads": HEADS, "medusa_num_layers": 1, "version": "2"}
        save_heads(folder, "medusa", config, stored(self.module))
