"""A card that is broken where copies, events or recordings are proves it, and then writes the text that the
processor writes."""

from collections.abc import Callable

import platformdirs
import pytest
import torch

from engine import ways
from engine.checkpoints import open_checkpoint
from engine.errors import BadNumbers
from engine.machine import Gpu
from engine.machine.disk_reads import SECTOR
from engine.proof import kernels, ladder, link_checks, worker
from engine.proof.card_proof import CardProof
from engine.proof.trial import Trial, TriedWay
from engine.streaming import chunks
from tests.engine.card.card import CARD
from tests.engine.card.kernels import Kernels
from tests.engine.card.streams import CardGraph, CardStream
from tests.engine.card.test_engine import DISK, RAM, QuietCard, load, text_of
from tests.engine.models import ours, reference

GPU = Gpu("nvidia", "A broken card", "8d5d", 24 << 30, 20 << 30)


class OnCard:
    """A `Tester` in this process."""

    def test(self, trial: Trial, waiting: Callable[[], object]) -> TriedWay:
        return worker.tried(QuietCard(), trial)

    def close(self) -> None:
        CARD.synchronize()


def break_events(patch: pytest.MonkeyPatch) -> None:
    """Let no stream wait for another one."""
    patch.setattr(CardStream, "wait_event", lambda self, event: None)


def break_pinned_reads(patch: pytest.MonkeyPatch) -> None:
    """Let bytes arrive backwards from pinned memory that is read while the host goes on."""
    copy = Kernels._copy

    def backwards(self, source, target, non_blocking=False):
        if non_blocking and source.dtype == torch.uint8 and source.is_cpu and self._is_pinned(source):
            source = source.flip(0)
        return copy(self, source, target, non_blocking)

    patch.setattr(Kernels, "_copy", backwards)


def break_replay(patch: pytest.MonkeyPatch) -> None:
    """Let recorded passes compute nothing."""
    patch.setattr(CardGraph, "replay", lambda self: None)


@pytest.fixture(scope="module")
def target(tmp_path_factory):
    folder = tmp_path_factory.mktemp("target")
    reference("llama").save_pretrained(folder)
    return folder


@pytest.fixture(autouse=True)
def small(tmp_path, monkeypatch, driver):
    monkeypatch.setattr(platformdirs, "user_data_path", lambda *args, **kwargs: tmp_path)
    monkeypatch.setattr(chunks, "GAP_NBYTES", SECTOR)
    monkeypatch.setattr(link_checks, "_NBYTES", 1 << 14)
    yield
    ways.take({})


def written(target, limits) -> list[int] | str:
    """Return the text of an answer, or the error that ended it."""
    model = load(target, limits=limits)
    try:
        return text_of(model, None, seed=1)
    except BadNumbers as error:
        return error.kind
    finally:
        CARD.synchronize()
        model.close()


@pytest.mark.parametrize(
    ("damage", "limits", "taken"),
    [
        (break_events, DISK, {"streams": "one"}),
        (break_pinned_reads, RAM, {"copies": "staging"}),
        (break_pinned_reads, DISK, {"copies": "staging"}),
        (break_replay, None, {"graphs": "launches"}),
    ],
    ids=["events", "pinned reads", "pinned reads beside the disk", "replay"],
)
def test_a_broken_card_that_has_proved_itself_writes_the_text_of_the_processor(
    damage: Callable[[pytest.MonkeyPatch], None], limits, taken, target, monkeypatch
):
    expected = text_of(ours(reference("llama")), None, seed=1)
    damage(monkeypatch)
    assert written(target, limits) != expected, "the damage is seen"
    proof = CardProof(GPU, OnCard)
    proof.prove(kernels.needed([(open_checkpoint(target), "float32")]))
    assert taken.items() <= ladder.choices(proof.kernels, proof.tried).items()
    assert proof.refused is None
    assert written(target, limits) == expected
