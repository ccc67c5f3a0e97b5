"""Tokenizers from folders in the Hugging Face layout."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from engine.checkpoints import TokenizerFolder
from engine.errors import BadCheckpoint
from engine.tokenizer import vocabulary_of
from tests.engine.tokenizer.samples import CHATML, byte_level, tokenizer


def write_folder(folder: Path, config: dict[str, Any] | None = None) -> Path:
    """Write the byte-level tokenizer as a Hugging Face folder, with truncation and padding as in some
    files."""
    backend = tokenizer(byte_level()).backend
    backend.enable_truncation(2)
    backend.enable_padding(length=9)
    backend.save(str(folder / "tokenizer.json"))
    usual = {"bos_token": {"content": "<|im_start|>"}, "eos_token": "<|im_end|>", "chat_template": CHATML}
    (folder / "tokenizer_config.json").write_text(json.dumps(usual | (config or {})), encoding="utf-8")
    return folder


def test_a_folder_gives_the_same_tokenizer(tmp_path: Path) -> None:
    ours = tokenizer(TokenizerFolder(write_folder(tmp_path)), ends=(7,))
    same = tokenizer(byte_level())
    messages = [{"role": "user", "content": "abc é <|im_end|>"}]
    assert ours.encode_chat(messages) == same.encode_chat(messages)
    assert ours.eos_ids == {7, 259}
    assert ours.bos_id == 258
    assert ours.special_ids == same.special_ids
    assert vocabulary_of(ours) == vocabulary_of(same)


def test_the_template_may_be_in_a_separate_file(tmp_path: Path) -> None:
    several = [{"name": "tool_use", "template": "T"}, {"name": "default", "template": "default"}]
    assert (
        tokenizer(TokenizerFolder(write_folder(tmp_path, {"chat_template": several}))).chat_template
        == "default"
    )
    (tmp_path / "chat_template.json").write_text(json.dumps({"chat_template": "json"}))
    assert tokenizer(TokenizerFolder(tmp_path)).chat_template == "json"
    (tmp_path / "chat_template.jinja").write_text("jinja ü", encoding="utf-8")
    assert tokenizer(TokenizerFolder(tmp_path)).chat_template == "jinja ü"


def test_a_folder_without_a_template_adds_the_first_token_unless_told_not_to(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "ab"}]
    for config, expected in (({}, [258, 256]), ({"add_bos_token": False}, [256])):
        folder = TokenizerFolder(write_folder(tmp_path, {"chat_template": None, **config}))
        assert tokenizer(folder).encode_chat(messages) == expected


def test_missing_and_damaged_tokenizer_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadCheckpoint, match=r"no tokenizer\.json") as caught:
        tokenizer(TokenizerFolder(tmp_path))
    assert "tokenizer.json" in caught.value.hint
    write_folder(tmp_path)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        whole = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(whole[: len(whole) // 2])
        with pytest.raises(BadCheckpoint, match=re.escape(name)):
            tokenizer(TokenizerFolder(tmp_path))
        (tmp_path / name).write_bytes(whole)
