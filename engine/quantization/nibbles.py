"""Unpacks numbers of four bits whose scales are apart; `engine.formats.nibbles` says how they are stored."""

import numpy as np
import torch
from torch import Tensor

from engine.formats import NibbleFormat
from engine.formats.jit import kernel, spread, store
from engine.quantization.parts import TensorParts

_PIECE = 1 << 17  # numbers that a thread unpacks at a time


@kernel
def _unpack(data, scales, levels, group, out):  # type: ignore[no-untyped-def]
    """Unpack whole rows.

    data: uint8 [rows, columns / 2]. scales: float32 [rows, groups]. levels: float32 [16]. group: columns that
    share a scale. out: [rows * columns], float32, or uint16 for bfloat16.
    """
    rows, columns = len(data), 2 * data.shape[1]
    values = np.empty(group, np.float32)
    for row in range(rows):
        for at in range(columns // group):
            scale, stored = scales[row, at], data[row, at * group // 2 : (at + 1) * group // 2]
            for i in range(group // 2):
                values[2 * i] = scale * levels[stored[i] & 15]
                values[2 * i + 1] = scale * levels[stored[i] >> 4]
            store(values, out, row * columns + at * group)


def prepare_kernel(form: NibbleFormat, out: np.ndarray) -> None:
    """Make the kernel that unpacks to arrays like `out`, which is empty, ready."""
    empty = np.empty((0, 0), np.float32)
    _unpack(np.empty((0, 0), np.uint8), empty, np.array(form.levels, np.float32), form.group, out)


def unpack(
    form: NibbleFormat, parts: TensorParts, shape: tuple[int, int], first: int, count: int, out: Tensor
) -> Tensor:
    """See `engine.quantization.operations.unpack`."""
    rows, columns = shape
    data = parts[0].view(rows, columns // 2)[first : first + count]
    stored = parts[1].view(rows, -1)[first : first + count]
    place = out.view(-1)[: count * columns].view(count, columns)
    if out.is_cpu:
        scales = form.scales([data.numpy(), stored.numpy()])
        _unpack_on_cpu(form, data, scales, place)
        return place
    levels = torch.tensor(form.levels, device=out.device)
    quants = torch.stack([data & 15, data >> 4], dim=2).view(count, -1, form.group)
    scales = torch.ldexp(torch.ones((), device=out.device), stored.int() - 127)
    place.copy_((levels[quants.int()] * scales[:, :, None]).view(count, columns))
    return place


def _unpack_on_cpu(form: NibbleFormat, data: Tensor, scales: np.ndarray, place: Tensor) -> None:
    stored, levels = data.numpy(), np.array(form.levels, np.float32)

    def work(start: int, stop: int) -> None:
        rows = place[start:stop]
        # float16 has no kernel: round float32 numbers while they are in the processor's cache.
        wide = torch.empty(rows.shape) if rows.dtype == torch.float16 else rows
        target = (wide.view(torch.uint16) if wide.dtype == torch.bfloat16 else wide).view(-1).numpy()
        _unpack(stored[start:stop], scales[start:stop], levels, form.group, target)
        if wide is not rows:
            rows.copy_(wide)

    spread(len(stored), work, max(1, _PIECE // place.shape[1]))
