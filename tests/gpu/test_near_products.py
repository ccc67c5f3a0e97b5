"""A card, and a processor that multiplies by weights in RAM, give the logits of transformers."""

import pytest
import torch

from engine.checkpoints import open_checkpoint
from engine.compiled.pool import shared_pool
from engine.model.interface import no_progress
from engine.model.sequence import Sequence
from engine.streaming import WeightLimits
from engine.streaming.lent_chunks import Lending
from engine.streaming.link import link_to
from engine.torch_model.loader import load_model
from engine.torch_model.near_products import NearProducts
from tests.engine.models import CONTEXT, reference

TEXT = [1, 5, 9, 30, 2, 44, 17, 8, 60, 3, 3, 21, 33, 52, 11, 40, 6, 28, 19, 55]


@pytest.mark.parametrize("share", [0.3, 1.0])
def test_logits_with_the_processors_help_equal_those_without(share, cuda, tmp_path):
    module = reference("qwen3")
    module.save_pretrained(tmp_path)
    limits = WeightLimits(60_000)
    model = load_model(open_checkpoint(tmp_path), torch.float32, cuda, no_progress, CONTEXT, limits=limits)
    link = link_to(torch.device(cuda))
    model._near = products = NearProducts(model.streamer, link, shared_pool(), model.module.lm_head.weights)
    model.lending = Lending(model.streamer, products.sizes, products.turn)
    model.lending.use(share)
    assert model.lending.share > 0
    sequence = Sequence(model, CONTEXT)
    for text in (TEXT, [*TEXT[:5], *TEXT[:6]], TEXT):
        sequence.align(text[:-1])
        logits = sequence.extend(text[len(sequence.ids) :])
        with torch.inference_mode():
            expected = module(torch.tensor([text])).logits[0, -1]
        torch.testing.assert_close(logits.cpu(), expected, rtol=1e-4, atol=1e-4)
    model.close()
