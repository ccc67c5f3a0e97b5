"""Texts on disk: all are learned from, except the held-out ones, in an order that can be resumed anywhere."""

from itertools import islice

import pytest
import torch

from engine.errors import DiskProblem
from engine.training import corpus as corpus_module
from engine.training.conversations import TrainingText
from engine.training.corpus import Corpus


def text(first, length, answer):
    tokens = torch.arange(first, first + length, dtype=torch.int32)
    return TrainingText(tokens, tokens[:, None, None].float().expand(length, 2, 3), min(answer, length))


HELD_OUT = [text(0, 9, 4), text(20, 6, 3)]
LEARNED = [[text(100, 8, 5), text(200, 30, 7)], [text(300, 12, 12), text(400, 5, 2), text(500, 21, 9)]]


@pytest.fixture
def corpus(tmp_path):
    found = Corpus(tmp_path)
    for shard in (HELD_OUT, *LEARNED):
        found.add(shard)
    return found


def first_tokens(batch):
    return batch.tokens[:, 0].tolist()


def test_a_pass_reads_every_answer_once_and_never_a_held_out_one(corpus):
    found = [each for batch in islice(corpus.batches(60, 1, 0), 2) for each in first_tokens(batch)]
    assert sorted(found) == [100, 200, 400, 500]
    assert corpus.tokens == 76
    assert [first_tokens(batch) for batch in corpus.held_out(100)] == [[0, 20]]
    assert list(corpus.questions()) == [[0, 1, 2, 3], [20, 21, 22]]


def test_batches_resume_anywhere_after_the_folder_is_reopened(corpus, tmp_path):
    whole = [first_tokens(batch) for batch in islice(corpus.batches(40, 1, 0), 12)]
    again = [first_tokens(batch) for batch in islice(Corpus(tmp_path).batches(40, 1, 5), 7)]
    assert again == whole[5:]
    assert len({str(batches) for batches in (whole[:3], whole[3:6], whole[6:9])}) > 1, "each pass is another"


def test_only_positions_before_answer_tokens_are_learned(corpus):
    batch = next(corpus.held_out(100))
    assert batch.learned.int().tolist() == [[0, 0, 0, 1, 1, 1, 1, 1, 1], [0, 0, 1, 1, 1, 1, 0, 0, 0]]
    assert batch.states[1, 5].tolist() == [[25.0] * 3] * 2
    assert corpus.counts(600, 2).sum() == 3 + 23
    counts = corpus.counts(600, 3)
    assert counts.sum() == 3 + 23 + 3 + 12
    assert counts[[105, 207, 402, 509]].tolist() == [1] * 4


def test_a_full_disk_is_a_named_error_and_leaves_no_shard(corpus, tmp_path, monkeypatch):
    before = sorted(tmp_path.iterdir())

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(corpus_module, "save_file", full)
    with pytest.raises(DiskProblem, match="No space left") as caught:
        corpus.add(HELD_OUT)
    assert caught.value.hint
    assert sorted(tmp_path.iterdir()) == before
    assert Corpus(tmp_path).shards == 3
