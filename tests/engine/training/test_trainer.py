"""The training loop: it resumes bit for bit, and stops before invalid numbers reach a checkpoint."""

from itertools import pairwise

import pytest
import torch

from engine.errors import BadCheckpoint, DiskProblem, Diverged
from engine.training import trainer as trainer_module
from engine.training.conversations import ConversationWriter, Frame
from engine.training.corpus import Corpus
from engine.training.eagle import EagleStudent
from engine.training.trainer import Trainer, TrainingSchedule
from tests.engine.models import VOCABULARY
from tests.engine.training import tiny

SCHEDULE = tiny.schedule(6, save_every_s=0.0, accumulate=2, batch_tokens=200)


@pytest.fixture(scope="module")
def corpus(target, tmp_path_factory):
    found = Corpus(tmp_path_factory.mktemp("texts"))
    writer = ConversationWriter(
        target, Frame([tiny.START], [], frozenset()), EagleStudent(target, torch.arange(9)).levels, 20
    )
    for seed in range(2):
        found.add(writer.write(20, seed))
    return found


@pytest.fixture
def trainer(target, corpus, tmp_path):
    def make(schedule=SCHEDULE):
        torch.manual_seed(0)
        student = EagleStudent(target, torch.arange(VOCABULARY))
        return student, Trainer(student, corpus, schedule, tmp_path / "checkpoint.pt", torch.float32)

    return make


def end(*args):
    raise KeyboardInterrupt


def test_an_interrupted_training_resumes_bit_for_bit(trainer, tmp_path):
    whole, training = trainer()
    steps = []
    training.run(steps.append, lambda: None)
    (tmp_path / "checkpoint.pt").unlink()
    _, training = trainer()
    reports = []

    def interrupt(report):
        reports.append(report)
        if report.step == 4:
            end()

    with pytest.raises(KeyboardInterrupt):
        training.run(interrupt, lambda: None)
    resumed, training = trainer()
    training.load()
    assert training.step == 3
    training.run(reports.append, lambda: None)
    assert training.step == 6
    assert [report.losses for report in reports[:3] + reports[4:]] == [report.losses for report in steps]
    for name, weight in whole.module.state_dict().items():
        assert resumed.module.state_dict()[name].equal(weight), name


def test_a_loss_that_is_not_a_number_stops_training_with_the_last_good_checkpoint(trainer):
    student, training = trainer()
    losses, calls = student.losses, 0

    def spoiled(*args):
        nonlocal calls
        calls += 1
        return losses(*args) * (torch.nan if calls == 7 else 1.0)

    student.losses = spoiled
    with pytest.raises(Diverged, match="step 4") as caught:
        training.run(lambda report: None, lambda: None)
    assert "--resume" in caught.value.hint
    good, again = trainer()
    again.load()
    assert again.step == 3
    for name, weight in good.module.state_dict().items():
        assert weight.isfinite().all(), name
        assert weight.equal(student.module.state_dict()[name]), name


def test_a_full_disk_leaves_the_previous_checkpoint(trainer, tmp_path, monkeypatch):
    _, training = trainer()
    training.save()
    before = (tmp_path / "checkpoint.pt").read_bytes()

    def full(state, file):
        file.write_bytes(b"half")
        raise RuntimeError("PytorchStreamWriter failed writing file")

    monkeypatch.setattr(trainer_module.torch, "save", full)
    with pytest.raises(DiskProblem, match="failed writing") as caught:
        training.save()
    assert caught.value.hint
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("checkpoint.pt", before)]


@pytest.mark.parametrize("damage", [b"", b"no pickle", None])
def test_a_damaged_checkpoint_is_a_named_error(trainer, tmp_path, damage):
    _, training = trainer()
    training.save()
    file = tmp_path / "checkpoint.pt"
    file.write_bytes(file.read_bytes()[:1000] if damage is None else damage)
    with pytest.raises(BadCheckpoint, match="not a checkpoint"):
        training.load()


def test_the_rate_rises_then_falls_and_time_or_steps_end_training():
    schedule = TrainingSchedule(200, 10.0)
    assert schedule.progress(50, 0.0) == 0.25
    assert schedule.progress(50, 300.0) == 0.5
    assert schedule.progress(300, 0.0) == schedule.progress(0, 6000.0) == 1.0
    rates = [schedule.rate(step, step / 200) for step in range(201)]
    peak = rates.index(max(rates))
    assert peak == trainer_module.WARM_UP - 1
    assert all(before < after for before, after in pairwise(rates[: peak + 1]))
    assert all(before > after for before, after in pairwise(rates[peak:]))
    assert rates[-1] == pytest.approx(1e-3 * trainer_module.LAST_RATE)


def test_all_batches_of_a_step_count(trainer):
    """Two halves have the same effect as one batch of both, apart from random choices."""
    student, training = trainer(tiny.schedule(1, accumulate=2, batch_tokens=200))
    training.run(lambda report: None, lambda: None)
    single, once = trainer(tiny.schedule(1, batch_tokens=200))
    once.run(lambda report: None, lambda: None)
    assert training.tokens > once.tokens
    assert not student.module.fc.weight.equal(single.module.fc.weight)
