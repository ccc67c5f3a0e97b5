"""The recipe that makes a draft for a target: generate texts, train on them, measure the draft, write it."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import torch
from msgspec.structs import replace
from torch import Tensor

from engine import catalog
from engine.checkpoints import Checkpoint, open_checkpoint
from engine.errors import BadOption, Interrupted, VocabularyMismatch
from engine.model.devices import choose_device
from engine.model.interface import no_progress
from engine.quantization import states_dtype
from engine.tokenizer import Tokenizer, load_tokenizer
from engine.torch_model.forward import TorchModel
from engine.torch_model.loader import choose_dtype, load_model, model_config, prepare
from engine.training.acceptance import BUDGETS, QUESTIONS, TOKENS, load_draft, measure
from engine.training.conversations import ConversationWriter, Frame, drop_repetitive, frame_of
from engine.training.corpus import Corpus, check_free_space
from engine.training.eagle import EagleStudent
from engine.training.layers import LayersStudent
from engine.training.medusa import MedusaStudent
from engine.training.record import Order, Point, TrainingRecord, card, read_record
from engine.training.student import Student
from engine.training.trainer import Trainer, TrainingReport, TrainingSchedule

__all__ = ["Made", "Order", "make_draft"]

HELD_OUT_BATCHES = 4  # batches on which the held-out loss is measured
WORK = "training"  # folder for texts and checkpoints, which are not needed to run the draft
REPORT_S = 10.0


@dataclass(frozen=True, slots=True)
class Made:
    """The finished draft. method: name of the drafter that uses it; nbytes: size of its files."""

    folder: Path
    method: str
    parameters: int
    nbytes: int
    record: TrainingRecord


def make_draft(
    order: Order,
    schedule: TrainingSchedule,
    folder: Path,
    resume: bool,
    command: str,
    device: str,
    say: Callable[[str], None],
    cancelled: Callable[[], bool],
) -> Made:
    """Make the draft that `order` describes, and write it to `folder` together with the data that --resume
    needs.

    command: the command line, for the model card. say: called with a line about the progress, about every ten
    seconds. cancelled: called wherever the work can be stopped; returns whether to stop. Raises BadOption if
    `folder` is not empty, an option differs from those of the training to resume, or the target has fewer
    layers than ordered; VocabularyMismatch if the target has fewer tokens than the ordered vocabulary;
    BadCheckpoint if there is no training to resume; UnsupportedModel if drafts for the target cannot be
    trained; DiskProblem if writing fails; Diverged if the loss is no longer a number; Interrupted if
    `cancelled` returns true; and the errors from loading the target.
    """
    file = open_checkpoint(catalog.resolve(order.target))
    tokenizer = load_tokenizer(file)
    record = _open_record(order, folder, resume)
    record.commands.append(command)
    _check_fit(order, file, tokenizer)
    on = choose_device(device)
    dtype = states_dtype(choose_dtype(order.dtype, on))  # students take over layers, which are plain then
    prepare(file, dtype)
    target = load_model(file, dtype, on, no_progress, order.length + TOKENS, tokenizer.vocabulary_size)
    run = _TrainingRun(order, schedule, folder, record, file, tokenizer, target, say, cancelled)
    run.sample()
    return run.learn()


class _TrainingRun:
    """One run of `specexec train-draft`: first `sample`, then `learn`."""

    def __init__(
        self,
        order: Order,
        schedule: TrainingSchedule,
        folder: Path,
        record: TrainingRecord,
        file: Checkpoint,
        tokenizer: Tokenizer,
        target: TorchModel,
        say: Callable[[str], None],
        cancelled: Callable[[], bool],
    ) -> None:
        self._order, self._schedule, self._folder, self._record = order, schedule, folder, record
        self._file, self._tokenizer, self._target = file, tokenizer, target
        self._say, self._cancelled = say, cancelled
        self._frame: Frame = frame_of(tokenizer)
        self._work = folder / WORK
        self._corpus = Corpus(self._work / "texts")
        self._reported = 0.0
        self._keep_record()

    def sample(self) -> None:
        """Generate shard 0, which is held out, then further shards until these have the ordered number of
        tokens."""
        order, corpus = self._order, self._corpus
        levels = self._student(torch.arange(1)).levels
        row = len(levels) * self._target.config.hidden_size * self._target.dtype.itemsize
        check_free_space(self._work, max(0, order.tokens - corpus.tokens) * row)
        writer = ConversationWriter(self._target, self._frame, levels, order.length)
        while corpus.shards < 2 or corpus.tokens < order.tokens:
            started = time.perf_counter()

            def progress(done: int, total: int) -> None:
                self._check_cancelled()
                if done and self._may_report():
                    speed = writer.rows * done / (time.perf_counter() - started)  # noqa: B023 - called in this iteration
                    sampled = corpus.tokens + writer.rows * done * (corpus.shards > 0)
                    left = max(0, order.tokens - sampled) / speed
                    self._say(
                        f"sampled {sampled:,} of {order.tokens:,} tokens, {speed:,.0f} tokens/s, "
                        f"{left / 60:.0f} min left"
                    )

            corpus.add(drop_repetitive(writer.write(order.length, order.seed + corpus.shards, progress)))
            self._record.sampling_s += time.perf_counter() - started
            self._record.sampled = corpus.tokens
            self._keep_record()

    def learn(self) -> Made:
        """Train the student on the corpus; write the draft and its model card."""
        student = self._student(self._ids())
        autocast = torch.bfloat16 if self._target.dtype != torch.float32 else torch.float32
        trainer = Trainer(student, self._corpus, self._schedule, self._work / "checkpoint.pt", autocast)
        trainer.load()
        del self._record.curve[_points_until(self._record, trainer.step) :]

        def report(state: TrainingReport) -> None:
            if self._cancelled():
                trainer.save()
            self._check_cancelled()
            if self._may_report():
                losses = " ".join(f"{loss:.2f}" for loss in state.losses)
                self._say(
                    f"step {state.step:,}, loss {losses}, {state.tokens_per_s:,.0f} tokens/s, "
                    f"{state.remaining_s / 60:.0f} min left"
                )

        if not self._record.curve:
            self._measure(student, trainer, BUDGETS)
        trainer.run(report, lambda: self._measure(student, trainer, (64,)))
        self._measure(student, trainer, BUDGETS)
        (self._folder / "README.md").write_text(card(self._record, student, self._folder.name), "utf-8")
        nbytes = sum(file.stat().st_size for file in self._folder.iterdir() if file.is_file())
        return Made(self._folder, student.method, student.parameters, nbytes, self._record)

    def _student(self, ids: Tensor) -> Student:
        order, target = self._order, self._target
        torch.manual_seed(order.seed)
        if order.kind == "eagle":
            return EagleStudent(target, ids)
        if order.kind == "medusa":
            return MedusaStudent(target, ids)
        return LayersStudent(target, ids, order.layers, self._tokenizer)

    def _ids(self) -> Tensor:
        """Return the training vocabulary, ascending: the tokens that end a turn, and the most frequent tokens
        of the answers. Of equally frequent tokens, those with lower IDs are chosen, because a tokenizer has
        learned them earlier."""
        if not self._record.counted:
            self._record.counted = self._corpus.shards
            self._keep_record()
        counts = self._corpus.counts(self._target.vocabulary, self._record.counted)
        counts[list(self._frame.ends)] += counts.sum()
        return counts.sort(descending=True, stable=True).indices[: self._order.vocabulary].sort().values

    @torch.inference_mode()
    def _measure(self, student: Student, trainer: Trainer, budgets: tuple[int, ...]) -> None:
        """Write the draft, measure it as written, and add the measurement to the record's curve."""
        student.save(self._folder)
        losses = [
            trainer.losses(batch, torch.Generator().manual_seed(0))
            for batch in islice(self._corpus.held_out(self._schedule.batch_tokens), HELD_OUT_BATCHES)
        ]
        questions = list(self._corpus.questions())  # in the order in which their texts ended
        context = self._order.length + TOKENS + 4 * max(budgets)
        measured = measure(
            load_draft(self._folder, self._target, self._file, context),
            student.method,
            self._target,
            questions[:: max(1, len(questions) // QUESTIONS)][:QUESTIONS],
            self._frame.ends,
            lambda done, total: self._check_cancelled(),
            budgets,
        )
        mean = torch.stack(losses).mean(0).tolist()
        point = Point(trainer.step, trainer.tokens, trainer.elapsed_s, mean, measured.tokens_per_pass)
        self._record.curve.append(point)
        self._keep_record()
        passes = ", ".join(f"{tokens:.2f} at {budget}" for budget, tokens in measured.tokens_per_pass.items())
        self._say(f"step {trainer.step:,}: held-out loss {mean[0]:.2f}, tokens per pass {passes}")

    def _may_report(self) -> bool:
        """Return whether REPORT_S have passed since the last report; if so, start the interval again."""
        if time.perf_counter() - self._reported < REPORT_S:
            return False
        self._reported = time.perf_counter()
        return True

    def _keep_record(self) -> None:
        self._record.save(self._work / "record.json")

    def _check_cancelled(self) -> None:
        if self._cancelled():
            raise Interrupted("Training was stopped.", "--resume continues from its last checkpoint.")


def _points_until(record: TrainingRecord, step: int) -> int:
    """Return how many points of the curve were measured at `step` or earlier."""
    return sum(point.step <= step for point in record.curve)


def _open_record(order: Order, folder: Path, resume: bool) -> TrainingRecord:
    if resume:
        record = read_record(folder / WORK / "record.json")
        if replace(record.order, tokens=order.tokens) != order:
            raise BadOption(
                f"The draft in {folder} was started with other options: {record.order}.",
                "Give the same options with --resume; only --tokens may grow.",
            )
        record.order = order
        return record
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadOption(f"{folder} already exists.", "Choose a new folder, or continue with --resume.")
    return TrainingRecord(order)


def _check_fit(order: Order, file: Checkpoint, tokenizer: Tokenizer) -> None:
    if order.vocabulary > tokenizer.vocabulary_size:
        raise VocabularyMismatch(
            f"The target has {tokenizer.vocabulary_size:,} tokens, fewer than {order.vocabulary:,}.",
            "Choose a smaller --vocabulary.",
        )
    layers = model_config(file).num_hidden_layers
    if order.layers > layers:
        raise BadOption(f"The target has only {layers} layers.", "Choose fewer --layers; 2 to 6 are usual.")
