"""Files of heads of every kind, damaged, or with code in their pickles: nothing of it is ever run."""

import os
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch

from engine.arrays import on_host
from engine.errors import SpecExecError
from engine.heads import open_heads
from engine.heads.interface import guesses
from engine.torch_model.heads import load_heads
from tests.campaign.attack import SURVIVED, Outcome, Try, Verdict, judged_error
from tests.campaign.attacks.mutated_folder import distorted_text, other_header
from tests.campaign.models import written
from tests.campaign.mutation import damaged
from tests.engine.heads import made
from tests.engine.models import ours, reference

FIXED = 150
LIMIT_S = 20.0
KINDS = ("eagle", "eagle3", "medusa", "medusa_2", *made.BLOCKS)


class Runs:
    """Runs one of several calls when it is unpickled; each makes the file `flag` or a folder of that name."""

    def __init__(self, flag: Path, how: int) -> None:
        self._calls: tuple[Any, ...] = (
            (os.mkdir, (str(flag),)),
            (os.system, (f"touch {flag}",)),
            (eval, (f"open({str(flag)!r}, 'w')",)),
            (open, (str(flag), "w")),
            (torch.save, ({}, str(flag))),
        )
        self._how = how

    def __reduce__(self) -> Any:
        return self._calls[self._how % len(self._calls)]


@contextmanager
def prepared(folder: Path) -> Iterator[Try]:
    target = ours(reference("llama", num_hidden_layers=4))
    sound = []
    for pickled in (False, True):
        for kind in KINDS:
            place = made.save(folder / f"{kind}{pickled}", kind, made.random_weights(kind), pickled)
            sound.append({file.name: file.read_bytes() for file in place.iterdir()})
    flag, home = folder / "ran", folder / "changed"
    home.mkdir()

    def once(random: Random) -> Outcome:
        for file in home.iterdir():
            file.unlink()
        files = random.choice(sound)
        weights = next(name for name in files if name != "config.json")
        match random.choices(("settings", "weights", "code", "index"), (30, 40, 20, 10))[0]:
            case "settings":
                files = files | {"config.json": distorted_text(files["config.json"], random)}
            case "weights" if weights.endswith(".safetensors"):
                files = files | {weights: other_header(files[weights], random)}
            case "code" if not weights.endswith(".safetensors"):
                files = files | {weights: with_code(home, flag, random)}
            case _:
                files = files | {weights: damaged(files[weights], random)}
        for name, content in files.items():
            written(home, name, content)
        outcome = SURVIVED
        try:
            use()
        except SpecExecError as error:
            outcome = judged_error(error)
        return Outcome(Verdict.RAW, "the pickle ran its code") if flag.exists() else outcome

    def use() -> None:
        file = open_heads(home)
        if file is None:
            return
        heads: Any = load_heads(file, target, 64)
        states = torch.zeros(2, made.WIDTH)
        if heads.method == "medusa":
            tokens, _ = guesses(heads.logits(states[0]), 4)
        else:
            read = heads.fuse(dict.fromkeys(heads.hidden_layers, states))
            known = heads.guess([3, 4], read, heads.new_cache()) if heads.method in made.BLOCKS else read
            tokens, _ = heads.best(known, 4)
        assert np.asarray(on_host(tokens)).min() >= 0

    yield once


def with_code(folder: Path, flag: Path, random: Random) -> bytes:
    """Return a pickle that would make `flag`, in one of the forms that torch reads, perhaps damaged too."""
    runs = Runs(flag, random.randrange(5))
    weights: dict[Any, Any] = dict(made.random_weights(random.choice(KINDS)))
    content: Any = random.choice(
        (weights | {"fc.weight": runs}, weights | {runs: 1}, runs, [runs], {"a": runs})
    )
    if random.random() < 0.3:
        data = pickle.dumps(content, protocol=random.randrange(2, 6))
    else:
        place = folder / "code.pt"
        torch.save(content, place, _use_new_zipfile_serialization=random.random() < 0.5)
        data = place.read_bytes()
        place.unlink()
    return damaged(data, random) if random.random() < 0.2 else data
