"""Rounding activations to int8, and also keys and values, costs the embedded model less than one per cent of
perplexity."""

from functools import cache
from pathlib import Path

import pytest
import torch

from engine.checkpoints import open_checkpoint
from engine.model.interface import no_progress
from engine.model.loader import load_compiled
from engine.model.rows import Rows
from engine.tokenizer import load_tokenizer
from engine.torch_model.loader import load_model
from tests.engine.conftest import model_file

TEXT = Path(__file__).parents[3] / "LICENSE"
PIECE, PIECES = 256, 6  # tokens


def log_probs(model, pieces):
    """The log-probabilities after each token, [pieces, tokens, vocabulary]."""
    logits = [
        torch.as_tensor(model.forward(Rows.text(piece, 0), model.new_cache(PIECE)).logits).clone()
        for piece in pieces
    ]
    return torch.stack(logits).log_softmax(-1)


@cache
def exact():
    """The model's file, the pieces of the text, and the log-probabilities in float32."""
    file = open_checkpoint(model_file("smollm2"))
    ids = list(load_tokenizer(file).encode(TEXT.read_text("utf-8")))[: PIECE * PIECES]
    pieces = torch.tensor(ids).view(PIECES, PIECE)
    model = load_model(file, torch.float32, "cpu", no_progress, PIECE)
    return file, pieces, log_probs(model, pieces.tolist())


@pytest.mark.parametrize("cache", ["F16", "Q8_0"])
def test_perplexity_is_that_of_float32(cache):
    file, pieces, expected = exact()
    compiled = log_probs(load_compiled(file, no_progress, PIECE, cache=cache), pieces.tolist())
    loss, exact_loss = (
        -found[:, :-1].gather(2, pieces[:, 1:, None]).mean() for found in (compiled, expected)
    )
    ratio = float((loss - exact_loss).exp())
    divergence = float((expected.exp() * (expected - compiled)).sum(-1).mean())
    print(f"perplexity {float(loss.exp()):.3f}, float32 {float(exact_loss.exp()):.3f}, ratio {ratio:.4f}")
    print(f"mean divergence of the distributions {divergence:.4f} nats")
    assert 0.99 < ratio < 1.01  # the aim is 1.005
    assert divergence < 0.01
