"""Malicious or randomly damaged files of heads: a named error, and their code is never run."""

import math
import os
import pickle
import random
from collections import OrderedDict

import pytest
import torch

from engine.heads import open_heads
from tests.engine.heads import made
from tests.engine.heads.refusals import load, refusal, refused


class Runs:
    """Creates a folder when it is unpickled."""

    def __init__(self, folder):
        self.folder = str(folder)

    def __reduce__(self):
        return os.mkdir, (self.folder,)


class Rebuilt:
    """Is a tensor of `shape`, from number `offset` on, when it is unpickled, whatever is stored."""

    def __init__(self, stored, offset, *shape):
        strides = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
        self.rest = stored._typed_storage(), offset, shape, tuple(strides), False, OrderedDict()

    def __reduce__(self):
        return torch._utils._rebuild_tensor_v2, self.rest


@pytest.mark.parametrize("place", ["tensor", "name", "whole"])
@pytest.mark.parametrize("form", ["zip", "legacy", "bare"])
@pytest.mark.parametrize("kind", ["medusa", "eagle", "eagle3"])
def test_a_pickle_that_would_run_code_is_refused_and_runs_nothing(tmp_path, kind, form, place):
    weights = made.random_weights(kind)
    folder = made.save(tmp_path, kind, weights, pickled=True)
    file = next(each for each in folder.iterdir() if each.suffix in (".pt", ".bin"))
    ran = tmp_path / "ran"
    bad = {"tensor": weights | {"fc.weight": Runs(ran)}, "name": weights | {Runs(ran): 1}, "whole": Runs(ran)}
    if form == "bare":
        file.write_bytes(pickle.dumps(bad[place]))
    else:
        torch.save(bad[place], file, _use_new_zipfile_serialization=form == "zip")
    with refused():
        open_heads(folder)
    assert not ran.exists()


@pytest.mark.parametrize(
    "odd",
    [
        torch.ones(made.WIDTH, made.WIDTH).to_sparse(),
        torch.ones(made.WIDTH, made.WIDTH, device="meta"),
        torch.ones(made.WIDTH, made.WIDTH, dtype=torch.complex64),
        torch.ones(made.WIDTH, made.WIDTH, dtype=torch.complex64).conj().imag,
        torch.ones(1).expand(1 << 20, 1 << 20),
        [torch.ones(made.WIDTH, made.WIDTH)],
        "text",
        Rebuilt(torch.ones(made.WIDTH, made.WIDTH), 1, made.WIDTH, made.WIDTH),
        Rebuilt(torch.ones(made.WIDTH, made.WIDTH - 1), 0, made.WIDTH, made.WIDTH),
    ],
    ids=[
        *("sparse", "meta", "complex", "negative", "one number a million times", "list", "text"),
        *("from beyond the first number", "more numbers than are stored"),
    ],
)
def test_a_pickle_of_anything_but_plain_tensors_is_refused(tmp_path, odd):
    weights = made.random_weights("medusa_2") | {"0.0.linear.weight": odd}
    folder = made.save(tmp_path, "medusa_2", {}, pickled=True)
    torch.save(weights, folder / "medusa_lm_head.pt")
    with refused(saying="contains more than plain tensors|not a file of plain tensors"):
        open_heads(folder)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"\x80\x02.", b"no pickle at all", b"\x80\x04N."])
def test_a_file_that_is_not_a_pickle_is_refused(tmp_path, content):
    made.save(tmp_path, "eagle", {}, pickled=True)
    (tmp_path / "pytorch_model.bin").write_bytes(content)
    with refused():
        open_heads(tmp_path)


# -- valid files, changed ------------------------------------------------------------------------------------


@pytest.mark.parametrize("pickled", [False, True], ids=["safetensors", "torch.save"])
@pytest.mark.parametrize("kind", ["medusa", "eagle3", "p-eagle", "dflash"])
def test_changed_bytes_give_named_errors_only(tmp_path, target, kind, pickled):
    folder = made.save(tmp_path, kind, made.random_weights(kind), pickled)
    chance = random.Random(7)
    refusals = 0
    for file in folder.iterdir():
        whole = file.read_bytes()
        # A pickle's structure and its zip directory are at its start and end, numbers in between.
        places = [*range(min(3000, len(whole))), *range(max(0, len(whole) - 1500), len(whole))]
        for _ in range(150):
            at = chance.choice(places)
            bit, cut = whole[at] ^ 1 << chance.randrange(8), chance.random() < 0.1
            file.write_bytes(whole[:at] if cut else whole[:at] + bytes([bit]) + whole[at + 1 :])
            if error := refusal(folder, target):
                assert error.message
                assert error.hint
                refusals += 1
        file.write_bytes(whole)
    assert refusals > 75
    load(folder, target)
