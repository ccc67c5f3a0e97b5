"""Records of measured answers, and the files that keep them: one JSON object per line."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

import msgspec

from engine import protocol
from engine.errors import BadOption, DiskProblem

if TYPE_CHECKING:
    from engine.tokenizer import Tokenizer

Record = TypeVar("Record", bound=msgspec.Struct)


class Models(msgspec.Struct, frozen=True):
    """The loaded models and how they are loaded. Models are named by their file or folder; limits are in
    GiB."""

    target: str
    draft: str | None
    dtype: str
    device: str
    vram_limit: float | None
    ram_limit: float | None
    disk_speed: float | None = None  # in 10^9 bytes per second; None: the disk's own

    @staticmethod
    def of(loaded: protocol.Loaded, load: protocol.Load) -> "Models":
        draft = Path(loaded.draft.path).name if loaded.draft else None
        target = Path(loaded.target.path).name
        return Models(target, draft, loaded.dtype, loaded.device, load.vram_limit, load.ram_limit)


class Sampling(msgspec.Struct, frozen=True):
    """The settings that, together with target and prompt, determine the answer of an exact drafter.

    `penalty`: what is subtracted from the logit of every token whose text contains `letter`, as a capital or
    a small letter.
    """

    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    seed: int = 0
    letter: str = ""
    penalty: float = 0.0

    def plain(self) -> "Sampling":
        """Return the settings without those that have no effect, so that equal answers have equal
        settings."""
        plain = self if self.penalty else msgspec.structs.replace(self, letter="")
        return plain if self.temperature else Sampling(letter=plain.letter, penalty=plain.penalty)

    def repeated(self, repeat: int) -> "Sampling":
        """Return the settings for repeat number `repeat`. If tokens are drawn at random, every repeat has a
        seed of its own."""
        return msgspec.structs.replace(self, seed=self.seed + repeat) if self.temperature else self


class Cell(msgspec.Struct, frozen=True):
    """A drafter with its settings. `budget`: maximum number of nodes of a tree; None if the engine chooses
    it, 0 if the drafter makes no trees. `overlap`: as in `protocol.Options`."""

    drafter: str
    budget: int | None
    sampling: Sampling
    overlap: protocol.Overlap = "auto"

    def __str__(self) -> str:
        parts = [self.drafter]
        if self.budget != 0:
            parts.append(f"budget {'auto' if self.budget is None else self.budget}")
        parts.append(f"temperature {self.sampling.temperature:g}")
        if self.overlap != "auto":
            parts.append(f"overlap {self.overlap}")
        if self.sampling.penalty:
            parts.append(f"“{self.sampling.letter}” −{self.sampling.penalty:g}")
        return ", ".join(parts)


class Counts(msgspec.Struct, frozen=True):
    """The counts of one answer. `passes`: number of target passes after the first token; `nodes`: number of
    nodes proposed in them; `accepted`: number of these nodes that were accepted; `survived`: number of trees
    that the draft began during the pass before; `survivors`: number of nodes that they had then; `ahead`:
    number of nodes grown while trees were verified; `kept`: number of these with which next trees began; None
    in records of earlier versions, which did not count them."""

    tokens: int
    passes: int
    nodes: int
    accepted: int
    survived: int = 0
    survivors: int = 0
    ahead: int = 0
    kept: int | None = None

    @property
    def tokens_per_pass(self) -> float:
        return (self.tokens - 1) / self.passes


class Times(msgspec.Struct, frozen=True):
    """The times of one answer. `prefill_s`: seconds until its first token; `seconds`: those of all later
    passes, by phase."""

    tokens_per_second: float
    prefill_s: float
    seconds: protocol.Seconds


class AnswerRecord(msgspec.Struct, frozen=True):
    """One measured answer. `asked_tokens`: maximum number of tokens; `times`: None if the answer was
    replayed."""

    models: Models
    cell: Cell
    prompt: str
    kind: str
    asked_tokens: int
    repeat: int
    counts: Counts
    times: Times | None

    @property
    def place(self) -> tuple[object, ...]:
        """The key by which a later run recognises an answer that it need not measure again."""
        return self.models, self.cell, self.prompt, self.asked_tokens, self.repeat


class Recorded(msgspec.Struct, frozen=True):
    """An answer that `target` gave, to be replayed. `ended`: whether it ends with an end token."""

    target: str
    sampling: Sampling
    prompt_name: str
    prompt: list[int]
    answer: list[int]
    ended: bool

    def covers(self, target: str, sampling: Sampling, prompt: list[int], tokens: int) -> bool:
        """Return whether this is the answer of `target` to `prompt` with `sampling`, and has ended or has at
        least `tokens` tokens."""
        return (target, sampling, prompt) == (self.target, self.sampling, self.prompt) and (
            self.ended or len(self.answer) >= tokens
        )


class JsonLines(Generic[Record]):
    """A file of records, one JSON object per line. Each record is written before the next one is made, so
    that an interrupted run loses none. Without a file, records are only kept in memory.

    `records`: the records read from the file, then those added.
    """

    def __init__(self, path: Path | None, kind: type[Record]) -> None:
        """Read the file, if it exists. Raises BadOption if it holds records of another kind; DiskProblem if
        it cannot be read."""
        self._path = path
        self.records: list[Record] = []
        if path is None or not path.exists():
            return
        try:
            data = path.read_bytes()
            whole = data.rfind(b"\n") + 1  # a killed run may have left half a line
            self.records += [msgspec.json.decode(line, type=kind) for line in data[:whole].splitlines()]
            if whole < len(data):
                os.truncate(path, whole)
        except msgspec.DecodeError as error:
            raise BadOption(f"{path} holds records of another kind: {error}.", "Name a new file.") from None
        except OSError as error:
            raise _problem(path, error) from None

    def add(self, record: Record) -> None:
        """Append a record. Raises DiskProblem if it cannot be written."""
        self.records.append(record)
        if self._path is None:
            return
        try:
            with self._path.open("ab") as file:
                file.write(msgspec.json.encode(record) + b"\n")
        except OSError as error:
            raise _problem(self._path, error) from None


def _problem(path: Path, error: OSError) -> DiskProblem:
    return DiskProblem(
        f"{path} cannot be read or written: {error.strerror}.", "Name a file that can be read and written."
    )


def options_of(sampling: Sampling, tokenizer: "Tokenizer") -> protocol.Options:
    """Return the options that `sampling` stands for."""
    tokens = tokens_with(sampling.letter, tokenizer) if sampling.penalty else []
    return protocol.Options(
        temperature=sampling.temperature,
        top_p=sampling.top_p,
        top_k=sampling.top_k,
        min_p=sampling.min_p,
        seed=sampling.seed,
        logit_bias=dict.fromkeys(tokens, -sampling.penalty),
        stop_loops=False,
    )


def tokens_with(letter: str, tokenizer: "Tokenizer") -> list[int]:
    """Return the ids of all tokens whose text contains `letter`, as a capital or a small letter. Special
    tokens are left out."""
    ids = set(range(tokenizer.vocabulary_size)) - tokenizer.special_ids
    return sorted(each for each in ids if letter.lower() in tokenizer.token_text(each).lower())
