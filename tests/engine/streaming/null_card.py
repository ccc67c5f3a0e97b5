"""A card that does nothing: copies, unpacking and products are launched, and dropped. What is left is what
Python does for each piece of a streamed pass. Run as a program, it is timed on the thread that computes:

    python -m tests.engine.streaming.null_card [--target ID]

Its memory is RAM that nobody writes to, and passes have no rows, so that torch's products have nothing to do.
Not in it: what the driver and cuBLAS do for a launch, and the driver for an event.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from statistics import median
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from torch import Tensor
from triton.backends.compiler import GPUTarget
from triton.runtime import driver

from engine import catalog
from engine.bench.simulation.model import catalogued_weights, matrices_of
from engine.checkpoints.cuts import cut_rows, unpacked_rows
from engine.formats import format_named
from engine.model.reader import order_of_use
from engine.planner.tiers import slot_nbytes
from engine.quantization import Packed, Workspace, operations
from engine.quantization import triton as kernels
from engine.streaming import StoredMatrix, Streamer, WeightLimits
from engine.streaming.disk import memory
from engine.streaming.link import CudaLink

CARD = torch.device("cpu")
LIMITS = WeightLimits(1 << 28)


class NullDriver:
    """Triton's driver of such a card. Attribute: `launched`, the code, grid and arguments of each launch."""

    def __init__(self) -> None:
        self.launched: list[tuple[bytes, tuple[int, ...], tuple[Any, ...]]] = []
        self.utils = self

    def get_current_device(self) -> int:
        return -1  # no card's number, so that nothing compiled for a card is mistaken for this

    def get_current_stream(self, device: int) -> int:
        return 0

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("cuda", 89, 32)

    def get_device_properties(self, device: int) -> dict[str, int]:
        return {"max_shared_mem": 99 << 10}

    def load_binary(
        self, name: str, code: bytes, shared: int, device: int
    ) -> tuple[bytes, bytes, int, int, int]:
        return code, code, 0, 0, 1024

    def launcher_cls(self, source: object, metadata: object) -> Callable[..., None]:
        def launch(x: int, y: int, z: int, stream: int, code: bytes, *rest: Any) -> None:
            self.launched.append((code, (x, y, z), rest[4:]))

        return launch


DRIVER = NullDriver()  # the only one, because what Triton has compiled keeps the driver it was compiled for


class NullEvent:
    """What Python does for torch.cuda.Event."""

    def __new__(
        cls, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> "NullEvent":
        return super().__new__(cls)

    def record(self, stream: "NullStream") -> None:
        pass

    def wait(self, stream: "NullStream") -> None:
        pass

    def synchronize(self) -> None:
        pass


class NullStream:
    """What Python does for torch.cuda.Stream."""

    def record_event(self, event: NullEvent | None = None) -> NullEvent:
        if event is None:
            event = NullEvent()
        event.record(self)
        return event

    def wait_event(self, event: NullEvent) -> None:
        event.wait(self)


class NullModule:
    """What torch.cuda is for a card."""

    Event = NullEvent

    def __init__(self) -> None:
        self._computing = NullStream()

    def Stream(self, device: torch.device) -> NullStream:
        return NullStream()

    def current_stream(self, device: torch.device) -> NullStream:
        return self._computing

    def stream(self, stream: NullStream) -> AbstractContextManager[None]:
        return nullcontext()

    def synchronize(self, device: torch.device) -> None:
        pass


class NullLink(CudaLink):
    """The link to a card, whose copies and waits are done at once."""

    def slab(self, nbytes: int) -> np.ndarray:
        return memory(nbytes)

    def copy(self, slot: Tensor, source: np.ndarray, after: Any) -> Any:
        return super().copy(slot, source[:0], after)


class NullFile:
    def read(self, into: memoryview, offset: int, needed: int) -> None:
        pass

    def close(self) -> None:
        pass


@contextmanager
def null_card() -> Iterator[NullDriver]:
    """Let Triton launch on a card that does nothing, and let this program take it for a card."""
    DRIVER.launched.clear()
    with (
        patch.object(driver, "_active", DRIVER),
        patch.object(torch, "get_device_module", lambda device: NullModule()),
        patch.object(kernels, "available", lambda device: True),
        patch.object(operations, "on_card", lambda array: True),
    ):
        yield DRIVER


class NullPass:
    """The matrices of some layers of a model of the catalogue, all streamed but for few.

    Attributes: `pieces`, how many a pass unpacks, and their `nbytes`; `matrices`, in the order of use.
    """

    def __init__(self, target: str, layers: int) -> None:
        variant = catalog.entries()[target]
        model = replace(catalog.catalog().models[variant.model], layers=layers)
        weights = matrices_of(catalogued_weights(model, variant))
        del weights["lm_head.weight"]
        workspace = Workspace(torch.bfloat16, CARD)
        stored: list[StoredMatrix[Packed]] = []
        for name in sorted(weights, key=order_of_use):
            cut = weights[name].cut(slot_nbytes(LIMITS.device_nbytes))
            parts = [
                Packed(format_named(each.format), (each.shape[0], each.shape[1]), (), workspace, each.groups)
                for each in cut
            ]
            stored += [StoredMatrix(part, each.spans) for part, each in zip(parts, cut, strict=True)]
        self.matrices = [each.matrix for each in stored]
        files = {span.file: NullFile() for each in stored for span in each.spans}
        self.streamer = Streamer(stored, LIMITS, files, NullLink(CARD))
        self.streamer.start(lambda done, total: None)
        for each in self.streamer.resident:
            each.matrix.give(
                [torch.empty(span.nbytes, dtype=torch.uint8, device=CARD) for span in each.spans]
            )
        self.nbytes = sum(each.nbytes for each in stored)
        shapes = (each.matrix.shape for each in stored)
        self.pieces = sum(len(cut_rows(rows, unpacked_rows(columns))) for rows, columns in shapes)

    @torch.inference_mode()
    def run(self) -> None:
        for matrix in self.matrices:
            matrix.product(torch.empty(0, matrix.shape[1], dtype=torch.bfloat16, device=CARD))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--target", metavar="ID", default="qwen2.5-72b-awq")
    parser.add_argument("--layers", metavar="N", type=int, default=2)
    parser.add_argument("--passes", metavar="N", type=int, default=20)
    parsed = parser.parse_args()
    with null_card() as card:
        one = NullPass(parsed.target, parsed.layers)
        found = []
        for number in range(parsed.passes + 1):
            card.launched.clear()
            begun = time.thread_time()
            one.run()
            if number:  # the first compiles
                found.append((time.thread_time() - begun) / one.pieces * 1e6)
        one.streamer.close()
    print(
        f"{parsed.target}: {median(found):.1f} µs ({min(found):.1f} to {max(found):.1f}) "
        f"for each of {one.pieces} pieces, {len(card.launched)} launches by Triton"
    )


if __name__ == "__main__":
    main()
