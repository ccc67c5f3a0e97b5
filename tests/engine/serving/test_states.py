"""A model whose layers have states is loaded through the service, next to a prompt cache."""

import json

import pytest
from safetensors.torch import load_file, save_file

from engine.protocol import Chat, Load, Message, Options
from engine.serving.service import EngineService
from tests.engine.heads.test_service import write_target
from tests.engine.models import reference


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
        assert "its encoder of images or sound is not loaded" in loaded.note
        sequence = engine.session.pair.target
        assert sequence.known is None, "rows without states would be of no use"
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
