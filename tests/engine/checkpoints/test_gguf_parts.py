"""Models in several GGUF files; an incomplete set is refused with the name of the part."""

import shutil
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest

from engine.checkpoints import open_checkpoint
from engine.errors import BadCheckpoint, UnsupportedModel
from tests.engine.checkpoints.files import add_entry, values
from tests.engine.checkpoints.gguf_converter import convert
from tests.engine.models import reference


@pytest.fixture
def parts(tmp_path: Path) -> list[Path]:
    """Return a tiny Llama model in four files, with 13 tensors in each except the last."""
    (tmp_path / "set").mkdir()
    convert(reference("llama", num_hidden_layers=5), tmp_path / "set" / "model.gguf", tensors_per_part=13)
    return sorted((tmp_path / "set").iterdir())


def part(file: Path, tensor: str, metadata: dict[str, Any]) -> None:
    """Replace `file` with a part with one tensor and this metadata."""
    file.unlink()
    writer = gguf.GGUFWriter(file, "llama")
    for key, value in metadata.items():
        add_entry(writer, key, value)
    writer.add_tensor(tensor, np.ones(8, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def test_a_set_is_read_completely_from_any_part(tmp_path: Path, parts: list[Path]) -> None:
    whole = open_checkpoint(convert(reference("llama", num_hidden_layers=5), tmp_path / "whole.gguf"))
    assert [file.name for file in parts] == [f"model-0000{number}-of-00004.gguf" for number in (1, 2, 3, 4)]
    for path in (*parts, parts[0].parent):
        found = open_checkpoint(path)
        assert found.config == whole.config
        assert found.weights.keys() == whole.weights.keys()
        assert found.tokenizer.tokens == whole.tokenizer.tokens  # type: ignore[union-attr]
        assert found.generation == whole.generation
    assert {weight.spans[0].file for weight in found.weights.values()} == {*parts}
    for name, weight in whole.weights.items():
        np.testing.assert_array_equal(values(found.weights[name]), values(weight), name)


@pytest.mark.parametrize("kind", ["gemma4_text", "granitemoehybrid", "gpt_oss"])
def test_parts_of_newer_families_are_read_like_one_file(tmp_path: Path, kind: str) -> None:
    (tmp_path / "set").mkdir()
    convert(reference(kind), tmp_path / "set" / "model.gguf", tensors_per_part=13)
    assert len([*(tmp_path / "set").iterdir()]) > 1
    whole, found = (
        open_checkpoint(convert(reference(kind), tmp_path / "whole.gguf")),
        open_checkpoint(tmp_path / "set"),
    )
    assert found.config == whole.config
    assert found.weights.keys() == whole.weights.keys()
    for name, weight in whole.weights.items():
        np.testing.assert_array_equal(values(found.weights[name]), values(weight), name)


@pytest.mark.parametrize("name", ["mmproj-F16.gguf", "tiny.mmproj-q8_0.gguf", "imatrix.gguf"])
def test_a_file_beside_a_model_is_not_taken_for_one(tmp_path: Path, parts: list[Path], name: str) -> None:
    convert(reference("llama", num_hidden_layers=1), tmp_path / "tiny.gguf")
    for folder in (tmp_path, parts[0].parent):
        assert not open_checkpoint(folder).vision
        (folder / name).write_bytes(b"GGUF")
        assert open_checkpoint(folder).vision is ("mmproj" in name)
    convert(reference("llama", num_hidden_layers=1), tmp_path / "other.gguf")
    assert not open_checkpoint(tmp_path / "other.gguf").vision  # which model's encoder it is, nobody knows


@pytest.mark.parametrize("number", range(4))
def test_a_missing_part_is_named(parts: list[Path], number: int) -> None:
    parts.pop(number).unlink()
    for path in (*parts, parts[0].parent):
        with pytest.raises(BadCheckpoint, match=f"model-0000{number + 1}-of-00004.gguf is missing"):
            open_checkpoint(path)


def test_a_damaged_part_is_named(parts: list[Path]) -> None:
    with parts[2].open("r+b") as file:
        file.truncate(parts[2].stat().st_size - 64)
    with pytest.raises(BadCheckpoint, match=r"model-00003-of-00004\.gguf is incomplete"):
        open_checkpoint(parts[0])


@pytest.mark.parametrize(
    ("tensor", "metadata", "reason"),
    [
        ("a", {"split.no": 3, "split.count": 4, "split.tensors.count": 46}, "00004.* instead of"),
        ("a", {"split.no": 3, "split.count": 5, "split.tensors.count": 47}, "00004.* instead of"),
        ("a", {"split.no": 2, "split.count": 4, "split.tensors.count": 47}, "00004.* instead of"),
        ("a", {"split.no": "3", "split.count": 4, "split.tensors.count": 47}, "00004.* instead of"),
        ("a", {}, "00004.* instead of"),
        (
            "token_embd.weight",
            {"split.no": 3, "split.count": 4, "split.tensors.count": 47},
            "00004.* token_embd.weight is also in another part",
        ),
        (
            "a",
            {"split.no": 3, "split.count": 4, "split.tensors.count": 47},
            "contain 40 tensors instead of 47",
        ),
    ],
)
def test_a_part_that_contradicts_the_others_is_refused(
    parts: list[Path], tensor: str, metadata: dict[str, Any], reason: str
) -> None:
    part(parts[3], tensor, metadata)
    with pytest.raises(BadCheckpoint, match=reason):
        open_checkpoint(parts[0])


@pytest.mark.parametrize("name", ["model.gguf", "model-00001-of-00003.gguf", "model-00001-of-00000.gguf"])
def test_a_part_under_another_name_is_refused(parts: list[Path], name: str) -> None:
    with pytest.raises(BadCheckpoint, match="its name does not say so"):
        open_checkpoint(parts[0].rename(parts[0].with_name(name)))


def test_swapped_parts_are_refused(parts: list[Path]) -> None:
    aside = parts[1].rename(parts[1].with_suffix(".aside"))
    parts[2].rename(parts[1])
    aside.rename(parts[2])
    with pytest.raises(BadCheckpoint, match="00002"):
        open_checkpoint(parts[0])


def test_a_folder_with_parts_of_two_models_is_refused(parts: list[Path]) -> None:
    shutil.copy(parts[0], parts[0].with_name("other-00001-of-00004.gguf"))
    with pytest.raises((BadCheckpoint, UnsupportedModel), match=r"config\.json"):
        open_checkpoint(parts[0].parent)
