"""The paths of a pass's rows, as recurrent layers need them: which rows are a row's ancestors, and where the
inputs of its convolution lie."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from engine.torch_model.states import SavedStates


@dataclass(frozen=True, slots=True)
class RowPaths:
    """The paths of one pass. All start at the base's state, see `engine.torch_model.states.Tail`.

    count: number of rows. windows: the row behind each window, the last one `count`; a tree is one window.
    saved: what takes the states behind some of them. tree: None for plain text, or else which rows of the
    tail and the pass each row sees, itself included, bool [rows, tail + rows], and the number of these rows'
    ancestors behind the base, int64 [tail + rows].
    """

    count: int
    windows: tuple[int, ...]
    device: torch.device
    saved: Mapping[int, SavedStates] = field(default_factory=dict)
    tree: tuple[Tensor, Tensor] | None = None
    _sources: dict[int, Tensor] = field(default_factory=dict)

    def seen(self, start: int, stop: int) -> Tensor:
        """Return which rows of the tail and the window each row of the window start..stop sees."""
        if self.tree is not None:
            return self.tree[0]
        return torch.ones(stop - start, stop - start, dtype=torch.bool, device=self.device).tril_()

    def sources(self, kernel: int) -> Tensor:
        """Return where each row's last `kernel` inputs lie, the row's own first: int64 [kernel, rows]. They
        count from the oldest of the base's `kernel - 1` inputs."""
        if kernel not in self._sources:
            self._sources[kernel] = self._found(kernel)
        return self._sources[kernel]

    def _found(self, kernel: int) -> Tensor:
        back = torch.arange(kernel, device=self.device)[:, None]
        if self.tree is None:
            return kernel - 1 + torch.arange(self.count, device=self.device) - back
        seen, depths = self.tree
        wanted = depths[-self.count :] - back  # [kernel, rows]
        # The ancestor of this depth, of which a path has one; below 0, it is committed.
        place = (seen & (depths == wanted.unsqueeze(2))).to(torch.uint8).argmax(dim=2)
        return kernel - 1 + torch.where(wanted < 0, wanted, place)
