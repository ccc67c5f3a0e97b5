"""A card for tests that really is another device, of torch's mechanism for devices outside its tree
(PrivateUse1). The processor stands for it, but nothing gets past torch: a tensor on the card has no numbers
that the host can touch, devices do not mix, copies are late, and memory runs out where a test says so.

PyTorch's own example of such a device, torch_openreg, is a C++ extension; this one needs no compiler.
"""

import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

from tests.engine.card.kernels import TYPE, Kernels
from tests.engine.card.memory import Memory
from tests.engine.card.streams import CardEvent, CardGraph, CardStream, Queue
from tests.engine.streaming.pages import is_mapped

DEVICE = torch.device(TYPE, 0)


class Card:
    """What torch.cuda is for CUDA devices: `torch.get_device_module` returns it. A process can have only one,
    and keeps it. Attributes: `memory`, `kernels`, `queue`."""

    def __init__(self) -> None:
        self.memory = Memory()
        self.queue = Queue(self.memory.collect)
        self.kernels = Kernels(self.memory, self.queue)
        _setup_privateuseone_for_python_backend(backend_module=self)
        self._operations = torch.library.Library("_", "IMPL", "PrivateUse1")
        self._operations.fallback(self.kernels.run)
        self._pinning = torch.library.Library("aten", "IMPL", "CPU")
        self._pinning.impl("_pin_memory", self.pin)

    # What torch asks of a module for a device.

    def is_initialized(self) -> bool:
        return True

    def is_available(self) -> bool:
        return True

    def current_device(self) -> int:
        return 0

    def device_count(self) -> int:
        return 1

    def _is_in_bad_fork(self) -> bool:
        return False

    def manual_seed_all(self, seed: int) -> None:
        """Does nothing: no kernel draws numbers."""

    # What the engine asks of torch.cuda.

    def Stream(self, device: Any = None, priority: int = 0) -> CardStream:
        return CardStream(self.queue)

    def stream(self, stream: CardStream) -> Any:
        return self.queue.use(stream)

    def default_stream(self, device: Any = None) -> CardStream:
        return self.queue.default_stream()

    def current_stream(self, device: Any = None) -> CardStream:
        return self.queue.current_stream()

    def Event(self) -> CardEvent:
        return CardEvent(self.queue)

    def CUDAGraph(self) -> CardGraph:
        return CardGraph(self.queue)

    def graph_pool_handle(self) -> None:
        """Every graph has memory of its own."""

    @contextmanager
    def graph(
        self, graph: CardGraph, pool: None, stream: CardStream, capture_error_mode: str
    ) -> Iterator[None]:
        with self.queue.use(stream):
            graph.record(stream)
            try:
                yield
            finally:
                graph.end(stream)

    def mem_get_info(self, device: Any = None) -> tuple[int, int]:
        return self.memory.nbytes - self.memory.used, self.memory.nbytes

    def memory_reserved(self, device: Any = None) -> int:
        return self.memory.used

    def max_memory_allocated(self, device: Any = None) -> int:
        return self.memory.peak

    def reset_peak_memory_stats(self, device: Any = None) -> None:
        self.memory.peak = self.memory.used

    def synchronize(self, device: Any = None) -> None:
        for stream in list(self.queue.streams):
            stream.synchronize()

    # What the driver does.

    def lock(self, address: int, nbytes: int) -> None:
        """Pin memory: see `engine.streaming.pinned.PageLocks`."""
        self.kernels.pinned[address] = nbytes

    def unlock(self, address: int) -> None:
        del self.kernels.pinned[address]
        assert is_mapped(address), "pinned memory is freed before it is unlocked"

    def allocate(self, nbytes: int) -> int:
        raise RuntimeError("this driver has no memory of its own")

    def free(self, address: int) -> None:
        raise AssertionError("nothing was allocated")

    def pin(self, tensor: Tensor, device: Any = None) -> Tensor:
        """Return a copy of a tensor in pinned memory."""
        copy = tensor.clone()
        self.lock(copy.data_ptr(), copy.nbytes)
        weakref.finalize(copy, self.unlock, copy.data_ptr()).atexit = False
        return copy


CARD = Card()
