"""A card, and a processor that multiplies by experts in RAM, give the logits of transformers."""

import platformdirs
import pytest
import torch

from engine.checkpoints import open_checkpoint
from engine.machine.disk_reads import SECTOR
from engine.model.interface import no_progress
from engine.model.sequence import Sequence
from engine.streaming import WeightLimits, chunks
from engine.torch_model.loader import load_model
from engine.torch_model.near_experts import ExpertProcessor
from tests.engine.mixtures import EVEN, SLOW_LINK
from tests.engine.models import CONTEXT, reference
from tests.gpu.test_near_products import TEXT


@pytest.mark.parametrize("times", [SLOW_LINK, EVEN, None], ids=["slow link", "even", "measured"])
def test_logits_with_the_processors_experts_equal_those_without(times, cuda, tmp_path, monkeypatch):
    monkeypatch.setattr(chunks, "GAP_NBYTES", SECTOR)
    monkeypatch.setattr(platformdirs, "user_data_path", lambda *args, **kwargs: tmp_path / "data")
    if times:
        monkeypatch.setattr(ExpertProcessor, "_timed", lambda self: times)
    module = reference(
        "mixtral", num_local_experts=8, hidden_size=64, intermediate_size=128, num_hidden_layers=2
    )
    module.save_pretrained(tmp_path)
    how = {"limits": WeightLimits(300_000), "processor_helps": "measured"}
    model = load_model(open_checkpoint(tmp_path), torch.float32, cuda, no_progress, CONTEXT, **how)
    sequence = Sequence(model, CONTEXT)
    for text in (TEXT, [*TEXT[:5], *TEXT[:6]], TEXT):
        sequence.align(text[:-1])
        logits = sequence.extend(text[len(sequence.ids) :])
        with torch.inference_mode():
            expected = module(torch.tensor([text])).logits[0, -1]
        torch.testing.assert_close(logits.cpu(), expected, rtol=1e-4, atol=1e-4)
    if times:
        assert model.experts.near > 0
    else:
        shown = model.near_experts.loan.times
        assert min(shown.link_s, shown.exchange_s, shown.products_s([1])) > 0
    model.close()
