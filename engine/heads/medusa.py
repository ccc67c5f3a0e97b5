"""Medusa's heads (arXiv 2401.10774): each guesses one token further ahead, all from one state of the target.

Head k is blocks x + SiLU(W x + b), then logits; from the state at a token it guesses the token k + 2 places
behind it, where the target's own head gives the next one (section 2.1.1).
"""

import torch
from torch import Tensor, nn

from engine.checkpoints.safetensors import DAMAGED
from engine.errors import BadCheckpoint, VocabularyMismatch
from engine.heads.borrowed import TargetHead, best
from engine.heads.files import HeadsFile, fill
from engine.model import Model


class ResBlock(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        return x + nn.functional.silu(self.linear(x))


class MedusaHeads:
    """Attributes: `method`, the drafter they are for; `hidden_layers`, what they read of the target;
    `layers`, how many heads there are; `parameters`; `nbytes` of their weights."""

    method = "medusa"

    def __init__(self, file: HeadsFile, target: Model) -> None:
        """Raises BadCheckpoint or VocabularyMismatch where they do not fit the target."""
        blocks = _count(file, "medusa_num_layers")
        # Some files hold more heads than their config.json says.
        heads = max(_count(file, "medusa_num_heads"), len({name.split(".")[0] for name in file.tensors}))
        if heads * blocks > len(file.tensors):
            raise BadCheckpoint(
                f"{file.path.name} says {heads} heads of {blocks} blocks, but holds {len(file.tensors)} "
                "tensors.",
                DAMAGED,
            )
        width: int = target.config.hidden_size
        logits = file.tensors.get(f"0.{blocks}.weight")  # newer ones leave these to the target's own head
        rows = logits.shape[0] if logits and logits.shape else target.vocabulary
        if rows < target.vocabulary:
            raise VocabularyMismatch(
                f"The heads have {rows:,} tokens, the target {target.vocabulary:,}.",
                "Choose heads made for this target, or run without them (--draft none).",
            )
        with torch.device("meta"):
            self._heads = nn.ModuleList(
                nn.Sequential(
                    *(ResBlock(width) for _ in range(blocks)),
                    *([nn.Linear(width, rows, bias=False)] if logits else []),
                )
                for _ in range(heads)
            )
        fill(self._heads, file, target.dtype, target.device)
        self._target_head = None if logits else TargetHead(target)
        self._vocabulary = target.vocabulary
        self.layers = heads
        self.hidden_layers = (target.layers,)
        self.parameters = sum(weight.numel() for weight in self._heads.parameters())
        borrowed = self._target_head.nbytes if self._target_head else 0
        self.nbytes = self.parameters * target.dtype.itemsize + borrowed

    @torch.inference_mode()
    def best(self, state: Tensor, count: int) -> tuple[Tensor, Tensor]:
        """From the state [width] at one token, the likeliest tokens each head sees: ids and log-probabilities
        [heads, count]."""
        outputs = torch.stack([head(state) for head in self._heads])
        logits = outputs[:, : self._vocabulary] if self._target_head is None else self._target_head(outputs)
        return best(logits, count)


def _count(file: HeadsFile, key: str) -> int:
    count = file.config.get(key, 1)
    if type(count) is not int or not 1 <= count <= len(file.tensors):
        raise BadCheckpoint(
            f"{file.path.name} says {key} {str(count)[:40]}, but holds {len(file.tensors)} tensors.",
            DAMAGED,
        )
    return count
