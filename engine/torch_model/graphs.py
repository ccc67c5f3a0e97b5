"""CUDA graphs for small passes: recorded once and replayed, so that kernels are not launched one by one.

A recording repeats the same kernels on the same addresses. So rows are padded to a few sizes, keys are read
in buckets, and data that changes from pass to pass lies in fixed buffers that the host fills. Independent of
layers and weights: the caller supplies the function that runs a pass.
"""

import logging
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine import firsts, ways
from engine.errors import exhausted_tier
from engine.model.rows import Output, Rows
from engine.planner.run_rows import RECORDED, SEEN_KEYS
from engine.quantization import Workspace
from engine.torch_model.tensor_cache import AddressedCache, AddressedSlots, TensorCache
from engine.torch_model.visibility import TensorRows, Visibility

_log = logging.getLogger(__name__)

# Numbers of rows to which passes are padded. Larger products are bound by arithmetic, not by kernel launches.
ROWS = RECORDED
# Number of keys in the smallest bucket. Every further bucket is twice as large, the last as large as the
# cache.
KEYS = SEEN_KEYS
# Passes over so many keys are recorded beforehand: chats begin with them, and every recording takes memory.
# Those over more are recorded between answers, twice as many keys each time (`Graphs.record_ahead`).
RECORDED_KEYS = 4 * KEYS

# A pass over all rows; the last argument is `hidden_layers`.
Run = Callable[[TensorRows, Visibility, AddressedCache, Sequence[int]], Output]
# Records a function. Returns another one, which repeats the same kernels on the same buffers, and the output,
# which every repetition overwrites.
Recorder = Callable[[Callable[[], Output]], tuple[Callable[[], None], Output]]


class Places:
    """The buffers of a recorded pass that say where its rows are in a cache, and what they see there.

    Attributes: `slots`, the cache slots to which the rows are written, int64 [size]; `seen`, which of the
    first `keys` slots each row sees, bool [size, keys]; `key_positions`, the position of the token in each of
    these, int64 [keys].
    """

    def __init__(self, size: int, keys: int, device: torch.device) -> None:
        self._numbers = torch.zeros(size + keys, dtype=torch.int64, device=device)
        self.slots, self.key_positions = self._numbers[:size], self._numbers[size:]
        self.seen = torch.zeros(size, keys, dtype=torch.bool, device=device)

    def rest(self, spare: int) -> None:
        """Make all rows padding: they see the first slot alone and are written to the slot `spare`."""
        self.slots.fill_(spare)
        self.seen[:, 0] = True

    def fill(
        self, rows: TensorRows, cache: TensorCache, dropped: int, tail_positions: NDArray[np.int64]
    ) -> None:
        """Copy where the rows of the next pass are into the buffers. Rows of padding are written to the spare
        slot, which is never read, and see what the last row sees. dropped: the position in slot 0."""
        size, keys = self.seen.shape
        count, start = len(rows), cache.length + cache.tail
        stop = start + count
        slots = torch.arange(start, start + size)
        slots[count:] = cache.capacity
        key_positions = torch.arange(dropped, dropped + keys)
        key_positions[cache.length : cache.length + len(tail_positions)] = torch.from_numpy(tail_positions)
        key_positions[start:stop] = rows.positions
        seen = torch.zeros(size, keys, dtype=torch.bool)
        seen[:, : cache.length] = True
        seen[:count, cache.length : stop] = rows.among(0, count)
        seen[count:] = seen[count - 1]
        _copy(torch.cat([slots, key_positions]), self._numbers)
        _copy(seen, self.seen)


class Inputs:
    """The buffers that a recorded pass reads, on `device`.

    Attributes: `tokens` and `positions` of the rows, int64 [size]; `places`, one for each part of the cache
    (`TensorCache.parts`).
    """

    def __init__(self, size: int, keys: Sequence[int], device: torch.device) -> None:
        """keys: how many slots the rows can see in each part."""
        self._numbers = torch.zeros(2, size, dtype=torch.int64, device=device)
        self.tokens, self.positions = self._numbers
        self.places = [Places(size, each, device) for each in keys]

    def fill(self, rows: TensorRows, cache: TensorCache, tail_positions: NDArray[np.int64]) -> None:
        """Copy the rows of the next pass, which are on the CPU, into the buffers. Rows of padding repeat the
        last row."""
        padding = len(self.tokens) - len(rows)
        padded = [torch.cat([each, each[-1:].expand(padding)]) for each in (rows.tokens, rows.positions)]
        _copy(torch.stack(padded), self._numbers)
        for place, part in zip(self.places, cache.parts, strict=True):
            place.fill(rows, part, 0 if part is cache else cache.dropped, tail_positions)

    def rest(self, cache: TensorCache) -> None:
        """Make all rows padding, as `Places.rest`."""
        for place, part in zip(self.places, cache.parts, strict=True):
            place.rest(part.capacity)

    @property
    def rows(self) -> TensorRows:
        """The rows; `visible` is for the first part of the cache."""
        return TensorRows(self.tokens, self.positions, self.places[0].seen)

    def visibility(self) -> Visibility:
        """Return what the rows see."""
        # All slots count as tail, so that masks do not depend on the number of committed slots.
        every, *others = (
            Visibility(
                TensorRows(self.tokens, self.positions, place.seen), sys.maxsize, 0, place.key_positions
            )
            for place in self.places
        )
        every.narrow = others[0] if others else None
        return every

    def addressed(self, cache: TensorCache) -> AddressedCache:
        """Return the cache as the pass sees it."""
        layers: dict[int, AddressedSlots] = {}
        for place, part in zip(self.places, cache.parts, strict=True):
            layers |= part.addressed(place.slots, len(place.key_positions))
        return AddressedCache(layers)


def _copy(values: Tensor, buffer: Tensor) -> None:
    """Copy values on the host to a buffer. The host does not wait for a copy from pinned memory, which torch
    reuses only after the copy."""
    buffer.copy_(values if buffer.is_cpu else values.pin_memory(), non_blocking=True)


@dataclass(frozen=True, slots=True)
class Recording:
    """One recorded pass. workspaces: the memory into which it unpacks packed weights. The model may allocate
    larger workspaces later; this pass keeps using its own."""

    inputs: Inputs
    replay: Callable[[], None]
    output: Output
    workspaces: list[Tensor]


class Graphs:
    """The recorded passes of one model whose weights are all on its device. Attribute: `works`, whether they
    can be recorded and replayed, as far as is known."""

    def __init__(self, record: Recorder, workspaces: Sequence[Workspace]) -> None:
        """record: records a pass. workspaces: those into which the model's packed weights are unpacked."""
        self._record = record
        self._workspaces = workspaces
        # Cache -> (rows, keys in each part, hidden layers) -> recording. A recording works only with its own
        # cache, because it contains the cache's address. None: a pass found no memory for it.
        self._recordings: WeakKeyDictionary[
            TensorCache, dict[tuple[int, tuple[int, ...], tuple[int, ...]], Recording | None]
        ] = WeakKeyDictionary()
        # What recordings share, [ROWS[-1], vocabulary]. Each replay overwrites it, and only one is replayed
        # at a time. With those of their own, the recordings made beforehand would hold five times as many.
        self._logits: Tensor | None = None
        self.works = ways.taken("graphs") == "replay"

    def forward(
        self,
        rows: Rows,
        cache: TensorCache,
        tail_positions: NDArray[np.int64],
        logits_for: slice,
        hidden_layers: Sequence[int],
        run: Run,
    ) -> Output | None:
        """Run a pass as Model.forward does, but do not extend the cache's tail. Returns None if there are too
        many rows, the device cannot record, or there was no memory to record passes of this size."""
        if len(rows) > ROWS[-1]:
            return None
        size = next(size for size in ROWS if size >= len(rows))
        keys = _buckets(cache, len(rows))
        recording = self._attempt(size, keys, cache, hidden_layers, run)
        if recording is None:
            return None
        recording.inputs.fill(TensorRows.of(rows), cache, tail_positions)
        cache.clear_behind(len(rows))
        recording.replay()

        # The next replay overwrites the recording's output.
        hidden = {layer: states[: len(rows)].clone() for layer, states in recording.output.hidden.items()}
        return Output(recording.output.logits[: len(rows)][logits_for].clone(), hidden)

    def record_ahead(self, cache: TensorCache, run: Run, ends: Callable[[], bool]) -> None:
        """Record for the next bucket of keys what was recorded for the one that the next row of a cache
        reads, as long as `ends` returns false. What cannot be recorded is left to the passes."""
        now = _buckets(cache, 1)
        then = tuple(bucket(2 * now[0], part.capacity) for part in cache.parts)
        for (size, keys, hidden_layers), recording in list(self._recordings.get(cache, {}).items()):
            if keys == now and recording is not None and not ends():
                self._attempt(size, then, cache, hidden_layers, run)

    def _attempt(
        self,
        size: int,
        keys: tuple[int, ...],
        cache: TensorCache,
        hidden_layers: Sequence[int],
        run: Run,
    ) -> Recording | None:
        """Return the recording as `record` does, but None where that raises, which is logged."""
        try:
            return self.record(size, keys, cache, hidden_layers, run)
        except RuntimeError as error:
            if exhausted_tier(error):
                _log.warning("No memory to record passes of %d rows, which run slower: %s", size, error)
                self._recordings[cache][size, keys, tuple(hidden_layers)] = None
            else:
                _log.warning("Passes cannot be recorded as CUDA graphs and run slower: %s", error)
            return None

    def record(
        self,
        size: int,
        keys: tuple[int, ...],
        cache: TensorCache,
        hidden_layers: Sequence[int],
        run: Run,
    ) -> Recording | None:
        """Return the recording of passes of `size` rows that read `keys` slots of each part of a cache; it is
        made if there is none. None: there was no memory for it in a pass before, or the device cannot record.
        Raises RuntimeError when one of both turns out."""
        if not self.works:
            return None
        recordings = self._recordings.setdefault(cache, {})
        kind = size, keys, tuple(hidden_layers)
        if kind not in recordings:
            firsts.note()
            try:
                recordings[kind] = self._recorded(size, keys, cache, hidden_layers, run)
            except RuntimeError as error:
                if not exhausted_tier(error):
                    self.works = False
                raise
        return recordings[kind]

    def _recorded(
        self, size: int, keys: Sequence[int], cache: TensorCache, hidden_layers: Sequence[int], run: Run
    ) -> Recording:
        inputs = Inputs(size, keys, cache.device)
        inputs.rest(cache)
        addressed = inputs.addressed(cache)

        def work() -> Output:
            output = run(inputs.rows, inputs.visibility(), addressed, hidden_layers)
            if self._logits is None:  # before the recording, whose memory is the graph's
                self._logits = output.logits.new_empty(ROWS[-1], output.logits.shape[1])
            return replace(output, logits=self._logits[:size].copy_(output.logits))

        replay, output = self._record(work)
        return Recording(inputs, replay, output, [workspace.take(0) for workspace in self._workspaces])


def _buckets(cache: TensorCache, rows: int) -> tuple[int, ...]:
    """Return the number of slots in each part of a cache that its next pass reads, over so many rows."""
    return tuple(bucket(part.length + part.tail + rows, part.capacity) for part in cache.parts)


def bucket(keys: int, capacity: int) -> int:
    """Return the number of slots in the bucket that a pass reads if it needs `keys` slots."""
    size = KEYS
    while size < keys:
        size *= 2
    return min(size, capacity)


def usual_sizes(capacities: Sequence[int]) -> list[tuple[int, tuple[int, ...]]]:
    """Return the (rows, keys in each part) of the passes with which texts begin in a cache whose parts have
    so many slots."""
    buckets = {
        tuple(bucket(keys, capacity) for capacity in capacities)
        for keys in range(KEYS, RECORDED_KEYS + 1, KEYS)
    }
    return [(rows, keys) for keys in sorted(buckets) for rows in ROWS]


class CudaRecorder:
    """The `Recorder` for a CUDA device. All recordings share one memory pool, as only one at a time is
    replayed."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._card = torch.get_device_module(device)  # torch.cuda
        self._stream = self._card.Stream(device)
        self._pool = self._card.graph_pool_handle()

    def __call__(self, work: Callable[[], Output]) -> tuple[Callable[[], None], Output]:
        current = self._card.current_stream(self._device)
        self._stream.wait_stream(current)
        with self._card.stream(self._stream):
            work()  # compiles kernels and allocates workspaces; neither can be recorded
            graph = self._card.CUDAGraph()
            # Other threads keep using the device: one may be streaming another model's weights.
            with self._card.graph(
                graph, pool=self._pool, stream=self._stream, capture_error_mode="thread_local"
            ):
                output = work()
        current.wait_stream(self._stream)
        return graph.replay, output
