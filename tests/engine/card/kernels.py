"""Every operation of torch on the card for tests: the processor computes it, later, on what the card
stores."""

from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import Tensor

from tests.engine.card.memory import Memory
from tests.engine.card.streams import CardStream, Queue

TYPE = "privateuseone"  # what torch calls the one device outside its tree, if it has no name of its own
_PROCESSOR = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)
# Whose indices may be on the processor, as with CUDA.
_INDEXING = ("aten::index", "aten::index_put_", "aten::_index_put_impl_")


class Kernels:
    """The kernels of one card.

    Attributes: `memory`, `queue`, those of the card; `pinned`, the bytes at each address that the card reads
    and writes while the host goes on; `waits`, how often the host has waited for numbers of the card.
    """

    def __init__(self, memory: Memory, queue: Queue) -> None:
        self.memory = memory
        self.queue = queue
        self.pinned: dict[int, int] = {}
        self.waits = 0

    def run(self, op: Any, *args: Any, **kwargs: Any) -> Any:
        """Compute any operation that torch has no code for on the card."""
        name: str = op._schema.name
        if name in ("aten::empty", "aten::empty_strided"):
            return self._like(op(*args, **{**kwargs, "device": "meta", "pin_memory": None}))
        if name == "aten::_copy_from":
            return self._copy(*args, **kwargs)
        written = _written(op)
        if written is None:  # a view: it looks at no number
            return op.redispatch(_PROCESSOR, *args, **kwargs)
        return self._compute(op, written, args, kwargs)

    def _compute(self, op: Any, written: tuple[int | str, ...], args: Any, kwargs: Any) -> Any:
        """Compute an operation with numbers. written: the arguments that it writes."""
        if any(isinstance(key, str) and not kwargs[key].numel() for key in written):
            self._enlarge(op, written, args, kwargs)
        own = _changed((_numbers_as_tensors(op, args), kwargs), lambda tensor: self._argument(op, tensor))

        def work() -> Any:
            return op(*own[0], **own[1])

        stream = self.queue.current_stream()
        if written:
            places = [own[0][key] if isinstance(key, int) else own[1][key] for key in written]

            def write() -> None:
                before = [place.data_ptr() for place in places]
                work()
                assert [place.data_ptr() for place in places] == before, f"{op} moves its output"

            self.queue.ask(stream, write)
            outputs = [args[key] if isinstance(key, int) else kwargs[key] for key in written]
            returned = len(op._schema.returns)
            return None if not returned else outputs[0] if returned == 1 else tuple(outputs)
        shapes = None if _depends_on_data(op) else self._shapes(op, args, kwargs)
        if shapes is None:  # the host waits for the card
            self._wait(stream, str(op))
            return _changed(work(), self._new_from)
        outputs = _changed(shapes, self._like)

        def fill() -> None:
            for place, result in zip(_tensors(contents), _tensors(work()), strict=True):
                place.copy_(result)

        contents = _changed(outputs, self.memory.content)
        self.queue.ask(stream, fill)
        return outputs

    def _enlarge(self, op: Any, written: tuple[int | str, ...], args: Any, kwargs: Any) -> None:
        """Give outputs that the caller has left empty the memory that they need."""
        shapes = _tensors(self._shapes(op, args, kwargs))
        for key, shape in zip(written, shapes, strict=True):
            new = self._like(shape)
            place = new.untyped_storage(), 0, new.size(), new.stride()
            torch.ops.aten.set_.source_Storage_storage_offset.redispatch(_PROCESSOR, kwargs[key], *place)

    def _argument(self, op: Any, tensor: Tensor) -> Tensor:
        """Return what the processor computes with in place of an argument."""
        if _on_card(tensor):
            return self.memory.content(tensor)
        if tensor.dim() and op._schema.name not in _INDEXING:
            raise RuntimeError(
                f"Expected all tensors to be on the same device, but found at least two devices, {TYPE}:0 "
                f"and {tensor.device}! (in {op})"
            )
        return tensor.clone()  # passed by value

    @staticmethod
    def _shapes(op: Any, args: Any, kwargs: Any) -> Any:
        """Return the outputs as tensors without numbers; None if torch does not know them beforehand."""

        def empty(tensor: Tensor) -> Tensor:
            return torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype, device="meta")

        positional, named = _changed((args, kwargs), empty)
        if "device" in named:
            named["device"] = "meta"
        try:
            return op(*positional, **named)
        except NotImplementedError:
            return None

    def _wait(self, stream: CardStream, what: str) -> None:
        """Let the host wait for numbers."""
        stream.refuse_recording(what)
        self.waits += 1
        stream.synchronize()

    def _like(self, shape: Tensor) -> Tensor:
        stream = self.queue.current_stream()
        return self.memory.tensor(shape.shape, shape.stride(), shape.dtype, (stream.graph or stream).freed)

    def _new_from(self, numbers: Tensor) -> Tensor:
        output = self._like(numbers)
        self.memory.content(output).copy_(numbers)
        return output

    def _copy(self, source: Tensor, target: Tensor, non_blocking: bool = False) -> Tensor:
        """Copy between processor and card, or on the card. If the host goes on meanwhile, the card reads and
        writes pinned memory late; of other memory, the driver reads a copy at once, or waits to write it."""
        stream = self.queue.current_stream()
        read, write = (self.memory.content(t) if _on_card(t) else t for t in (source, target))
        host = [tensor for tensor in (source, target) if not _on_card(tensor)]
        if not host or (non_blocking and self._is_pinned(host[0])):
            self.queue.ask(stream, lambda: write.copy_(read))
        elif _on_card(target):
            stream.refuse_recording("a copy from memory that is not pinned")
            held = read.clone()
            self.queue.ask(stream, lambda: write.copy_(held))
        else:
            self._wait(stream, "a copy to the host")
            target.copy_(read)
        return target

    def _is_pinned(self, tensor: Tensor) -> bool:
        storage = tensor.untyped_storage()
        start, stop = tensor.data_ptr(), storage.data_ptr() + storage.nbytes()
        return any(at <= start and stop <= at + nbytes for at, nbytes in list(self.pinned.items()))


def _on_card(tensor: Tensor) -> bool:
    return tensor.device.type == TYPE


def _tensors(values: Any) -> list[Tensor]:
    if isinstance(values, Tensor):
        return [values]
    values = values if isinstance(values, list | tuple) else []
    return [tensor for value in values for tensor in _tensors(value)]


def _changed(values: Any, change: Callable[[Tensor], Tensor]) -> Any:
    """Return arguments or results with every tensor changed."""
    if isinstance(values, Tensor):
        return change(values)
    if isinstance(values, list | tuple):
        return type(values)([_changed(value, change) for value in values])
    if isinstance(values, dict):
        return {key: _changed(value, change) for key, value in values.items()}
    return values


def _numbers_as_tensors(op: Any, args: Any) -> tuple[Any, ...]:
    """Return arguments with numbers as tensors where an operation takes only these, as torch has them."""
    kinds = {bool: torch.bool, int: torch.int64, float: torch.float64}
    return tuple(
        torch.tensor(value, dtype=kinds[type(value)]) if type(value) in kinds and takes else value
        for value, takes in zip(args, _takes_tensor(op), strict=False)
    )


@cache
def _takes_tensor(op: Any) -> list[bool]:
    return [str(each.type) == "Tensor" for each in op._schema.arguments]


@cache
def _written(op: Any) -> tuple[int | str, ...] | None:
    """Return the arguments that an operation writes, by place or name; None if its result is a view."""
    if any(each.alias_info and not each.alias_info.is_write for each in op._schema.returns):
        return None
    arguments = op._schema.arguments
    return tuple(
        each.name if each.kwarg_only else place
        for place, each in enumerate(arguments)
        if each.alias_info and each.alias_info.is_write
    )


@cache
def _depends_on_data(op: Any) -> bool:
    tags = {torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape}
    return bool(tags & set(op.tags))
