"""Layers with states on a card: savepoints are in RAM, and a text goes on from them."""

import numpy as np
import pytest

from engine.errors import Interrupted
from engine.model import savepoints
from engine.model.sequence import Sequence
from engine.prompt_cache import PromptCache
from engine.prompt_cache.known_rows import KnownRows
from tests.engine.card.card import CARD
from tests.engine.card.test_engine import on_card
from tests.engine.models import ours, reference
from tests.engine.torch_model.test_recurrent import CAPACITY, text_of

pytestmark = pytest.mark.usefixtures("driver")  # that pins memory
KINDS = ["qwen3_5_text", "lfm2", "nemotron_h"]


def bits(logits) -> bytes:
    return logits.cpu().numpy().tobytes()


@pytest.mark.parametrize("kind", KINDS)
def test_an_edited_chat_goes_on_from_a_savepoint_with_the_same_bits(kind):
    model = on_card(reference(kind))
    edited, plain = Sequence(model, CAPACITY), Sequence(model, CAPACITY)
    beginning, end = text_of(130), text_of(70, seed=2)
    for sequence in (edited, plain):
        sequence.extend(beginning)
    waits = CARD.kernels.waits
    edited.align(beginning)
    edited.extend(text_of(90, seed=1))
    assert edited.align([*beginning, *end]) == 130
    assert CARD.kernels.waits == waits
    assert bits(edited.extend(end)) == bits(plain.extend(end))
    assert edited.align([]) == plain.align([]) == 0
    assert bits(edited.extend(end)) == bits(plain.extend(end))


@pytest.mark.parametrize("kind", KINDS)
def test_savepoints_take_no_memory_of_the_card_and_no_more_ram_than_is_counted(kind, monkeypatch):
    monkeypatch.setattr(savepoints, "EVERY", 64)

    def stop(done: int, total: int) -> None:
        if done:
            raise Interrupted("Stopped.")

    model = on_card(reference(kind))
    Sequence(model, CAPACITY).extend(text_of(20))  # what the model keeps
    used, pinned = CARD.memory.used, sum(CARD.kernels.pinned.values())
    sequence = Sequence(model, CAPACITY)
    cache = sequence.cache
    for turn in range(16):
        sequence.align(sequence.ids)
        if turn in (2, 9):
            with pytest.raises(Interrupted):
                sequence.extend(text_of(150), stop)
        sequence.extend(text_of(22, turn))
    assert len(cache.savepoints) == savepoints.SAVEPOINTS
    assert 0 < CARD.memory.used - used <= cache.nbytes
    assert sum(CARD.kernels.pinned.values()) - pinned == cache.saved_nbytes
    del sequence, cache
    CARD.synchronize()
    assert sum(CARD.kernels.pinned.values()) == pinned


@pytest.mark.parametrize("kind", KINDS)
def test_states_of_a_card_are_kept_as_those_of_the_processor(kind):
    model = on_card(reference(kind))
    here, there = Sequence(ours(reference(kind)), CAPACITY), Sequence(model, CAPACITY)
    for sequence in (here, there):
        sequence.extend(text_of(150))
        sequence.extend(text_of(9, seed=1))
    assert here.cache.form == there.cache.form
    assert here.cache.saved_lengths == there.cache.saved_lengths == [128, 159]
    for length in (128, 159):
        ours_, theirs = (each.cache.read_states(length).view(np.float32) for each in (here, there))
        np.testing.assert_allclose(theirs, ours_, rtol=1e-3, atol=1e-4)


def test_chats_on_a_card_are_taken_up_where_they_ended():
    model = on_card(reference("qwen3_5_text"))
    sequence = Sequence(model, CAPACITY)
    sequence.known = KnownRows(PromptCache(1 << 26), b"model")
    talks = {str(number): text_of(150, seed=number) for number in range(2)}
    for owner, talk in talks.items():
        sequence.known.owner = owner
        sequence.align(talk[:-1])
        sequence.extend(talk)
    for owner, talk in talks.items():
        sequence.known.owner = owner
        assert sequence.align([*talk, 4]) == len(talk)
        alone = Sequence(model, CAPACITY)
        alone.extend(talk)
        assert bits(sequence.extend([4])) == bits(alone.extend([4]))
