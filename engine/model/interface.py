"""The interface of a causal language model: what sequences, drafters and heads may ask of it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Array
from engine.model.kv_cache import KVCache
from engine.model.rows import Output, Rows
from engine.streaming import ExpertCounts, Streamer

Device = Literal["cpu", "cuda"]  # where passes run

# Called before each chunk of a pass with (chunks done, chunks in total); ends the pass by raising.
Progress = Callable[[int, int], None]


def no_progress(done: int, total: int) -> None:
    """A `Progress` that ignores its calls."""


class Yielding(ABC):
    """A `Progress` of a pass that gives way to another one on the same cores. It is called before each layer,
    before the output head, and behind that wherever work is left that takes as long as a layer; each call
    returns once the pass may go on."""

    @abstractmethod
    def __call__(self, done: int, total: int) -> None: ...


class YieldingPiece(Yielding):
    """The progress of one of several passes that together give way to another one."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def __call__(self, done: int, total: int) -> None:
        self._progress(done, total)


def of_piece(progress: Progress, number: int, pieces: int) -> Progress:
    """Return the progress of a pass that is one of `pieces` passes. It gives way if `progress` does."""

    def report(done: int, total: int) -> None:
        progress(number * total + done, pieces * total)

    return YieldingPiece(report) if isinstance(progress, Yielding) else report


@dataclass(frozen=True, slots=True)
class RowLayer:
    """A layer with rows of its own. number: by which the model's caches know it. kv_heads, width: of a
    row."""

    number: int
    kv_heads: int
    width: int


class Model(ABC):
    """A causal language model on its compute device.

    Attributes: `vocabulary`, the number of tokens that have logits; `layers`, the number of layers; `width`,
    numbers in a state between layers; `device`, where passes run; `packed`, whether matrices are kept at
    their packed size; `streamer`, which streams weights, or None; `prompt_rows`, the number of rows of plain
    text that a pass has room for; None: any; `tree_rows`, the number of rows up to which passes round alike;
    None: any; `rounds_alike`, whether the bits of a row depend on nothing but what the row sees: neither on
    the number of rows in its pass nor on their order.

    States and logits are arrays of the model: tensors, or numpy's arrays if it runs compiled passes.
    """

    vocabulary: int
    layers: int
    width: int
    device: Device
    packed: bool
    streamer: Streamer | None
    prompt_rows: int | None = None
    tree_rows: int | None = None
    rounds_alike = False

    @property
    @abstractmethod
    def arithmetic(self) -> str:
        """The name of the arithmetic of products. Equal names and equal rows give equal bits."""

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Bytes of weights on the device, including memory to unpack them."""

    @property
    def last_rows(self) -> Mapping[str, RowLayer]:
        """The last layer with rows of its own of each type, full attention or one with a window, by the names
        in `engine.model.rope_parameters`. Only models whose layers have such types have any."""
        return {}

    @property
    def moved(self) -> int:
        """Bytes of weights streamed so far."""
        return self.streamer.moved if self.streamer else 0

    @property
    def experts(self) -> ExpertCounts | None:
        """Counts of the cache of experts so far; None if there is none."""
        return self.streamer.experts if self.streamer else None

    @property
    def waited_s(self) -> float:
        """Seconds that passes have waited for streamed weights so far."""
        return self.streamer.waited_s if self.streamer else 0.0

    def kept(self, row: int) -> None:
        """Note that the text goes on behind this row of the last pass."""
        if self.streamer:
            self.streamer.kept(row)

    def remember(self) -> None:
        """Keep on the disk what the passes have taught about the routing."""
        if self.streamer:
            self.streamer.remember()

    def close(self) -> None:
        """Stop streaming. The model cannot be used afterwards."""
        if self.streamer:
            self.streamer.close()

    @property
    def runs_apart(self) -> bool:
        """Whether `apart` lets passes of other models run beside this one's."""
        return True

    def apart(self) -> AbstractContextManager[None]:
        """Return a context for passes beside which another thread runs passes of other models. They go before
        those, where the device decides. When it ends, so have they, and what they leave is there for every
        thread."""
        return nullcontext()

    @abstractmethod
    def new_cache(self, capacity: int) -> KVCache:
        """Return an empty cache for `capacity` tokens, with rows of all of them in every layer."""

    def text_cache(self, capacity: int) -> KVCache:
        """Return an empty cache for a text of up to `capacity` tokens that is read in pieces of its
        `pass_rows`. Layers with a window may keep only the rows that later tokens see."""
        return self.new_cache(capacity)

    @abstractmethod
    def embed(self, tokens: NDArray[np.int64]) -> Array:
        """Return the embeddings [tokens, width] of int64 [tokens]."""

    @abstractmethod
    def output_head(self) -> "OutputHead":
        """Return the output head, for states that are not the model's own."""

    @property
    def late_head(self) -> "OutputHead | None":
        """The output head for rows of a pass whose logits it did not compute, with the same bits; None if
        logits are to be computed in the pass."""
        return None

    @abstractmethod
    def forward(
        self,
        rows: Rows,
        cache: KVCache,
        tail_positions: NDArray[np.int64] | None = None,
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
    def __call__(self, states: Array) -> Array:
        """Return the logits [rows, vocabulary] for states [rows, width], to which the final norm was
        applied. They are valid until the next call."""
