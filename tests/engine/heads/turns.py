"""Conversations in which heads draft."""

from engine.model.sequence import Sequence
from engine.protocol import Chat, Message, Options
from engine.serving.pair import LoadedPair
from engine.serving.session import Session
from tests.engine.bench.tiny import Letters

CONTEXT = 96  # for which the heads of these tests are loaded, at least


def check_turns(target, head, drafter, sampled):
    """Check that `drafter`, alone and merged, answers two questions of a chat as plain decoding does."""
    setting = dict(temperature=1.0, top_p=0.9, repetition_penalty=1.2) if sampled else dict(temperature=0.0)
    sessions = {
        name: Session(LoadedPair(Sequence(target, CONTEXT), None, Letters(), head))
        for name in ("none", drafter, "merged")
    }
    messages = []
    for turn in ("Hello", "again"):
        messages.append(Message("user", turn))
        answers = {}
        for name, session in sessions.items():
            options = Options(drafter=name, seed=3, max_new_tokens=20, budget=12, **setting)
            chat = Chat(id=0, messages=messages, options=options)
            answers[name] = session.answer(chat, lambda event: None, lambda: False)
        texts = {name: answer.token_ids for name, answer in answers.items()}
        assert texts[drafter] == texts["merged"] == texts["none"]
        messages.append(Message("assistant", answers["none"].text or "x"))
