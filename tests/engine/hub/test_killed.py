"""A downloading process that is killed repeatedly."""

import multiprocessing
import os
import random
from multiprocessing.context import BaseContext

import pytest

from tests.engine.hub.conftest import ID, asked, content
from tests.engine.hub.killed import bring
from tests.engine.hub.lying_hub import Offered

KILLS = 50
NBYTES = 32 << 20


@pytest.fixture
def processes() -> BaseContext:
    """Processes that have imported everything, so that a kill hits them while downloading."""
    if os.name == "nt":
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.engine.hub.killed"])
    return context


@pytest.mark.timeout(120)
def test_a_download_killed_fifty_times_completes_with_few_bytes_downloaded_twice(server, models, processes):
    chance = random.Random(5)
    whole = content(NBYTES)
    half = NBYTES // 2
    server.repositories[ID] = Offered(
        {
            "config.json": b"{}",
            "model.safetensors.index.json": b"{}",
            "model-00001-of-00002.safetensors": whole[:half],
            "model-00002-of-00002.safetensors": whole[half:],
        }
    )
    wanted = asked(server)
    server.bytes_per_s = 3e6  # of each of two connections; a kill loses what is in the sockets then
    for _ in range(KILLS):
        process = processes.Process(target=bring, args=(wanted, str(models), server.endpoint), daemon=True)
        process.start()
        server.wait_sent(server.sent_nbytes + chance.randrange(1, NBYTES // KILLS))
        process.kill()
        process.join()
        assert not (models / ID / "config.json").exists()
    process = processes.Process(target=bring, args=(wanted, str(models), server.endpoint), daemon=True)
    process.start()
    process.join(60)
    assert process.exitcode == 0
    for name, expected in server.repositories[ID].files.items():
        assert (models / ID / name).read_bytes() == expected
    assert NBYTES <= server.sent_nbytes <= 1.1 * NBYTES
