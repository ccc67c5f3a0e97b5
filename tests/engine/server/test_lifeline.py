"""What a program needs that starts the server: it ends with its input, names a taken port, and loads again
what others have loaded."""

import asyncio
import json
import os
import queue
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from msgspec import structs

from engine import protocol
from engine.server.engine_client import EngineClient
from engine.server.site import Site, SiteOptions
from tests.app.fake_engine import loaded
from tests.engine.conftest import model_file

ROOT = Path(__file__).parents[3]
COMMAND = [sys.executable, "-m", "engine.cli", "serve", "--json", "--end-with-input", "--context", "1024"]


def test_the_server_ends_when_its_input_ends(tmp_path: Path) -> None:
    model_file("smollm2")
    runtime = tmp_path / "runtime"
    runtime.mkdir(mode=0o700)
    process = subprocess.Popen(
        [*COMMAND, "--port", "0"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "XDG_RUNTIME_DIR": str(runtime)},
    )
    assert process.stdout is not None
    assert process.stdin is not None
    assert json.loads(process.stdout.readline())["address"].startswith("http://127.0.0.1:")
    assert process.poll() is None
    process.stdin.close()
    assert process.wait(30) == 0
    process.stdout.close()
    assert not list(runtime.rglob("engine-*.json")), "the engine ends with its last client"


def test_a_taken_port_has_an_error_of_its_own() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        done = subprocess.run(
            [*COMMAND, "--port", port], capture_output=True, text=True, cwd=ROOT, check=False, input=""
        )
    assert done.returncode == 1
    assert json.loads(done.stdout)["error"]["kind"] == "address_taken"


class OneEngine:
    """An engine with another client, which has loaded `by` and unloads it."""

    def __init__(self, by: protocol.Load) -> None:
        self.posted: list[protocol.Request] = []
        self._events: queue.Queue[protocol.Event | None] = queue.Queue()
        now = protocol.NowLoaded(loaded=loaded(0), by=by)
        self._events.put(protocol.Ready(engine_version="0", pid=1, now=now))

    def unload(self) -> None:
        self._events.put(protocol.NowLoaded(loaded=None, by=None))

    def post(self, request: protocol.Request) -> None:
        self.posted.append(request)
        if isinstance(request, protocol.Load):
            self._events.put(loaded(request.id))

    def close(self) -> None:
        self._events.put(None)

    def events(self) -> Iterator[protocol.Event]:
        while (event := self._events.get()) is not None:
            yield event


def test_what_another_client_has_loaded_and_unloaded_is_loaded_again() -> None:
    by = protocol.Load(id=5, target="coder", draft="none", asker="SpecExec Desktop")
    engine = OneEngine(by)

    async def act() -> None:
        client = EngineClient(lambda: engine)
        site = Site(SiteOptions(load=protocol.Load(id=0, target="another", asker="specexec serve")), client)
        await site.begin()
        assert not engine.posted
        engine.unload()
        while client.loaded is not None:
            await asyncio.sleep(0.01)
        await site.begin()
        await client.close()

    asyncio.run(act())
    (load,) = (request for request in engine.posted if isinstance(request, protocol.Load))
    assert load == structs.replace(by, id=load.id, asker="specexec serve")
