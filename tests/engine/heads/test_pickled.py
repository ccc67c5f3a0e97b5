"""Tensors in files of torch.save: what is read of them, and from where."""

import os
import sys
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import numpy as np
import pytest
import torch

from engine.errors import BadCheckpoint
from engine.heads.pickled import unpickled

ROWS = torch.arange(24.0).reshape(4, 6)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "pytorch_model.bin"


def test_tensors_of_any_layout_have_their_numbers(file):
    tensors = {
        "rows": ROWS,
        "columns": ROWS.t(),
        "part": ROWS[1:3, 2:5],
        "again": ROWS[2:],
        "half": ROWS.half(),
        "rounded": ROWS.bfloat16(),
        "number": torch.tensor(3),
        "none": torch.ones(0, 4),
        "flags": torch.tensor([True, False, True]),
        "parameter": torch.nn.Parameter(torch.ones(2)),
        **{f"{number}": torch.full((number,), number) for number in range(1, 14)},  # keys that sort otherwise
    }
    torch.save(tensors, file)
    found = unpickled(file)
    assert found.keys() == tensors.keys()
    for name, tensor in tensors.items():
        numbers = found[name].read()
        expected = tensor.detach().float() if name == "rounded" else tensor.detach()
        assert numbers.dtype == expected.numpy().dtype
        np.testing.assert_array_equal(numbers, expected.numpy())
        assert found[name].span.shape == tuple(tensor.shape)


def test_a_file_may_have_any_name(tmp_path, monkeypatch):
    """Where torch opens a file by its name, that must consist of the system's 8-bit characters on Windows."""

    class Reader(torch._C.PyTorchFileReader):
        def __init__(self, file):
            assert not isinstance(file, str)
            super().__init__(file)

    monkeypatch.setattr(torch._C, "PyTorchFileReader", Reader)
    file = tmp_path / "모델 模型.bin"
    torch.save({"rows": ROWS}, file)
    np.testing.assert_array_equal(unpickled(file)["rows"].read(), ROWS.numpy())


@pytest.mark.parametrize(
    ("packing", "tensors"),
    [(ZIP_STORED, {"rows": ROWS, "half": ROWS.half()}), (ZIP_DEFLATED, {"rows": ROWS})],
)
def test_an_archive_that_another_program_has_packed_is_refused_as_that(file, packing, tensors):
    """Its numbers lie elsewhere than torch says; or there, but compressed."""
    torch.save(tensors, file)
    with ZipFile(file) as archive:
        records = {name: archive.read(name) for name in archive.namelist()}
    with ZipFile(file, "w", packing) as archive:
        for name, content in records.items():
            archive.writestr(name, content)
    with pytest.raises(BadCheckpoint, match="was not packed by torch") as caught:
        unpickled(file)
    assert "torch.save" in caught.value.hint


def test_a_file_that_is_cut_after_it_was_opened_is_a_named_error(file):
    """Through a mapped file, it would be the end of the process."""
    torch.save({"weight": torch.ones(1 << 16)}, file)
    (tensor,) = unpickled(file).values()
    os.truncate(file, 4096)
    with pytest.raises(BadCheckpoint, match=r"pytorch_model\.bin is incomplete"):
        tensor.read()


def test_a_file_that_is_replaced_after_it_was_opened_is_a_named_error(file):
    torch.save({"weight": torch.ones(9)}, file)
    (tensor,) = unpickled(file).values()
    os.utime(file, ns=(0, tensor.span.modified + 1_000_000_000))
    with pytest.raises(BadCheckpoint, match="changed while it was being read"):
        tensor.read()


def test_numbers_in_another_byte_order_are_refused(file, monkeypatch):
    other = {"little": "big", "big": "little"}[sys.byteorder]
    with monkeypatch.context() as patched:
        patched.setattr(sys, "byteorder", other)
        torch.save({"weight": torch.ones(9)}, file)
    with pytest.raises(BadCheckpoint, match="byte order"):
        unpickled(file)
