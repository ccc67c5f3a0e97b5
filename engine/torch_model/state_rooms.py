"""Savepoints of the states of recurrent layers, in RAM: states take no memory of a card that its layers could
have. The card copies them to RAM and back in the order of its work, so that the host waits for nothing.
"""

import weakref
from collections.abc import Mapping

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.streaming.link import link_to
from engine.torch_model.near_rooms import copyable
from engine.torch_model.states import LayerStateShape, SavedStates


class StateRooms:
    """Rooms for the states of a text, pinned beside a card as far as the system allows. A room whose
    `SavedStates` nobody holds any more is taken again: what the device still has to do with it comes before
    what it is asked to do next."""

    def __init__(
        self, shapes: Mapping[int, LayerStateShape], dtype: torch.dtype, nbytes: int, device: torch.device
    ) -> None:
        """shapes, dtype: as for `SavedStates`. nbytes: of all states."""
        self._states = shapes, dtype
        self._nbytes = nbytes
        self._link = link_to(device)
        self._free: list[Tensor] = []
        if self._link is not None:  # no page may be unlocked while the card copies
            weakref.finalize(self, lambda link: link.wait(link.used()), self._link).atexit = False

    def take(self) -> SavedStates:
        """Return a room, whose numbers are any."""
        room = self._free.pop() if self._free else self._allocated()
        saved = SavedStates(room, *self._states)
        weakref.finalize(saved, self._free.append, room).atexit = False
        return saved

    def within(self, block: NDArray[np.uint8]) -> SavedStates:
        """Return states in memory of the caller's, [bytes of all states], which may be written."""
        return SavedStates(torch.from_numpy(block), *self._states)

    def wait(self) -> None:
        """Return once the device has copied all that it was asked to copy."""
        if self._link is not None:
            self._link.wait(self._link.used())

    def _allocated(self) -> Tensor:
        if self._link is None:
            return torch.empty(self._nbytes, dtype=torch.uint8)
        return torch.from_numpy(copyable(self._link, self._nbytes))
