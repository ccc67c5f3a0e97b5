"""Arrays of numpy and of torch: one text for both, in terms of the array API standard, and the few operations
that the standard lacks.

Passes on the processor give numpy arrays, those on a graphics card tensors there. torch is never imported
here: whoever has a tensor has imported it.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

Array = Any  # a numpy array or a tensor


def namespace(array: Array) -> Any:
    """Return the functions of the array API standard for `array`."""
    return np if isinstance(array, np.ndarray) else array_namespace(array)


def on_host(array: Array) -> NDArray[Any]:
    """Return `array` as a numpy array; bfloat16 becomes float32."""
    if isinstance(array, np.ndarray):
        return array
    host = array.cpu()
    return np.asarray(host.float() if str(host.dtype) == "torch.bfloat16" else host)


def like(array: Array, values: NDArray[Any] | Sequence[int] | Sequence[float]) -> Array:
    """Return `values` as an array of the same library, on the same device, as `array`."""
    values = np.asarray(values)
    return values if isinstance(array, np.ndarray) else namespace(array).asarray(values, device=array.device)


def as_float(array: Array, double: bool = False) -> Array:
    """Return the numbers as float32, or as float64 if `double` is set."""
    xp = namespace(array)
    return xp.astype(array, xp.float64 if double else xp.float32, copy=False)


def is_on_card(array: Array) -> bool:
    return not isinstance(array, np.ndarray) and not array.is_cpu


def top(values: Array, count: int) -> tuple[Array, Array]:
    """Return the `count` largest values of each row [rows, columns], largest first, and their columns, both
    [rows, count]."""
    if not isinstance(values, np.ndarray):
        best = values.topk(count)
        return best.values, best.indices
    if not count:
        return values[:, :0], np.empty((len(values), 0), np.int64)
    kept = values.shape[-1] - count
    columns = np.argpartition(values, kept, axis=-1)[:, kept:] if kept else np.arange(count)[None]
    columns = np.sort(np.broadcast_to(columns, (len(values), count)), axis=-1)  # equal values: lowest first
    order = np.argsort(-np.take_along_axis(values, columns, -1), axis=-1, kind="stable")
    columns = np.take_along_axis(columns, order, -1)
    return np.take_along_axis(values, columns, -1), columns


def masked(values: Array, allowed: NDArray[np.bool_]) -> Array:
    """Return the values as float32, with -inf where `allowed`, of the same shape, is not set."""
    return namespace(values).where(like(values, allowed), as_float(values), -math.inf)


def log_sum_exp(values: Array) -> Array:
    """Return log(sum(exp(values))) of each row [rows, columns], as [rows, 1]."""
    xp = namespace(values)
    largest = xp.max(values, axis=-1, keepdims=True)
    return largest + xp.log(xp.sum(xp.exp(values - largest), axis=-1, keepdims=True))


def log_softmax(values: Array) -> Array:
    """Return the logarithms of the softmax of each row [rows, columns]."""
    return values - log_sum_exp(values)
