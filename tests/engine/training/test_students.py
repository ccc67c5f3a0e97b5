"""Students are trained for their later use: their losses equal those of the guesses of the written files,
loaded by the engine's own loader."""

import math

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from engine.checkpoints import open_checkpoint
from engine.errors import UnsupportedModel
from engine.heads import open_heads
from engine.heads.interface import guesses
from engine.model.rows import Rows
from engine.model.sequence import Sequence
from engine.tokenizer import load_tokenizer
from engine.torch_model.heads import load_heads
from engine.training import eagle
from engine.training.acceptance import load_draft
from engine.training.conversations import ConversationWriter, Frame
from engine.training.corpus import Batch, Corpus
from engine.training.eagle import AHEAD, EagleStudent
from engine.training.layers import LayersStudent
from engine.training.medusa import HEADS, MedusaStudent
from tests.engine.models import VOCABULARY, ours, reference
from tests.engine.training import tiny

IDS = torch.arange(1, VOCABULARY, 2)
CLOSE = 1e-3


def at_random(student):
    """Give `student` random weights that all matter and that bfloat16 represents exactly."""
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for weight in student.module.parameters():
            noise = torch.randn(weight.shape, generator=generator)
            weight.copy_(noise / math.sqrt(weight.shape[-1]) if weight.ndim == 2 else 1 + 0.1 * noise)
            weight.copy_(weight.bfloat16())
    return student


@pytest.fixture(scope="module")
def batch_of(target, tmp_path_factory):
    def batch(levels):
        corpus = Corpus(tmp_path_factory.mktemp("texts"))
        corpus.add(
            ConversationWriter(target, Frame([tiny.START], [], frozenset()), levels, tiny.LENGTH).write(
                24, seed=1
            )
        )
        found: Batch = next(corpus.held_out(8 * tiny.LENGTH))
        return Batch(found.tokens, found.states, torch.ones_like(found.learned))

    return batch


def said(target, tokens):
    """Return the target's distributions over IDS, float32 [positions, len(IDS)]."""
    logits = target.forward(Rows.text(tokens, 0), target.new_cache(len(tokens))).logits
    return logits[:, IDS].softmax(-1)


def test_an_eagle_head_is_trained_on_its_own_guesses_as_in_use(tmp_path, target, batch_of, monkeypatch):
    monkeypatch.setattr(eagle, "CHAINS", 1)  # every position continues
    student = at_random(EagleStudent(target, IDS))
    batch = batch_of(student.levels)
    student.save(tmp_path)
    head = load_heads(open_heads(tmp_path), target, 256)
    found: list[list[torch.Tensor]] = [[] for _ in range(AHEAD + 1)]
    for text in batch.tokens.tolist():
        probs = said(target, text)
        hidden = Sequence(target, len(text)).read(text, head.hidden_layers).hidden
        fused = head.fuse({level: states[:-1] for level, states in hidden.items()})
        for place in range(len(text) - 1):
            cache = head.new_cache()
            states = head.forward(Rows.text(text[1 : place + 2], 0), fused[: place + 1], cache)[-1:]
            cache.keep(range(place + 1))
            for ahead in range(min(AHEAD + 1, len(text) - 1 - place)):
                if ahead:
                    token, at = np.array([text[place + ahead + 1]]), np.array([place + ahead])
                    seen = np.ones((1, ahead), np.bool_)
                    states = head.forward(Rows(token, at, seen), states, cache)
                tokens, log_probs = map(torch.from_numpy, head.best(states, len(IDS)))
                order = tokens[0].argsort()
                assert tokens[0][order].equal(IDS)
                found[ahead].append(-(probs[place + ahead + 1] * log_probs[0][order]).sum())
    expected = torch.stack([torch.stack(each).mean() for each in found])
    losses = student.losses(batch, torch.Generator().manual_seed(0))
    torch.testing.assert_close(losses, expected, rtol=CLOSE, atol=CLOSE)


def test_an_untrained_eagle_head_repeats_the_targets_previous_guess(target, batch_of):
    """So it starts far from chance, and far from its goal."""
    student = EagleStudent(target, IDS)
    loss = student.losses(batch_of(student.levels), torch.Generator())[0].item()
    assert loss > math.log(len(IDS)) / 2


def test_medusa_heads_are_trained_as_in_use(tmp_path, target, batch_of):
    student = at_random(MedusaStudent(target, IDS))
    batch = batch_of(student.levels)
    student.save(tmp_path)
    heads = load_heads(open_heads(tmp_path), target, 256)
    assert heads.layers == HEADS
    found: list[list[torch.Tensor]] = [[] for _ in range(HEADS)]
    for text in batch.tokens.tolist():
        probs = said(target, text)
        states = Sequence(target, len(text)).read(text, heads.hidden_layers).hidden[target.layers]
        for place, state in enumerate(states):
            tokens, log_probs = map(torch.from_numpy, guesses(heads.logits(state), VOCABULARY))
            for ahead in range(1, HEADS + 1):
                if place + ahead < len(text):
                    row = torch.empty(VOCABULARY).scatter(0, tokens[ahead - 1], log_probs[ahead - 1])
                    found[ahead - 1].append(cross_entropy(row[IDS], probs[place + ahead]))
    expected = torch.stack([torch.stack(each).mean() for each in found])
    losses = student.losses(batch, torch.Generator())
    torch.testing.assert_close(losses, expected, rtol=CLOSE, atol=CLOSE)


def test_a_draft_of_layers_is_trained_as_in_use(tmp_path, target, target_file, batch_of):
    student = at_random(LayersStudent(target, IDS, 2, load_tokenizer(target_file)))
    batch = batch_of(student.levels)
    student.save(tmp_path)
    draft = load_draft(tmp_path, target, target_file, 256).draft.model
    assert draft.layers == 2
    found = []
    for text in batch.tokens.tolist():
        logits = draft.forward(Rows.text(text, 0), draft.new_cache(len(text))).logits
        found.append(cross_entropy(logits[:, IDS], said(target, text)))
    losses = student.losses(batch, torch.Generator())
    torch.testing.assert_close(losses, torch.stack(found).mean()[None], rtol=CLOSE, atol=CLOSE)


def test_a_student_of_all_layers_equals_the_target(target, target_file, batch_of):
    student = LayersStudent(target, torch.arange(VOCABULARY), target.layers, load_tokenizer(target_file))
    batch = batch_of(student.levels)
    entropy = [
        torch.distributions.Categorical(
            logits=target.forward(Rows.text(text, 0), target.new_cache(len(text))).logits
        ).entropy()
        for text in batch.tokens.tolist()
    ]
    loss = student.losses(batch, torch.Generator())
    torch.testing.assert_close(loss, torch.cat(entropy).mean()[None], rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("kind", ["llama", "qwen2"], ids=["tied", "untied"])
def test_a_draft_of_all_layers_with_the_shared_tables_is_the_target(tmp_path, kind):
    module = reference(kind, num_hidden_layers=4)
    target, file = ours(module), open_checkpoint(tiny.write(tmp_path / "target", module))
    LayersStudent(target, IDS, 4, load_tokenizer(file)).save(tmp_path / "draft")
    draft = load_draft(tmp_path / "draft", target, file, 256).draft.model
    rows = Rows.text([5, 17, 4, 33, 9], 0)
    found, expected = (model.forward(rows, model.new_cache(8)).logits for model in (draft, target))
    torch.testing.assert_close(found.softmax(-1), expected.softmax(-1), rtol=0, atol=0.05)


def test_an_eagle_head_needs_a_target_of_three_layers():
    with pytest.raises(UnsupportedModel, match="2 layers"):
        EagleStudent(ours(reference("llama", num_hidden_layers=2)), IDS)
