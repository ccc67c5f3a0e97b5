"""A long prompt is read in passes that the model has room for, as if it were one."""

import pytest
import torch

from engine.model.sequence import Sequence
from engine.planner.run_rows import PROMPT_ROWS
from engine.torch_model import forward
from tests.engine.models import ours, reference
from tests.engine.sessions import assert_same

TEXT = [(7 * i) % 60 + 1 for i in range(50)]


def pair(kind):
    module = reference(kind)
    whole, cut = Sequence(ours(module), 64), Sequence(ours(module), 64)
    cut.model.prompt_rows = 16
    return whole, cut


def widths(model, monkeypatch):
    """Return the list that will hold the number of rows of each pass."""
    seen, run = [], model._run

    def noting(rows, *arguments, **others):
        seen.append(len(rows))
        return run(rows, *arguments, **others)

    monkeypatch.setattr(model, "_run", noting)
    return seen


@pytest.mark.parametrize("kind", ["llama", "gemma3_text", "qwen2_window"])
def test_pieces_give_the_logits_states_and_rows_of_one_pass(kind, monkeypatch):
    whole, cut = pair(kind)
    rows, layers = widths(cut.model, monkeypatch), whole.model.layers
    first, second = whole.read(TEXT[:3]), cut.read(TEXT[:3])
    assert_same(first.logits, second.logits)
    told = []
    one = whole.read(TEXT[3:], (0, layers))
    many = cut.read(TEXT[3:], (0, layers), lambda done, total: told.append(done / total))
    assert rows == [3, 16, 16, 15]
    assert_same(one.logits, many.logits)
    for layer in (0, layers):
        assert one.hidden[layer].shape == many.hidden[layer].shape
        assert_same(one.hidden[layer], many.hidden[layer])
    assert cut.ids == whole.ids == TEXT
    assert_same(whole.cache.rows(0), cut.cache.rows(0))
    assert told == sorted(told)
    assert told[-1] == 1


def test_nothing_is_committed_if_a_later_piece_is_interrupted():
    class Ended(Exception):
        pass

    def progress(done, total):
        if done > total // 2:
            raise Ended

    whole, cut = pair("llama")
    cut.read(TEXT[:3])
    with pytest.raises(Ended):
        cut.read(TEXT[3:], progress=progress)
    assert cut.ids == TEXT[:3]
    assert_same(whole.read(TEXT).logits, cut.read(TEXT[3:]).logits)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_a_prompt_through_torch_is_read_by_the_rows_that_plans_reserve_memory_for(device, monkeypatch):
    monkeypatch.setattr(forward, "is_mixture", lambda module: True)  # so that no graphs are made
    model = ours(reference("llama"))
    assert forward.TorchModel(model.module, model.config, torch.float16, device).prompt_rows == PROMPT_ROWS
