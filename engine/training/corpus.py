"""Texts a target has made up, kept on disk with its hidden states: learning passes over them without running
the target again.

A folder of shards, each one file. Shard 0 is held out: nothing is learned from it.
"""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

from engine.errors import DiskProblem
from engine.training.conversations import Text

SORTED = 32  # batches among which texts are sorted by length, so that little of a batch is padding


@dataclass(frozen=True, slots=True)
class Batch:
    """tokens: int64 [texts, longest]; states: [texts, longest, levels, width]; learned: bool [texts,
    longest], where what comes next belongs to an answer, and what the target said there is known."""

    tokens: Tensor
    states: Tensor
    learned: Tensor

    def to(self, device: torch.device) -> "Batch":
        return Batch(self.tokens.to(device), self.states.to(device), self.learned.to(device))


class Corpus:
    """Attributes: `tokens` (of all shards that are learned from), `shards` (how many are there)."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._shards: list[_Shard] = []
        while (file := self._file(len(self._shards))).exists():
            self._shards.append(_Shard(file))

    @property
    def shards(self) -> int:
        return len(self._shards)

    @property
    def tokens(self) -> int:
        return sum(int(shard.starts[-1]) for shard in self._shards[1:])

    def _file(self, number: int) -> Path:
        return self._folder / f"{number:04}.safetensors"

    def add(self, texts: list[Text]) -> None:
        """Raises DiskProblem; nothing of the shard is left then."""
        lengths = [len(text.tokens) for text in texts]
        tensors = {
            "starts": torch.tensor([0, *accumulate(lengths)]),
            "answers": torch.tensor([text.answer for text in texts]),
            "tokens": torch.cat([text.tokens for text in texts]),
            "states": torch.cat([text.states for text in texts]),
        }
        nbytes = sum(tensor.nbytes for tensor in tensors.values())
        check_room(self._folder, nbytes)
        file = self._file(len(self._shards))
        part = file.with_suffix(".part")
        try:
            save_file(tensors, part)
            part.replace(file)
        except Exception as error:  # safetensors has a class of its own for a write that fails
            part.unlink(missing_ok=True)
            raise DiskProblem(
                f"{self._folder} cannot be written: {str(error)[:200]}", "Check the disk; --resume goes on."
            ) from error
        self._shards.append(_Shard(file))

    def counts(self, vocabulary: int, shards: int) -> Tensor:
        """How often each token stands in the answers of the first shards, without those of the held-out one;
        int64 [vocabulary]."""
        found = torch.zeros(vocabulary, dtype=torch.int64)
        for shard in self._shards[1:shards]:
            for text in range(len(shard)):
                answer = shard.tokens[shard.answer(text) : shard.stop(text)]
                found += torch.bincount(answer, minlength=vocabulary)
        return found

    def questions(self) -> Iterator[list[int]]:
        """Held-out texts up to their answers, where these were begun."""
        for text in range(len(self._shards[0])):
            if self._shards[0].answer(text) < self._shards[0].stop(text):
                start = int(self._shards[0].starts[text])
                yield self._shards[0].tokens[start : self._shards[0].answer(text)].tolist()

    def held_out(self, tokens: int) -> Iterator[Batch]:
        """Batches of the held-out shard, of about that many tokens, in an order that is always the same."""
        places = [(0, text) for text in range(len(self._shards[0])) if self._teaches(0, text)]
        groups = self._grouped(places, tokens)
        for at in torch.randperm(len(groups), generator=torch.Generator().manual_seed(0)).tolist():
            yield self._batch(groups[at])

    def batches(self, tokens: int, seed: int, first: int) -> Iterator[Batch]:
        """Batches of about `tokens` tokens without end, from number `first` on; each pass over the corpus in
        an order of its own, which hangs on `seed` alone."""
        places = [
            (number, text)
            for number in range(1, len(self._shards))
            for text in range(len(self._shards[number]))
            if self._teaches(number, text)
        ]
        order = torch.Generator()
        number, epoch = 0, 0
        while True:
            order.manual_seed(seed + epoch)
            shuffled = [places[i] for i in torch.randperm(len(places), generator=order).tolist()]
            groups = self._grouped(shuffled, tokens)
            for at in torch.randperm(len(groups), generator=order).tolist():
                if number >= first:
                    yield self._batch(groups[at])
                number += 1
            epoch += 1

    def _teaches(self, shard: int, text: int) -> bool:
        """Whether there is an answer of at least two tokens."""
        return self._shards[shard].answer(text) + 1 < self._shards[shard].stop(text)

    def _grouped(self, places: list[tuple[int, int]], tokens: int) -> list[list[tuple[int, int]]]:
        """Places of texts of about the same length, `tokens` together with the padding."""

        def length(place: tuple[int, int]) -> int:
            return self._shards[place[0]].length(place[1])

        groups: list[list[tuple[int, int]]] = []
        near = SORTED * tokens
        pool: list[tuple[int, int]] = []
        pooled = 0
        for place in [*places, None]:
            if place is not None:
                pool.append(place)
                pooled += length(place)
            if place is None or pooled >= near:
                group: list[tuple[int, int]] = []
                for each in sorted(pool, key=length, reverse=True):
                    if group and (len(group) + 1) * length(group[0]) > tokens:
                        groups.append(group)
                        group = []
                    group.append(each)
                groups += [group] if group else []
                pool, pooled = [], 0
        return groups

    def _batch(self, places: list[tuple[int, int]]) -> Batch:
        texts = [self._shards[shard].read(text) for shard, text in places]
        longest = max(len(text.tokens) for text in texts)
        tokens = torch.zeros(len(texts), longest, dtype=torch.int64)
        states = texts[0].states.new_zeros(len(texts), longest, *texts[0].states.shape[1:])
        learned = torch.zeros(len(texts), longest, dtype=torch.bool)
        for row, text in enumerate(texts):
            length = len(text.tokens)
            tokens[row, :length] = text.tokens
            states[row, :length] = text.states
            learned[row, text.answer - 1 : length] = True
        return Batch(tokens, states, learned)


class _Shard:
    """One file. Attributes: `starts` int64 [texts + 1], `tokens` int32 [tokens]."""

    def __init__(self, file: Path) -> None:
        with safe_open(file, framework="pt") as reader:
            self.starts: Tensor = reader.get_tensor("starts")
            self.tokens: Tensor = reader.get_tensor("tokens")
            self._answers: Tensor = reader.get_tensor("answers")
        self._file = file

    def __len__(self) -> int:
        return len(self._answers)

    def length(self, text: int) -> int:
        return int(self.starts[text + 1] - self.starts[text])

    def stop(self, text: int) -> int:
        return int(self.starts[text + 1])

    def answer(self, text: int) -> int:
        """Where the answer begins in `tokens`."""
        return int(self.starts[text] + self._answers[text])

    def read(self, text: int) -> Text:
        start, stop = int(self.starts[text]), int(self.starts[text + 1])
        with safe_open(self._file, framework="pt") as reader:
            states = reader.get_slice("states")[start:stop]
        return Text(self.tokens[start:stop], states, int(self._answers[text]))


def check_room(folder: Path, nbytes: int) -> None:
    """Raises DiskProblem where the disk of `folder` has not that many bytes free."""
    free = shutil.disk_usage(folder).free
    if free < nbytes:
        raise DiskProblem(
            f"This takes {nbytes / 2**30:.1f} GiB on the disk, and {free / 2**30:.1f} GiB are free.",
            "Free some space, take fewer --tokens, or name a folder on another disk.",
        )
