"""Hostile or damaged models of either format: paths, changed bytes, chat templates.

Each is refused with a named error and a hint, in bounded time and memory. The readers' own tests cover the
reasons for a refusal one by one.
"""

import os
import shutil
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.checkpoints import open_checkpoint, read_span
from engine.errors import BadCheckpoint, BadOption, ModelNotFound, UnsupportedModel
from engine.tokenizer.chat import Guard, render
from tests.engine.checkpoints.files import write_folder, write_gguf
from tests.engine.checkpoints.gguf_converter import convert
from tests.engine.checkpoints.refusal import BOUNDARIES, FEW, open_or_refuse, refused
from tests.engine.checkpoints.test_grouped import AWQ, GPTQ, awq_parts, gptq_parts, write
from tests.engine.models import reference

# -- changed bytes -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return a tiny valid model of each kind; for a folder, the file whose bytes are changed."""
    folder = tmp_path_factory.mktemp("models")
    convert(reference("llama"), folder / "split.gguf", tensors_per_part=12)
    write_gguf(folder / "one.gguf", "qwen2", metadata={"qwen2.rope.scaling.type": "linear"})
    shards = write_folder(folder / "shards", shards=2)
    gptq = write(folder / "gptq", gptq_parts(), GPTQ)
    awq = write(folder / "awq", awq_parts(), None, files={"quant_config.json": AWQ})
    return {
        "gguf": folder / "one.gguf",
        "split": next(folder.glob("split-00002-of-*.gguf")),
        "index": shards / "model.safetensors.index.json",
        "shard": next(shards.glob("model-00002-of-*.safetensors")),
        "config": gptq / "config.json",
        "gptq": gptq / "model.safetensors",
        "awq": awq / "quant_config.json",
    }


@pytest.mark.parametrize("kind", ["gguf", "split", "index", "shard", "config", "gptq", "awq"])
@FEW
@given(data=st.data())
def test_a_changed_model_raises_named_errors_only(
    models: dict[str, Path], kind: str, data: st.DataObject
) -> None:
    file = models[kind]
    whole = file.read_bytes()
    head = {".gguf": 3500, ".json": len(whole)}.get(file.suffix) or 8 + int.from_bytes(whole[:8], "little")
    at = data.draw(st.integers(0, min(head, len(whole)) - 1), label="place")
    change = data.draw(st.sampled_from(["bit", "cut", "number", "digits"]), label="change")
    if change == "bit":
        changed = whole[:at] + bytes([whole[at] ^ 1 << data.draw(st.integers(0, 7))]) + whole[at + 1 :]
    elif change == "cut":
        changed = whole[: data.draw(st.sampled_from([at, len(whole) - 1 - at]))]
    elif change == "number":
        number = struct.pack("<Q", data.draw(st.sampled_from(BOUNDARIES)))[
            : data.draw(st.sampled_from([4, 8]))
        ]
        changed = whole[:at] + number + whole[at + len(number) :]
    else:  # replace the first digit of the next decimal number
        digits = [place for place in range(at, head) if whole[place : place + 1].isdigit()][:1] or [at]
        text = data.draw(
            st.sampled_from([*map(str, BOUNDARIES), "-1", "1e999", "NaN", "9" * 5000, '"1"', "[]"])
        )
        changed = whole[: digits[0]] + text.encode() + whole[digits[0] + 1 :]
    try:
        file.write_bytes(changed)
        open_or_refuse(file if file.suffix == ".gguf" else file.parent)
    finally:
        file.write_bytes(whole)


@pytest.mark.parametrize("missing", ["index", "shard", "split"])
def test_a_model_without_one_of_its_files_is_refused(
    tmp_path: Path, models: dict[str, Path], missing: str
) -> None:
    folder = tmp_path / "model"
    shutil.copytree(models[missing].parent, folder)
    (folder / models[missing].name).unlink()
    left = next(folder.glob("split-*.gguf")) if missing == "split" else folder
    with refused(BadCheckpoint):
        open_checkpoint(left)


# -- the path ------------------------------------------------------------------------------------------------


def test_missing_paths_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    for path in (tmp_path / "no", tmp_path / "file" / "model.gguf", Path("a\0b"), Path("x.gguf")):
        with refused(ModelNotFound):
            open_checkpoint(path)
    with refused(BadCheckpoint):
        open_checkpoint(tmp_path / ("long" * 1000))


@pytest.mark.parametrize("name", ["config.json", "model.safetensors.index.json", "model.safetensors"])
def test_a_folder_where_a_file_should_be_is_refused(tmp_path: Path, name: str) -> None:
    folder = write_folder(tmp_path / "model", shards=1 if name == "model.safetensors" else 2)
    (folder / name).unlink()
    (folder / name).mkdir()
    (tmp_path / "a.gguf").mkdir()
    for path in (folder, folder / name, tmp_path, tmp_path / "a.gguf"):
        with refused():
            open_checkpoint(path)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no named pipes in folders")
@pytest.mark.parametrize("name", ["a.gguf", "a.safetensors", "model.safetensors", "config.json"])
def test_a_pipe_does_not_block(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    if name.endswith("safetensors"):
        (folder / "config.json").write_text('{"model_type": "llama"}')
    os.mkfifo(folder / name)
    with refused():
        open_checkpoint(folder)


@pytest.mark.skipif(sys.platform == "win32", reason="links need special privileges")
def test_links_are_followed_but_not_in_circles(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "model")
    link = tmp_path / "link"
    link.mkdir()
    for file in folder.iterdir():
        (link / file.name).symlink_to(file)
    assert open_checkpoint(link).weights.keys() == open_checkpoint(folder).weights.keys()
    for name in ("config.json", "model.safetensors"):
        (link / name).unlink()
        (link / name).symlink_to(name)
        with refused():
            open_checkpoint(link)


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="needs an unreadable file")
def test_an_unreadable_file_is_refused(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "model.gguf")
    path.chmod(0)
    with refused(BadCheckpoint):
        open_checkpoint(path)


@pytest.mark.parametrize("make", [lambda folder: write_gguf(folder / "model.gguf"), write_folder])
def test_a_file_replaced_after_its_header_was_read_is_refused(
    tmp_path: Path, make: Callable[[Path], Path]
) -> None:
    weights = open_checkpoint(make(tmp_path)).weights
    span = weights["model.norm.weight"].spans[0]
    read_span(span)
    other = tmp_path / "other"
    other.write_bytes(span.file.read_bytes())
    os.utime(other, ns=(0, span.modified + 10**9))
    other.replace(span.file)
    with refused(BadCheckpoint):
        read_span(span)


# -- chat templates ------------------------------------------------------------------------------------------

HI = [{"role": "user", "content": "hi"}]
LOOP = "{% for i in range(99999) %}"


@pytest.mark.parametrize(
    "template",
    [
        LOOP * 3 + "{% endfor %}" * 3,
        "{{ 10 ** (10 ** 9) }}",
        "{{ ('a' * 10 ** 9 + 'b' * 10 ** 9) | length }}",
        "{% set n = namespace(x='aaaaaaaa') %}{% for i in range(60) %}{% set n.x = n.x ~ n.x %}{% endfor %}",
        "{{ 'a' * (20 * 10 ** 6) }}",
        "{% macro again() %}{{ again() }}{% endmacro %}{{ again() }}",
        "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}",
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ messages.append(1) }}",
        "{% include '/etc/passwd' %}",
        "{{ 1 / 0 }}",
        "{{ nothing.at.all }}",
        "{% for %}",
        "a" * (2 << 20),
    ],
    ids=lambda template: template[:50],
)
def test_hostile_chat_templates_are_stopped(template: str) -> None:
    render("{{ messages[0].content }}", HI, True, {})  # starts the process
    started = time.monotonic()
    with refused(UnsupportedModel):
        render(template, HI, True, {})
    assert time.monotonic() - started < 5.0  # on a busy machine; 1 s on an idle one


def test_after_a_hostile_template_the_next_one_is_rendered() -> None:
    with refused(UnsupportedModel):
        render(LOOP * 3 + "{% endfor %}" * 3, HI, True, {})
    assert render("{{ bos_token }}{{ messages[0].content }}", HI, True, {"bos_token": "<s>"}) == "<s>hi"
    with refused(BadOption):
        render("{{ raise_exception('No.') }}", HI, True, {})


def test_a_template_that_invents_markers_is_refused() -> None:
    guard = Guard(["<s>"])
    marked = guard.take_out("<s>")
    with refused(UnsupportedModel):
        list(guard.pieces(marked.replace(":0", ":999999")))


# -- fuzzing -------------------------------------------------------------------------------------------------


def test_fuzzing_for_a_moment_finds_nothing(tmp_path: Path) -> None:
    pytest.importorskip("atheris")
    command = [sys.executable, "-m", "tests.engine.checkpoints.fuzz", "all", "--seconds", "1"]
    root = Path(__file__).parents[3]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    assert not list(tmp_path.iterdir())
