"""The interface of a causal language model: what sequences, drafters and heads may ask of it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from transformers.configuration_utils import PretrainedConfig

from engine.model.kv_cache import KVCache
from engine.model.rows import Output, Rows
from engine.quantization import Mover

# Called before each chunk of a pass with (chunks done, chunks in total); ends the pass by raising.
Progress = Callable[[int, int], None]


def no_progress(done: int, total: int) -> None:
    """A `Progress` that ignores its calls."""


class Model(ABC):
    """A causal language model on its compute device.

    Attributes: `config`, from transformers; `vocabulary`, the number of tokens that have logits; `layers`,
    the number of layers; `dtype` and `device`, those of states and logits; `packed`, whether matrices are
    kept at their packed size; `mover`, which streams weights, or None.
    """

    config: PretrainedConfig
    vocabulary: int
    layers: int
    dtype: torch.dtype
    device: torch.device
    packed: bool
    mover: Mover | None

    @property
    def arithmetic(self) -> str:
        """The name of the arithmetic of products. Equal names and equal rows give equal bits."""
        return str(self.dtype).removeprefix("torch.")

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Bytes of weights on the device, including memory to unpack them."""

    @property
    def moved(self) -> int:
        """Bytes of weights streamed so far."""
        return self.mover.moved if self.mover else 0

    @property
    def waited_s(self) -> float:
        """Seconds that passes have waited for streamed weights so far."""
        return self.mover.waited_s if self.mover else 0.0

    def close(self) -> None:
        """Stop streaming. The model cannot be used afterwards."""
        if self.mover:
            self.mover.close()

    @abstractmethod
    def new_cache(self, capacity: int) -> KVCache:
        """Return an empty cache for `capacity` tokens."""

    @abstractmethod
    def embed(self, tokens: Tensor) -> Tensor:
        """Return the embeddings [tokens, width] of int64 [tokens]."""

    @abstractmethod
    def output_head(self) -> "OutputHead":
        """Return the output head, for states that are not the model's own."""

    @abstractmethod
    def forward(
        self,
        rows: Rows,
        cache: KVCache,
        tail_positions: Tensor | None = None,
        logits_for: slice = slice(None),
        hidden_layers: Sequence[int] = (),
        progress: Progress = no_progress,
    ) -> Output:
        """Run one pass over `rows`; their keys and values join the cache's tail.

        tail_positions: int64 [tail], positions of the rows already in the tail (needed for sliding windows).
        logits_for: rows that get logits. hidden_layers: layers whose outputs are returned, for all rows; the
        number `layers` itself stands for the input of the output head, which is the state after the final
        norm. The logits are valid until the next pass.

        A pass that `progress` ends leaves the cache unchanged.
        """


class OutputHead(ABC):
    """A model's output head. Attribute: `nbytes`, the memory that it takes in addition to the model's."""

    nbytes: int

    @abstractmethod
    def __call__(self, states: Tensor) -> Tensor:
        """Return the logits [rows, vocabulary] for states [rows, width], to which the final norm was
        applied. They are valid until the next call."""
