"""Real weights in every form: float32 answers equal those of transformers on the same weights unpacked."""

from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM

from engine import protocol
from engine.checkpoints import open_checkpoint
from engine.conversion.export import export
from engine.model.interface import no_progress
from engine.protocol import Message, Options
from engine.serving.service import EngineService
from engine.tokenizer import load_tokenizer
from tests.engine.conftest import model_file

PROMPT = "Why is the sky blue?"
TOKENS = 12
WAYS = {
    "numbers": {"weights": "unpacked"},
    "packed": {"weights": "packed"},
    "streamed": {"ram_limit": 0.05},
}
CASES = [
    *(("smollm2", form, how) for form in ("as downloaded", "exported") for how in WAYS),
    *(("coder-draft", *case) for case in (("as downloaded", "packed"), ("exported", "streamed"))),
]


def answer(path: Path, **how) -> tuple[EngineService, protocol.Answer]:
    engine = EngineService()
    load = protocol.Load(
        id=1, target=str(path), draft="none", dtype="float32", device="cpu", context=256, **how
    )
    engine.load(load, lambda event: None, lambda: False)
    options = Options(max_new_tokens=TOKENS)
    chat = protocol.Chat(id=0, messages=[Message("user", PROMPT)], options=options)
    result = engine.session.answer(chat, lambda event: None, lambda: False)
    return engine, result


@pytest.fixture(scope="module")
def model(request, tmp_path_factory):
    """(the downloaded file, the same model exported in float32, the greedy tokens of transformers)"""
    file = model_file(request.param)
    folder = tmp_path_factory.mktemp("models") / "exported"
    export(open_checkpoint(file), folder, torch.float32, no_progress)
    reference = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, local_files_only=True)
    prompt = load_tokenizer(open_checkpoint(file)).encode_chat([{"role": "user", "content": PROMPT}])
    with torch.inference_mode():
        ids = reference.generate(
            torch.tensor([prompt]), do_sample=False, max_new_tokens=TOKENS, repetition_penalty=1.0
        )[0]
    return file, folder, ids[len(prompt) :].tolist()


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("model", "form", "how"), CASES, indirect=["model"])
def test_greedy_answers_equal_transformers_on_the_unpacked_weights(model, form, how):
    file, folder, expected = model
    engine, result = answer(file if form == "as downloaded" else folder, **WAYS[how])
    assert result.token_ids == expected
    assert result.memory.peak > result.memory.ram
    assert (result.bytes_streamed > 0) == (how == "streamed")
    engine.unload()
