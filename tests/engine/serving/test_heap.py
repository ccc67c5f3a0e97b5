"""What an unloaded model occupied is the system's again."""

import ctypes

import psutil
import pytest

from engine import protocol
from engine.serving.service import EngineService
from tests.engine.conftest import model_file

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
    before = process.memory_full_info().uss
    TRIM(0)
    assert before - process.memory_full_info().uss < NOISE_NBYTES
