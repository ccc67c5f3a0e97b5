"""Small passes whose kernels are not launched one by one: recorded once, as a CUDA graph, and replayed.

A recording repeats the same kernels on the same addresses. So rows are padded to a few sizes, keys are looked
at in buckets, and whatever changes from pass to pass lies in buffers that stay where they are, filled from
the host. Knows neither layers nor weights: whoever asks says how a pass is run.
"""

import logging
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from engine.kv_cache import AddressedSlots, KVCache
from engine.quantization import Workspace
from engine.rows import Output, Rows, Visibility

_log = logging.getLogger(__name__)

# Rows that passes are padded to. Products with more are bound by arithmetic, not by launching.
ROWS = (1, 4, 16, 32, 64)
# The smallest bucket of keys; each next one is twice as large, the last as large as the cache.
KEYS = 256

# A pass over all rows, with the hidden states of the layers asked for.
Run = Callable[[Rows, Visibility, AddressedSlots, Sequence[int]], Output]
# Does some work once; gives what repeats it on the same buffers, and where its output lies after each time.
Recorder = Callable[[Callable[[], Output]], tuple[Callable[[], None], Output]]


class Inputs:
    """The buffers that a recorded pass reads, on `device`.

    Attributes: `rows`, of `size` rows that see `keys` slots; `slots`, where they are written, int64 [size];
    `key_positions`, int64 [keys].
    """

    def __init__(self, size: int, keys: int, device: torch.device) -> None:
        self._numbers = torch.zeros(3 * size + keys, dtype=torch.int64, device=device)
        self._seen = torch.zeros(size, keys, dtype=torch.bool, device=device)
        place = self._numbers[: 3 * size].view(3, size)
        self.rows = Rows(place[0], place[1], self._seen)
        self.slots = place[2]
        self.key_positions = self._numbers[3 * size :]

    def fill(self, rows: Rows, cache: KVCache, tail_positions: Tensor) -> None:
        """rows, tail_positions: on the CPU. What is padded repeats the last row, and is written where nobody
        looks."""
        size, keys = self._seen.shape
        count, start = len(rows), cache.length + cache.tail
        stop = start + count
        padding = size - count
        slots = torch.arange(start, start + size)
        slots[count:] = cache.capacity
        key_positions = torch.arange(keys)
        key_positions[cache.length : cache.length + len(tail_positions)] = tail_positions
        key_positions[start:stop] = rows.positions
        last = [each[-1:].expand(padding) for each in (rows.tokens, rows.positions)]
        numbers = torch.cat([rows.tokens, last[0], rows.positions, last[1], slots, key_positions])
        seen = torch.zeros(size, keys, dtype=torch.bool)
        seen[:, : cache.length] = True
        seen[:count, cache.length : stop] = rows.among(0, count)
        seen[count:] = seen[count - 1]
        for buffer, values in ((self._numbers, numbers), (self._seen, seen)):
            # From pinned memory the host need not wait; torch lends it to nobody else until it is copied.
            buffer.copy_(values.pin_memory() if buffer.is_cuda else values, non_blocking=True)


@dataclass(frozen=True, slots=True)
class Recording:
    """`rooms`: what packed weights are unpacked into; a model may take larger ones later, this pass not."""

    inputs: Inputs
    replay: Callable[[], None]
    output: Output
    rooms: list[Tensor]


class Graphs:
    """The recorded passes of one model, all of whose weights stay on its device."""

    def __init__(self, record: Recorder, workspaces: Sequence[Workspace]) -> None:
        """workspaces: that the model's packed weights are unpacked into."""
        self._record = record
        self._workspaces = workspaces
        # Of each cache, whose address they know: by rows, keys and hidden layers.
        self._recordings: WeakKeyDictionary[KVCache, dict[tuple[int, int, tuple[int, ...]], Recording]] = (
            WeakKeyDictionary()
        )
        self._works = True

    def forward(
        self,
        rows: Rows,
        cache: KVCache,
        tail_positions: Tensor,
        logits_for: slice,
        hidden_layers: Sequence[int],
        run: Run,
    ) -> Output | None:
        """As Model.forward, but the tail is not extended. None where the rows are too many, or the device
        cannot record."""
        if len(rows) > ROWS[-1] or not self._works:
            return None
        size = next(size for size in ROWS if size >= len(rows))
        keys = bucket(cache.length + cache.tail + len(rows), cache.capacity)
        recordings = self._recordings.setdefault(cache, {})
        recording = recordings.get(kind := (size, keys, tuple(hidden_layers)))
        inputs = recording.inputs if recording else Inputs(size, keys, cache.device)
        host = torch.device("cpu")
        inputs.fill(rows.to(host), cache, tail_positions.to(host))
        cache.clear_behind(len(rows))
        if recording is None:
            try:
                recording = self._recorded(inputs, cache.addressed(inputs.slots, keys), hidden_layers, run)
            except RuntimeError as error:
                _log.warning("Passes cannot be recorded here; each is launched anew, slower: %s", error)
                self._works = False
                return None
            recordings[kind] = recording
        recording.replay()

        # The next replay overwrites it.
        hidden = {layer: states[: len(rows)].clone() for layer, states in recording.output.hidden.items()}
        return Output(recording.output.logits[: len(rows)][logits_for].clone(), hidden)

    def _recorded(
        self, inputs: Inputs, cache: AddressedSlots, hidden_layers: Sequence[int], run: Run
    ) -> Recording:
        def work() -> Output:
            # All slots count as tail, so that no mask hangs on how many are committed.
            visibility = Visibility(inputs.rows, sys.maxsize, 0, inputs.key_positions)
            return run(inputs.rows, visibility, cache, hidden_layers)

        replay, output = self._record(work)
        return Recording(inputs, replay, output, [each.take(0) for each in self._workspaces])


def bucket(keys: int, capacity: int) -> int:
    """How many slots a pass looks at that has to look at `keys`."""
    size = KEYS
    while size < keys:
        size *= 2
    return min(size, capacity)


class CudaRecorder:
    """`Recorder` on a CUDA device. All recordings share one pool of memory: they are replayed one at a
    time."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
        self._pool = torch.cuda.graph_pool_handle()

    def __call__(self, work: Callable[[], Output]) -> tuple[Callable[[], None], Output]:
        current = torch.cuda.current_stream(self._device)
        self._stream.wait_stream(current)
        with torch.cuda.stream(self._stream):
            work()  # compiles kernels, takes workspaces: neither can be recorded
            graph = torch.cuda.CUDAGraph()
            # Other threads go on using the device: one may be streaming another model's weights.
            with torch.cuda.graph(
                graph, pool=self._pool, stream=self._stream, capture_error_mode="thread_local"
            ):
                output = work()
        current.wait_stream(self._stream)
        return graph.replay, output
