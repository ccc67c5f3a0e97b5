"""What an unloaded model, or an answer, occupied is the system's again."""

import ctypes
import threading
from unittest.mock import Mock

import psutil
import pytest

from engine import protocol
from engine.serving import heap
from engine.serving.process import Server
from engine.serving.service import EngineService
from engine.serving.task_queue import QueuedTask
from tests.engine.conftest import model_file
from tests.processes import own_nbytes

TRIM = getattr(ctypes.CDLL(None), "malloc_trim", None)
NOISE_NBYTES = 16 << 20


@pytest.mark.skipif(TRIM is None, reason="needs glibc")
def test_an_unloaded_model_leaves_no_freed_memory_in_the_process():
    model_file("smollm2")
    engine = EngineService()
    engine.load(protocol.Load(id=1, device="cpu", context=512), lambda event: None, lambda: False)
    options = protocol.Options(max_new_tokens=4)
    chat = protocol.Chat(id=2, messages=[protocol.Message("user", "Hello")], options=options)
    engine.answer(chat, lambda event: None, lambda: False)
    engine.unload()
    process = psutil.Process()
    before = own_nbytes(process)
    TRIM(0)
    assert before - own_nbytes(process) < NOISE_NBYTES


@pytest.mark.parametrize("fails", [False, True])
def test_freed_memory_is_given_back_after_each_request(monkeypatch, fails):
    done: list[str] = []
    server, client, engine = Server(), Mock(), Mock()
    client.put = lambda event: done.append(type(event).__name__)
    engine.forget.side_effect = MemoryError if fails else lambda request: protocol.Forgotten(request.id)
    monkeypatch.setattr(heap, "give_back", lambda: done.append("given back"))
    monkeypatch.setattr(server, "_engine", engine)
    monkeypatch.setattr(server, "_clients", {1: client})
    server._work(QueuedTask(1, protocol.Forget(id=7, conversation="a"), threading.Event()))
    assert done == ["Failed" if fails else "Forgotten", "given back"], "the client need not wait for it"
