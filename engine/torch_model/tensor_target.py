"""A target as heads that torch runs see it: its states, embedding and output head as tensors."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.arrays import Array
from engine.model.interface import Model
from engine.torch_model.forward import TorchModel


class TensorTarget:
    """A target whose arrays become tensors. Attributes: `dtype` and `device` of its states; `products`, the
    dtype of its weights as they are multiplied; `nbytes`, the memory that its output head takes in addition
    to the model's, once `keep_head` was called."""

    def __init__(self, target: Model) -> None:
        self.dtype = self.products = torch.float32
        if isinstance(target, TorchModel):
            self.dtype, self.products = target.dtype, target.products
        self.device = target.device
        self.nbytes = 0
        self._target = target

    def embed(self, tokens: NDArray[np.int64]) -> Tensor:
        """Return the embeddings [tokens, width] of int64 [tokens]."""
        return self.tensor(self._target.embed(tokens))

    def keep_head(self) -> None:
        """Keep the output head in memory for `logits`."""
        self._head = self._target.output_head()
        self.nbytes = self._head.nbytes

    def logits(self, states: Tensor) -> Tensor:
        """Return the logits [rows, vocabulary] for states [rows, width]."""
        if isinstance(self._target, TorchModel):
            return self.tensor(self._head(states))
        return self.tensor(self._head(states.contiguous().numpy()))

    def tensor(self, array: Array) -> Tensor:
        """Return an array of the target as a tensor."""
        return array if isinstance(array, Tensor) else torch.from_numpy(array)
