"""Texts a model makes up: framed as its template frames them, and with the states it really had there."""

import json

import pytest
import torch

from engine.checkpoints import open_checkpoint
from engine.errors import UnsupportedModel
from engine.rows import Rows
from engine.tokenizer import load_tokenizer
from engine.training.conversations import ALIKE, QUESTION_TOKENS, SAME, Frame, Text, Writer, frame_of, unlike
from tests.engine.models import ours, reference
from tests.engine.training import tiny

LEVELS = (0, 3)
FRAME = Frame([tiny.START, 8, 9], [10, 11], frozenset([0]))


def test_the_frame_is_what_the_template_puts_around_a_question(tmp_path, module):
    folder = tiny.write(tmp_path, module)
    template = (
        "{% for m in messages %}AB{{ m.content }}CD{% endfor %}{% if add_generation_prompt %}E{% endif %}"
    )
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "chat_template": template, "eos_token": "B"}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    assert frame_of(load_tokenizer(open_checkpoint(folder))) == Frame([1, 2], [3, 4, 5], frozenset([2]))


def test_without_a_template_a_text_begins_behind_an_end(target_file):
    assert frame_of(load_tokenizer(target_file)) == Frame([2], [], frozenset([2]))


@pytest.fixture(scope="module")
def texts(target):
    return Writer(target, FRAME, LEVELS, 20).write(70, seed=3)


def test_states_are_those_of_the_same_text_run_alone(target, texts):
    """Also of texts that took the place of others in the batch."""
    assert len(texts) > 64
    for text in texts[::5]:
        cache = target.new_cache(len(text.tokens))
        alone = target.forward(Rows.text(text.tokens.tolist(), 0), cache, hidden_layers=LEVELS).hidden
        for column, level in enumerate(LEVELS):
            torch.testing.assert_close(text.states[:, column], alone[level], rtol=1e-4, atol=1e-4)


def test_texts_are_framed_and_answered(texts):
    for text in texts:
        tokens = text.tokens.tolist()
        assert tokens[: len(FRAME.before)] == FRAME.before[: len(tokens)]
        assert len(tokens) <= 20
        assert FRAME.ends.isdisjoint(tokens)
        if text.answer < len(tokens):
            assert tokens[text.answer - len(FRAME.after) : text.answer] == FRAME.after


def test_a_question_without_end_is_answered_and_half_of_the_answers_are_greedy(target):
    found = Writer(target, Frame([tiny.START], [10, 11], frozenset()), LEVELS, QUESTION_TOKENS + 20).write(
        130, seed=3
    )
    texts = [text for text in found if text.answer < len(text.tokens)]
    assert {text.answer for text in texts} == {1 + QUESTION_TOKENS + 2}
    greedy = 0
    for text in texts:
        cache = target.new_cache(len(text.tokens))
        logits = target.forward(Rows.text(text.tokens.tolist(), 0), cache).logits
        best = logits[text.answer - 1 : -1].argmax(-1)
        greedy += best.tolist() == text.tokens[text.answer :].tolist()
    assert len(texts) // 2 <= greedy < len(texts)


def test_the_same_seed_makes_up_the_same_texts(target, texts):
    again = Writer(target, FRAME, LEVELS, 20).write(70, seed=3)
    other = Writer(target, FRAME, LEVELS, 20).write(70, seed=4)
    assert [text.tokens.tolist() for text in again] == [text.tokens.tolist() for text in texts]
    assert [text.tokens.tolist() for text in other] != [text.tokens.tolist() for text in texts]


def test_answers_that_begin_alike_are_left_out():
    def text(*answer):
        return Text(torch.tensor([7, 8, *answer]), torch.zeros(2 + len(answer), 1, 1), 2)

    refusal = list(range(SAME))
    alike = [text(*refusal, i) for i in range(ALIKE + 3)]
    other, short = text(*refusal[1:], 9, 9), [text(1, 2) for _ in range(ALIKE + 3)]
    assert unlike([*alike, other, *short]) == [*alike[:ALIKE], other, *short]


@pytest.mark.parametrize("kind", ["gemma2", "mixtral", "mistral"])
def test_attention_that_the_batch_does_not_have_is_refused(kind):
    with pytest.raises(UnsupportedModel, match=kind):
        Writer(ours(reference(kind)), FRAME, (0, 2), 20)
