"""What all students have in common: they learn the distributions that the target gave."""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, linear

from engine.model import Model
from engine.training.corpus import Batch


class Teacher:
    """What the target says of some tokens. Attributes: `ids` int64 [tokens], those tokens, ascending; `rows`
    [tokens, width], theirs of the target's head."""

    def __init__(self, target: Model, ids: Tensor) -> None:
        module: Any = target.module
        self.ids = ids.to(target.device)
        self.rows: Tensor = module.lm_head.weight.detach()[self.ids]
        self._norm = module.model.norm

    @torch.no_grad()
    def probs(self, states: Tensor) -> Tensor:
        """Of the next token, float32 [positions, tokens], as if there were no other tokens. states:
        [positions, width], the last layer's."""
        return linear(self.read(states), self.rows).float().softmax(-1)

    @torch.no_grad()
    def read(self, states: Tensor) -> Tensor:
        """What the target's head reads."""
        read: Tensor = self._norm(states)
        return read


class Student(ABC):
    """Attributes: `method` (the drafter it is for), `levels` (layers of the target whose outputs it is shown,
    the last layer at the end), `module` (what is learned, in float32)."""

    method: str
    levels: tuple[int, ...]
    module: nn.Module

    @abstractmethod
    def losses(self, batch: Batch, generator: torch.Generator) -> Tensor:
        """How far it is from the target, one number for each token it looks ahead, the nearest first:
        cross-entropies in nats. generator: on the CPU, for what is left to chance."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write it with bfloat16 weights, as `--draft` reads it."""

    @property
    def parameters(self) -> int:
        return sum(weight.numel() for weight in self.module.parameters())


def distance(logits: Tensor, probs: Tensor) -> Tensor:
    """Mean cross-entropy; both [positions, tokens]. Without positions there is nothing to learn: 0."""
    return cross_entropy(logits.float(), probs) if len(logits) else logits.sum()


def stored(module: nn.Module, prefix: str = "") -> dict[str, Tensor]:
    """A module's weights as they are written to a file."""
    return {
        f"{prefix}{name}": weight.detach().cpu().bfloat16() for name, weight in module.state_dict().items()
    }
