from pathlib import Path

import pytest

from engine import catalog, protocol
from engine.errors import ModelNotFound
from engine.serving.service import EngineService


def model_file(name: str) -> Path:
    """The file of a catalogue model; skips the test where it is not on this machine."""
    try:
        return catalog.resolve(name)
    except ModelNotFound as error:
        pytest.skip(f"needs the model {name}: {error.hint}")


@pytest.fixture(scope="session")
def smollm2() -> EngineService:
    """The embedded default, loaded once for all tests in float32, so that equal means equal."""
    model_file("smollm2")
    engine = EngineService()
    request = protocol.Load(id=1, dtype="float32", device="cpu", context=512)
    engine.load(request, lambda event: None, lambda: False)
    return engine
