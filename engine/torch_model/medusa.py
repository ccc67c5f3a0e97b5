"""Medusa heads (arXiv 2401.10774): from one state of the target, every head guesses one token further ahead.

Head k consists of blocks that compute x + SiLU(W x + b), followed by an output layer, its own or the
target's, that computes logits. From the state at a token it guesses the token k + 2 positions later, while
the target's own head guesses the next token (section 2.1.1).
"""

import torch
from torch import Tensor, nn

from engine.arrays import Array
from engine.checkpoints.safetensors import DAMAGED
from engine.errors import BadCheckpoint, VocabularyMismatch
from engine.heads.files import HeadsFile
from engine.heads.interface import MedusaHeads
from engine.model.interface import Model
from engine.torch_model.module_weights import count_of, fill, nbytes_of
from engine.torch_model.tensor_target import TensorTarget


class ResBlock(nn.Module):
    """A block that computes x + SiLU(W x + b)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        return x + nn.functional.silu(self.linear(x))


class TorchMedusaHeads(MedusaHeads):
    """Medusa heads that torch runs."""

    def __init__(self, file: HeadsFile, target: Model) -> None:
        """Raises BadCheckpoint or VocabularyMismatch if the heads do not fit the target."""
        blocks = _count(file, "medusa_num_layers")
        # Some files contain more heads than their config.json says.
        heads = max(_count(file, "medusa_num_heads"), len({name.split(".")[0] for name in file.tensors}))
        if heads * blocks > len(file.tensors):
            raise BadCheckpoint(
                f"{file.path.name} claims {heads} heads of {blocks} blocks, but contains {len(file.tensors)} "
                "tensors.",
                DAMAGED,
            )
        self._target = of = TensorTarget(target)
        width = target.width
        logits = file.tensors.get(f"0.{blocks}.weight")  # newer files rely on the target's output head
        rows = logits.shape[0] if logits and logits.shape else target.vocabulary
        if rows < target.vocabulary:
            raise VocabularyMismatch(
                f"The heads have {rows:,} tokens, the target has {target.vocabulary:,}.",
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
        fill(self._heads, file, of.products, of.device)
        self._own_logits = logits is not None
        if not self._own_logits:
            of.keep_head()
        self._vocabulary = target.vocabulary
        self.layers = heads
        self.hidden_layers = (target.layers,)
        self.parameters = count_of(self._heads)
        self.nbytes = nbytes_of(self._heads) + of.nbytes

    @torch.inference_mode()
    def logits(self, state: Array) -> Tensor:
        tensor = self._target.tensor(state)
        outputs = torch.stack([head(tensor) for head in self._heads])
        return outputs[:, : self._vocabulary] if self._own_logits else self._target.logits(outputs)


def _count(file: HeadsFile, key: str) -> int:
    count = file.config.get(key, 1)
    if type(count) is not int or not 1 <= count <= len(file.tensors):
        raise BadCheckpoint(
            f"{file.path.name} claims {key} {str(count)[:40]}, but contains {len(file.tensors)} tensors.",
            DAMAGED,
        )
    return count
