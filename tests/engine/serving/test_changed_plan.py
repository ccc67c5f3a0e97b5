"""Clients learn of the plan by which an answer had to load the models again."""

import threading
from unittest.mock import Mock

from msgspec import structs

from engine import protocol
from engine.serving.process import Server
from engine.serving.task_queue import QueuedTask
from tests.app.fake_engine import answer, loaded

SMALLER = protocol.SmallerPlan(full="ram", vram=0, ram=20, ssd=10, context=512)


def test_the_client_that_asked_and_those_that_come_later_learn_of_the_smaller_plan(monkeypatch):
    load, asked = protocol.Load(id=1), protocol.Chat(id=2, messages=[], options=protocol.Options())
    full, smaller = loaded(1), structs.replace(loaded(1), remarks=[SMALLER])
    server, client, engine = Server(), Mock(), Mock()

    def load_models(*how):
        engine.loaded = full
        return full

    def run_out_of_memory(*how):
        engine.loaded = smaller
        return answer(2)

    engine.load, engine.answer = load_models, run_out_of_memory
    monkeypatch.setattr(server, "_engine", engine)
    monkeypatch.setattr(server, "_clients", {1: client})
    told: list[protocol.Event] = []
    client.put = told.append
    server._work(QueuedTask(1, load, threading.Event()))
    assert told == [full]
    for _ in range(2):
        server._work(QueuedTask(1, asked, threading.Event()))
    now = protocol.NowLoaded(loaded=smaller, by=load)
    assert told[1:] == [answer(2), now, answer(2)]
    assert server._now == now
