"""A model whose layers have states is loaded through the service, and uses the prompt cache."""

import json

import pytest
from safetensors.torch import load_file, save_file

from engine.model.savepoints import MARGIN, WINDOW
from engine.protocol import Chat, Load, Message, Options
from engine.serving.service import EngineService
from tests.engine.heads.test_service import write_target
from tests.engine.models import reference
from tests.engine.remarks import said


@pytest.fixture
def folder(tmp_path):
    """A tiny Qwen 3.5 with a vision tower, as the Hub has it, with the tokenizer of a tiny llama."""
    folder = write_target(tmp_path / "model")
    module = reference("qwen3_5_text")
    module.save_pretrained(folder)
    file = folder / "model.safetensors"
    weights = {
        name.replace("model.", "model.language_model."): part for name, part in load_file(file).items()
    }
    weights["model.visual.merger.norm.weight"] = weights["model.language_model.norm.weight"].clone()
    save_file(weights, file)
    text = module.config.to_dict()
    (folder / "config.json").write_text(json.dumps({"model_type": "qwen3_5", "text_config": text}))
    return folder


def test_it_answers_turn_after_turn_and_says_what_is_left_out(folder):
    engine = EngineService()
    request = Load(
        id=1, target=str(folder), draft="none", dtype="float32", device="cpu", context=256, prompt_cache=0.1
    )
    loaded = engine.load(request, lambda event: None, lambda: False)
    try:
        assert "its encoder of images or sound is not loaded" in said(loaded.remarks)
        sequence = engine.session.pair.target
        assert loaded.memory.ram >= sequence.cache.nbytes > 0
        answers = {}
        # The second chat is another one, the third is the first again.
        for number, text in enumerate(("HELLO" * 16, "ANOTHER" * 12, "HELLO" * 16)):
            for drafter in ("none", "pld"):
                options = Options(drafter=drafter, max_new_tokens=12, temperature=0.7, seed=1)
                asked = Chat(id=number, messages=[Message("user", text)], options=options)
                answer = engine.answer(asked, lambda event: None, lambda: False)
                assert answers.setdefault(text, answer.token_ids) == answer.token_ids
    finally:
        engine.unload()


def turns(folder, count, **fields):
    """Let two chats take turns. Return for each turn its tokens, the number of tokens of its prompt, and how
    many of these were not read anew."""
    engine = EngineService()
    request = Load(
        id=1, target=str(folder), draft="none", dtype="float32", device="cpu", context=512, **fields
    )
    engine.load(request, lambda event: None, lambda: False)
    talks = {text: [Message("user", text * 40)] for text in ("HELLO", "WORLD")}
    found = []
    for _ in range(count):
        for name, messages in talks.items():
            options = Options(max_new_tokens=12, temperature=0.7, seed=1)
            chat = Chat(id=1, messages=messages, options=options, conversation=name)
            answer = engine.answer(chat, lambda event: None, lambda: False)
            messages += [Message("assistant", "THEN"), Message("user", "MORE")]
            found.append((answer.token_ids, answer.prompt_tokens, answer.reused_tokens))
    engine.unload()
    return found


def test_chats_that_take_turns_are_taken_up_at_savepoints_also_after_a_restart(folder, tmp_path, monkeypatch):
    monkeypatch.setattr("engine.prompt_cache.files.default_folder", lambda: tmp_path / "cache" / "prompts")
    alone = turns(folder, 2, prompt_cache=0)
    first = turns(folder, 2, prompt_cache_disk=1.0)
    again = turns(folder, 1, prompt_cache_disk=1.0)
    assert [tokens for tokens, *_ in first] == [tokens for tokens, *_ in alone]
    assert [tokens for tokens, *_ in again] == [tokens for tokens, *_ in alone[:2]]
    assert max(reused for *_, reused in alone) < 64
    for (_, prompt, _), *later in zip(first[:2], first[2:], again, strict=True):
        assert min(reused for *_, reused in later) >= (prompt - MARGIN) // WINDOW * WINDOW
