"""Memory in which what the processor has computed waits to be copied to a card."""

from queue import Empty, SimpleQueue

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.compiled.matrix import aligned
from engine.streaming.device_ring import DeviceLink, Event


class Rooms:
    """Rooms of one size. Several threads may take them, and give them back."""

    def __init__(self, link: DeviceLink, nbytes: int) -> None:
        """nbytes: of each room."""
        self._link = link
        self._nbytes = nbytes
        # Rooms with the event after which they may be written: the end of an output's copy to the card.
        self._rooms: SimpleQueue[tuple[Tensor, Event]] = SimpleQueue()

    def take(self) -> Tensor:
        """Return a room that nobody reads any more, float32."""
        try:
            room, copied = self._rooms.get_nowait()
            self._link.wait(copied)
        except Empty:
            room = torch.from_numpy(copyable(self._link, self._nbytes).view(np.float32))
        return room

    def give_back(self, room: Tensor) -> None:
        """Take a room back, which the work launched so far may still read."""
        self._rooms.put((room, self._link.used()))

    def send(self, room: Tensor, output: Tensor, like: Tensor) -> Tensor:
        """Give a room back, and return the output in it, on the device and with the dtype of `like`."""
        try:
            return output.to(like.device, non_blocking=True).to(like.dtype, copy=like.is_cpu)
        finally:
            self.give_back(room)


def copyable(link: DeviceLink, nbytes: int) -> NDArray[np.uint8]:
    """Return memory from which the link copies without a wait, as far as the system allows."""
    try:
        return link.slab(nbytes)
    except RuntimeError:  # no more memory can be pinned: copies wait, and are as right
        return aligned(nbytes)
