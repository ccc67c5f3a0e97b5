"""Heads beside a target that keeps a window of the text: a chat that is taken up is not read again."""

import pytest

from engine.checkpoints import windows
from engine.heads import open_heads
from engine.model.description import described
from engine.model.sequence import Sequence
from engine.prompt_cache import BLOCK, KnownRows, PromptCache
from engine.protocol import Chat, Message, Options
from engine.serving.pair import LoadedPair
from engine.serving.session import Session
from engine.torch_model.heads import load_heads
from engine.torch_model.windowed_cache import WindowedTensorCache
from tests.engine.bench.tiny import Letters
from tests.engine.heads import made
from tests.engine.models import ours, reference

CONTEXT = 1024


@pytest.mark.parametrize("kind", ["eagle", "dflash"])
def test_chats_that_take_turns_go_on_near_their_ends(tmp_path, kind, monkeypatch):
    monkeypatch.setattr(windows, "ROOM", 96)
    module = reference("mistral", num_hidden_layers=4, max_position_embeddings=CONTEXT)
    of_layers = described("tiny", module.config.model_type, module.config.to_dict()).windows
    target = Sequence(ours(module, CONTEXT, of_layers), CONTEXT)
    assert isinstance(target.cache, WindowedTensorCache)
    heads = open_heads(made.save(tmp_path, kind, made.random_weights(kind)))
    head, cache = load_heads(heads, target.model, CONTEXT), PromptCache(1 << 26)
    target.known = KnownRows(cache, b"target")
    head.known_beside = lambda rows: KnownRows(cache, b"heads")
    session = Session(LoadedPair(target, None, Letters(), head))
    texts = ["ABCDE" * 60, "FGHIJ" * 60]
    for turn in range(3):
        for number, text in enumerate(texts):
            options = Options(drafter=heads.method, seed=3, max_new_tokens=20, budget=4)
            chat = Chat(id=1, messages=[Message("user", text)], options=options, conversation=str(number))
            answer = session.answer(chat, lambda event: None, lambda: False)
            if turn:
                # Besides the message: what heads have not read of the answer, and since a whole block.
                assert answer.prompt_tokens - answer.recording.reused_tokens <= 10 + 5 + BLOCK
            texts[number] += answer.text + "KLMNO" * 2
