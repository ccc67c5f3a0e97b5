"""The teacher, which computes the target's distributions, and the base class of all students, which learn
them."""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, linear

from engine.torch_model.forward import TorchModel
from engine.training.corpus import Batch


class Teacher:
    """The target's distributions over a training vocabulary.

    `ids`, int64 [tokens]: the vocabulary, ascending. `rows`, [tokens, width]: the rows of the target's head
    for these tokens."""

    def __init__(self, target: TorchModel, ids: Tensor) -> None:
        module: Any = target.module
        self.ids = ids.to(target.device)
        self.rows: Tensor = module.lm_head.weight.detach()[self.ids]
        self._norm = module.model.norm

    @torch.no_grad()
    def probs(self, states: Tensor) -> Tensor:
        """Return the probabilities of the next token, float32 [positions, tokens], normalised over the
        training vocabulary. states: [positions, width], outputs of the last layer."""
        return linear(self.head_input(states), self.rows).float().softmax(-1)

    @torch.no_grad()
    def head_input(self, states: Tensor) -> Tensor:
        """Return the input of the target's head: the states after the final norm."""
        normed: Tensor = self._norm(states)
        return normed


class Student(ABC):
    """A draft or heads in training.

    `method`: name of the drafter that uses it. `levels`: the target's layers whose outputs it learns from,
    ending with the last layer. `module`: the weights being trained, in float32."""

    method: str
    levels: tuple[int, ...]
    module: nn.Module

    @abstractmethod
    def losses(self, batch: Batch, generator: torch.Generator) -> Tensor:
        """Return the mean cross-entropy of the student's guesses with the target's distributions, in nats:
        one for each token ahead, the nearest first. generator: for random choices, on the CPU."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write the student with bfloat16 weights, in a form that `--draft` accepts."""

    @property
    def parameters(self) -> int:
        return sum(weight.numel() for weight in self.module.parameters())


def distance(logits: Tensor, probs: Tensor) -> Tensor:
    """Return the mean cross-entropy of `logits` with `probs`, both [positions, tokens]; 0 if there are no
    positions."""
    return cross_entropy(logits.float(), probs) if len(logits) else logits.sum()


def stored(module: nn.Module, prefix: str = "") -> dict[str, Tensor]:
    """Return a module's weights as they are written to a file: in bfloat16, with `prefix` before their
    names."""
    return {
        f"{prefix}{name}": weight.detach().cpu().bfloat16() for name, weight in module.state_dict().items()
    }
