"""Rounding activations to int8, and also keys and values, costs the embedded model less than one per cent of
perplexity."""

import math
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
PIECE = 256  # tokens


def log_probs(model, piece):
    """The log-probabilities after each token, [tokens, vocabulary]."""
    logits = model.forward(Rows.text(piece.tolist(), 0), model.new_cache(PIECE)).logits
    return torch.as_tensor(logits).log_softmax(-1)


@cache
def exact():
    """The model's file, the pieces of the text, and the log-probabilities in float32.

    Rounding moves the loss of a piece by a few per cent, up or down, and not alike on all processors. So
    pieces overlap by a half: most tokens are read behind two different beginnings."""
    file = open_checkpoint(model_file("smollm2"))
    ids = torch.tensor(list(load_tokenizer(file).encode(TEXT.read_text("utf-8"))))
    pieces = list(ids.unfold(0, PIECE, PIECE // 2))
    model = load_model(file, torch.float32, "cpu", no_progress, PIECE)
    return file, pieces, [log_probs(model, piece) for piece in pieces]


@pytest.mark.parametrize("cache", ["F16", "Q8_0"])
def test_perplexity_is_that_of_float32(cache):
    file, pieces, exact_probs = exact()
    model = load_compiled(file, no_progress, PIECE, cache=cache)
    losses, exact_losses, divergences = [], [], []
    for piece, expected in zip(pieces, exact_probs, strict=True):
        found = log_probs(model, piece)
        for each, into in ((found, losses), (expected, exact_losses)):
            into.append(-each[:-1].gather(1, piece[1:, None]).mean())
        divergences.append((expected.exp() * (expected - found)).sum(-1).mean())
    loss, exact_loss, divergence = (
        float(torch.stack(each).mean()) for each in (losses, exact_losses, divergences)
    )
    ratio = math.exp(loss - exact_loss)
    print(f"perplexity {math.exp(loss):.3f}, float32 {math.exp(exact_loss):.3f}, ratio {ratio:.4f}")
    print(f"mean divergence of the distributions {divergence:.4f} nats")
    assert 0.99 < ratio < 1.01  # the aim is 1.005
    assert divergence < 0.01
