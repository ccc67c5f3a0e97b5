"""A model whose architecture is not declared is loaded through the service, and marked."""

import json

import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM

from engine.errors import UnsupportedModel
from engine.protocol import Chat, Load, Message, Options
from engine.serving.service import EngineService
from engine.torch_model import proof
from tests.engine.heads.test_service import write_target
from tests.engine.models import COMMON
from tests.engine.remarks import said


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A tiny model of Arcee's architecture, with the tokenizer of a tiny llama."""
    monkeypatch.setattr(proof, "_file", lambda: tmp_path / "architectures.json")
    write_target(tmp_path / "model")
    torch.manual_seed(0)
    made = AutoModelForCausalLM.from_config(AutoConfig.for_model("arcee", **COMMON), dtype=torch.float32)
    made.save_pretrained(tmp_path / "model")
    return tmp_path / "model"


def load(engine, folder, dtype="auto"):
    request = Load(id=1, target=str(folder), draft="none", dtype=dtype, device="cpu", context=96)
    return engine.load(request, lambda event: None, lambda: False)


def test_it_answers_and_the_user_is_told_that_it_is_not_listed(folder):
    engine = EngineService()
    loaded = load(engine, folder)
    try:
        assert "The architecture arcee of model is not listed" in said(loaded.remarks)
        request = Chat(
            id=2, messages=[Message("user", "HELLO")], options=Options(drafter="none", max_new_tokens=4)
        )
        assert engine.answer(request, lambda event: None, lambda: False).tokens == 4
    finally:
        engine.unload()
    listed = load(engine, write_target(folder.parent / "listed"))
    engine.unload()
    assert "not listed" not in said(listed.remarks)


def test_what_differs_is_said_before_weights_are_read(folder, monkeypatch):
    monkeypatch.setattr(proof, "difference", lambda config: "log-probabilities of a tree differ")
    file = folder / "config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "rms_norm_eps": 1e-4}))
    with pytest.raises(UnsupportedModel, match="“arcee” are not supported: log-probabilities of a tree"):
        load(EngineService(), folder)
