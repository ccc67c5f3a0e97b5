"""The card for tests is another device: nothing on it can be touched from the host, or be mixed with what is
not there, and a missing event is seen."""

import ctypes
import faulthandler
import os
import signal
import threading

import numpy as np
import pytest
import torch

from engine.streaming.link import CudaLink
from engine.streaming.pinned import pinned
from tests.engine.card.card import CARD, DEVICE
from tests.engine.card.streams import CardEvent


@pytest.mark.parametrize(
    "touch",
    [
        lambda address: ctypes.string_at(address, 4),
        lambda address: ctypes.memset(address, 0, 4),
        lambda address: None,
    ],
    ids=["read", "write", "not at all"],
)
def test_a_process_that_touches_memory_of_the_card_is_killed(touch, request):
    address = torch.ones(4, device=DEVICE).data_ptr()
    child = os.fork()
    if not child:
        faulthandler.disable()
        touch(address)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert (status in (-signal.SIGSEGV, -signal.SIGBUS)) == ("not" not in request.node.name)


def test_a_tensor_on_the_card_shows_the_host_no_numbers():
    there = torch.ones(4, device=DEVICE)
    with pytest.raises(TypeError, match="can't convert"):
        there.numpy()
    assert there.cpu().tolist() == [1] * 4


@pytest.mark.parametrize(
    "mix",
    [
        lambda here, there: there + here,
        lambda here, there: here + there,
        lambda here, there: here @ there,
        lambda here, there: torch.mm(there, here, out=torch.empty_like(there)),
        lambda here, there: torch.cat([there, here]),
        lambda here, there: torch.where(here > 0, there, there),
        lambda here, there: there.masked_fill(here > 0, 1.0),
        lambda here, there: torch.nn.functional.embedding(here[0].long(), there),
        lambda here, there: torch.nn.functional.linear(there, there, here[0]),
        lambda here, there: torch.nn.functional.scaled_dot_product_attention(there, there, there, here),
        lambda here, there: there.clone().index_copy_(0, here[0].long(), there),
        lambda here, there: here[there[0].long()],
    ],
)
def test_devices_do_not_mix(mix):
    here = torch.eye(3)
    with pytest.raises(RuntimeError, match=r"same device|devices|indices should be"):
        mix(here, here.to(DEVICE))


def test_a_single_number_and_indices_of_the_host_may_be_mixed_in_as_with_cuda():
    there = torch.arange(6.0).view(2, 3).to(DEVICE)
    assert (there + torch.tensor(1.0)).cpu().tolist() == [[1, 2, 3], [4, 5, 6]]
    assert there[torch.tensor([1])].cpu().tolist() == [[3, 4, 5]]


def test_new_memory_and_freed_memory_are_poison():
    there = torch.empty(8, device=DEVICE)
    assert there.isnan().all().cpu()
    content = CARD.memory.content(there)
    there.fill_(1)
    before = CARD.memory.used
    del there
    assert CARD.memory.used == before - 32
    CARD.synchronize()
    assert content.isnan().all()


def test_memory_ends_where_the_test_says(small_card):
    small_card(1000)
    torch.empty(900, dtype=torch.uint8, device=DEVICE)
    with pytest.raises(torch.OutOfMemoryError):
        torch.empty(1001, dtype=torch.uint8, device=DEVICE)
    held = torch.ones(200, device=DEVICE)
    with pytest.raises(torch.OutOfMemoryError):
        held + 1
    assert held.sum().item() == 200


def test_operations_give_the_numbers_of_the_processor_on_strides_views_and_outputs():
    here = torch.randn(6, 8, generator=torch.Generator().manual_seed(1))
    there = here.to(DEVICE)

    def computed(x):
        out = torch.zeros(8, 4, device=x.device)
        torch.mm(x.t()[:, :4], x[:4, ::2], out=out)
        x = x.clone()
        x[1:3, ::2] += torch.arange(4, device=x.device)
        x.transpose(0, 1).mul_(2)
        best = x.topk(2, dim=1)
        return [out, x, best.values, best.indices, (x > 0).nonzero(), x.softmax(-1), x.sum(), x.long() & 7]

    for ours, theirs in zip(computed(there), computed(here), strict=True):
        assert ours.device == DEVICE
        torch.testing.assert_close(ours.cpu(), theirs)


def chunks_through(link: CudaLink, count: int = 40) -> bool:
    """Bring chunks through two slots while the card computes; return whether all arrived as they were."""
    slabs = [link.slab(4096) for _ in range(count)]
    for number, slab in enumerate(slabs):
        slab[:] = number
    shown = torch.empty(count, 4096, dtype=torch.uint8, device=DEVICE)
    slots = link.slots(2, 4096)
    free = [link.used()] * 2
    for number, slab in enumerate(slabs):
        link.compute_after(link.copy(slots[number % 2], slab, free[number % 2]))
        shown[number] = slots[number % 2]
        free[number % 2] = link.used()
    return bool((shown.cpu() == torch.arange(count)[:, None]).all())


class Hasty(CudaLink):
    """A link without the events named."""

    def __init__(self, *missing: str) -> None:
        super().__init__(DEVICE)
        self.missing = missing

    def copy(self, slot, source, after):
        return super().copy(slot, source, self.nothing() if "copy" in self.missing else after)

    def compute_after(self, event) -> None:
        if "compute" not in self.missing:
            super().compute_after(event)

    def nothing(self):
        return self._point(CARD.Stream())


def test_the_links_events_order_copies_and_computation(driver):
    assert all(chunks_through(CudaLink(DEVICE)) for _ in range(5))


def test_events_that_nobody_holds_are_used_again(driver, monkeypatch):
    made = []
    monkeypatch.setattr(CARD, "Event", lambda: made.append(CardEvent(CARD.queue)) or made[-1])
    link = CudaLink(DEVICE)
    assert all(chunks_through(link) for _ in range(5))
    assert 0 < len(made) < 10, "each of 200 chunks needs two"
    held = [link.used() for _ in range(20)]
    assert len({id(point.event) for point in held}) == 20


@pytest.mark.parametrize("missing", ["copy", "compute"])
def test_a_missing_event_is_seen(driver, missing):
    assert not all(chunks_through(Hasty(missing)) for _ in range(5))


def test_a_copy_from_pinned_memory_is_late_and_one_from_plain_memory_is_not(driver):
    def arrived(memory: np.ndarray, change: int) -> int:
        there = torch.empty(64, dtype=torch.uint8, device=DEVICE)
        memory[:] = 1
        stream, gate = CARD.Stream(), CardEvent(CARD.queue)
        with CARD.stream(stream):
            stream.wait_event(gate)
            there.copy_(torch.from_numpy(memory), non_blocking=True)
            memory[:] = change
            gate.point.happen()
        stream.synchronize()
        return int(there[0])

    assert arrived(pinned(64, CARD), 2) == 2
    assert arrived(np.zeros(64, np.uint8), 2) == 1


def test_a_recording_refuses_what_the_host_would_have_to_wait_for():
    there = torch.ones(3, device=DEVICE)
    stream = CARD.Stream()
    waits = [there.cpu, there.nonzero, lambda: there.sum().item(), lambda: there.copy_(torch.zeros(3))]
    for wait in waits:
        with (
            pytest.raises(RuntimeError, match="capturing"),
            CARD.graph(CARD.CUDAGraph(), None, stream, "thread_local"),
        ):
            wait()
    assert there.cpu().tolist() == [1, 1, 1]


def test_threads_share_the_card():
    def work(number: int) -> None:
        there = torch.full((50,), number, device=DEVICE)
        for _ in range(50):
            there = there + number
        sums.append((int(there.sum()), 50 * 51 * number))

    sums: list[tuple[int, int]] = []
    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(sums) == 4
    assert all(found == expected for found, expected in sums)
