"""A card that is the processor: its kernels are plain torch, and each of them can be sabotaged.

Run as a program, it stands for `engine.proof.worker`. Its arguments name what is wrong: a kernel's kind, its
way, and the damage, such as `attention fused hanging`; a kernel that hangs first makes the file that a fourth
argument names.
"""

import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from engine import sampling, ways
from engine.proof import checks, worker
from engine.proof.trial import Trial, TriedWay
from engine.quantization import blocks, halves, operations, triton
from engine.sampling import philox
from engine.torch_model import attention as attention_module
from tests.engine.streaming.fake_link import Event, FakeLink

attention = torch.nn.functional.scaled_dot_product_attention

MOST_ROWS = 64  # as the products that Triton compiles
Damage = Callable[[], object]


class FakeCard:
    """A `TestedCard`. wrong: the kernels and ways whose results are wrong, such as "streams two"."""

    device = torch.device("cpu")
    measures = False

    def __init__(self, *wrong: str) -> None:
        self.wrong = wrong

    def link(self) -> FakeLink:
        ordered = f"streams {ways.taken('streams')}" not in self.wrong
        intact = f"copies {ways.taken('copies')}" not in self.wrong
        return FaultyLink(ordered, intact)

    def recorder(self):
        def record(work):
            output = work()

            def replay() -> None:
                if "graphs replay" not in self.wrong:
                    output.logits.copy_(work().logits)

            return replay, output

        return record

    def launch(self, link, work) -> None:
        link.compute(work)

    def finish(self) -> None:
        pass

    def lanes(self) -> str:
        return "PCIe 4 x16"


class FaultyLink(FakeLink):
    """ordered: whether events make copies and computation wait. intact: whether bytes arrive as they were."""

    def __init__(self, ordered: bool, intact: bool) -> None:
        super().__init__(seed=7)
        self._ordered, self._intact = ordered, intact

    def copy(self, slot, source, after):
        return super().copy(slot, source if self._intact else source[::-1].copy(), self._after(after))

    def compute_after(self, event) -> None:
        super().compute_after(self._after(event))

    def _after(self, event: Event) -> Event:
        if not self._ordered:
            event = Event()
            event.happened = True
        return event


class InProcess:
    """A `Tester` in this process. tested: the trials so far."""

    def __init__(self, card: FakeCard) -> None:
        self.card = card
        self.tested: list[Trial] = []
        self.closed = False

    def test(self, trial: Trial, waiting: Callable[[], object] = lambda: None) -> TriedWay:
        self.tested.append(trial)
        return worker.tried(self.card, trial)

    def close(self) -> None:
        self.closed = True


def with_triton(patch: pytest.MonkeyPatch) -> None:
    """Let plain torch stand for Triton's kernels, and for a card where the processor would unpack."""

    def unpack_blocks(name, data, out):
        form = operations.format_named(name)
        out.copy_(blocks.numbers_of(form, data.view(-1, form.nbytes)).view(out.shape))

    def unpack_grouped(name, parts, shape, first, count, groups, out):
        form = operations.format_named(name)
        out.copy_(sound[type(form)](form, parts, shape, first, count, groups))

    def multiply_blocks(name, data, x, rows):
        if len(x) > MOST_ROWS:
            return None
        out = x.new_empty(rows * x.shape[1])
        unpack_blocks(name, data, out)
        return x @ out.view(rows, -1).t()

    def multiply_grouped(name, parts, groups, x, rows):
        if len(x) > MOST_ROWS:
            return None
        out = x.new_empty(x.shape[1], rows)
        unpack_grouped(name, parts, (rows, x.shape[1]), 0, rows, groups, out)
        return x @ out

    def unpack_apart(name, parts, shape, first, out):
        form = operations.format_named(name)
        out.copy_(sound[type(form)](form, parts, shape, first, len(out)))

    def multiply_apart(name, parts, x, rows):
        if len(x) > MOST_ROWS:
            return None
        out = x.new_empty(rows, x.shape[1])
        unpack_apart(name, parts, out.shape, 0, out)
        return x @ out.t()

    # As they are before any sabotage.
    sound = {kind: module.numbers for kind, module in operations.MODULES.items()}
    patch.setattr(triton, "available", lambda device: True)
    patch.setattr(operations, "on_card", lambda array: True)
    kernels = unpack_blocks, unpack_grouped, unpack_apart, multiply_blocks, multiply_grouped, multiply_apart
    for kernel in kernels:
        patch.setattr(triton, kernel.__name__, kernel)


def sabotage(patch: pytest.MonkeyPatch, kind: str, way: str, damage: Damage | None) -> FakeCard:
    """Damage one way of one kind of kernel, and return a card to check. damage: what the kernel does in place
    of its work; None: its results are wrong."""

    def damaged(sound):
        def kernel(*args, **kwargs):
            if damage is not None:
                damage()
            result = sound(*args, **kwargs)
            wrong = args[-1] if result is None else result
            wrong[..., -1:] += 1 + wrong[..., -1:].abs()
            return result

        return kernel

    places = {
        ("unpack", "triton"): [(triton, f"unpack_{kind}") for kind in ("blocks", "grouped", "apart")],
        ("unpack", "torch"): [(module, "numbers") for module in operations.MODULES.values()],
        ("product", "triton"): [(triton, f"multiply_{kind}") for kind in ("blocks", "grouped", "apart")],
        ("halves", "card"): [(halves, "product")],
        ("states", "solver"): [(torch.linalg, "solve_triangular")],
    }
    for module, name in places.get((kind, way), ()):
        patch.setattr(module, name, damaged(getattr(module, name)))
    if (kind, way) == ("attention", "fused"):

        def attend(*args, **kwargs):
            fused = torch.backends.cuda.flash_sdp_enabled()
            return (damaged(attention) if fused else attention)(*args, **kwargs)

        patch.setattr(torch.nn.functional, "scaled_dot_product_attention", attend)
    if (kind, way) == ("scores", "card"):
        sound = attention_module._written_out

        def written_out(query, *others):
            safe = ways.taken("scores", query.shape[-1], query.dtype) == "float32"
            return (sound if safe else damaged(sound))(query, *others)

        patch.setattr(attention_module, "_written_out", written_out)
    if (kind, way) == ("noise", "card"):

        def words(counter, key):
            on_card = isinstance(counter[0], torch.Tensor)
            if on_card and damage is not None:
                damage()
            return philox(counter, (key[0] ^ on_card, key[1]))

        patch.setattr(sampling, "philox", words)
    if damage is not None and kind in ("copies", "streams", "graphs"):
        check = checks.CHECKS[kind]

        def stopped(card, subject, tried):
            if tried == way:
                damage()
            return check(card, subject, tried)

        patch.setitem(checks.CHECKS, kind, stopped)
    return FakeCard(f"{kind} {way}") if damage is None else FakeCard()


def hang() -> None:
    for sign in sys.argv[4:]:
        Path(sign).touch()
    threading.Event().wait(600)


DAMAGES: dict[str, Damage | None] = {"wrong": None, "crashing": lambda: os._exit(139), "hanging": hang}

if __name__ == "__main__":
    with pytest.MonkeyPatch.context() as patch:
        with_triton(patch)
        kind, way, damage = sys.argv[1:4]
        worker.serve(sabotage(patch, kind, way, DAMAGES[damage]), sys.stdin.buffer, sys.stdout.buffer)
