import pytest
import torch

from engine.errors import UnsupportedModel
from engine.model.rows import Rows
from engine.model.sequence import Sequence
from tests.engine.models import ours, reference

ORIGINAL = 24
TEXT = list(range(3, 50))


def longrope():
    return reference("phi3_long", original_max_position_embeddings=ORIGINAL)


def expected_logits(module, tokens):
    with torch.inference_mode():
        return module(torch.tensor([tokens])).logits[0]


def test_beyond_the_original_context_every_position_has_the_long_factors():
    module = longrope()
    model = ours(module, context=ORIGINAL + 1)
    before = model.module.model.rotary_emb.inv_freq.clone()
    sequence = Sequence(model, 64)
    sequence.extend(
        TEXT[:10]
    )  # transformers would use the short factors for these rows, and the long ones for the next
    logits = sequence.extend(TEXT[10:])
    torch.testing.assert_close(logits, expected_logits(module, TEXT)[-1], rtol=1e-4, atol=1e-4)
    assert torch.equal(model.module.model.rotary_emb.inv_freq, before)


def test_up_to_the_original_context_every_position_has_the_short_factors():
    module = longrope()
    short, long = ours(module, context=ORIGINAL), ours(module, context=ORIGINAL + 1)
    text = TEXT[:ORIGINAL]
    expected = expected_logits(module, text)
    for model, same in ((short, True), (long, False)):
        logits = model.forward(Rows.text(text, 0), model.new_cache(64)).logits
        assert torch.allclose(logits, expected, rtol=1e-4, atol=1e-4) == same


def test_dynamic_frequencies_are_those_of_a_text_as_long_as_the_context():
    rope = {"rope_type": "dynamic", "rope_theta": 1e4, "factor": 4.0}
    module = reference("llama", max_position_embeddings=ORIGINAL, rope_parameters=rope)
    sequence = Sequence(ours(module, context=len(TEXT)), 64)
    sequence.extend(TEXT[:10])
    expected = expected_logits(module, TEXT)[-1]
    torch.testing.assert_close(sequence.extend(TEXT[10:]), expected, rtol=1e-4, atol=1e-4)


def test_frequencies_that_change_in_some_layers_only_are_refused():
    rope = {
        "sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
        "full_attention": {"rope_type": "dynamic", "rope_theta": 1e4, "factor": 2.0},
    }
    with pytest.raises(UnsupportedModel, match="dynamic"):
        ours(reference("gemma3_text", rope_parameters=rope))
