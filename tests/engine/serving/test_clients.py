"""Several clients of one engine: whose requests wait, are cancelled and end, and how long it lives."""

import queue
import threading
import time

import psutil
import pytest

from engine import protocol
from engine.files import open_private
from engine.protocol import EngineConnection, Message, Options
from engine.protocol.engine_process import JoinedEngine
from engine.protocol.rendezvous import Announced, Rendezvous
from tests.engine.conftest import model_file

STORY = "Write a very long story about the sea."


class SharingClient:
    """A client whose events a thread of its own reads, as the window and the server do."""

    def __init__(self) -> None:
        self.connection = EngineConnection.share()
        self._events: queue.Queue[protocol.Event | None] = queue.Queue()
        self._thread = threading.Thread(target=self._read)
        self._thread.start()
        self.ready = self.expect(protocol.Ready)

    def _read(self) -> None:
        for event in self.connection.events():
            self._events.put(event)
        self._events.put(None)

    def expect(self, *kinds):
        """Return the next event of one of these kinds, whatever comes before."""
        while (event := self._events.get(timeout=60)) is not None:
            if isinstance(event, kinds):
                return event
        pytest.fail(f"the connection ended before {kinds}")

    def ask(self, text: str, request: int = 2, target: str = "", asker: str = "", **options: object) -> None:
        chat = protocol.Chat(
            id=request,
            messages=[Message("user", text)],
            options=Options(**options),
            target=target,
            asker=asker,
        )
        self.connection.post(chat)

    def load(self) -> protocol.Loaded:
        model_file("smollm2")
        self.connection.post(protocol.Load(id=1, context=512, asker="a window"))
        self.loaded = self.expect(protocol.Loaded)
        return self.loaded

    def waiting(self) -> list[tuple[str, str, int]]:
        """Return who asked for what, by which client, as the next event about the queue tells it."""
        return [(task.asker, task.kind, task.client) for task in self.expect(protocol.Tasks).tasks]

    def leave(self) -> None:
        self.connection.close()
        self._thread.join(30)
        assert not self._thread.is_alive()


@pytest.fixture(scope="module")
def runtime(tmp_path_factory):
    """A folder in which clients meet."""
    folder = tmp_path_factory.mktemp("runtime")
    folder.chmod(0o700)
    return folder


@pytest.fixture(scope="module")
def first(runtime):
    """A client that has loaded a model. The tests that share it leave it so."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(runtime))
        client = SharingClient()
    try:
        client.load()
        yield client
    finally:
        client.leave()


@pytest.fixture
def second(first, runtime, monkeypatch):
    """Another client of its engine."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    client = SharingClient()
    yield client
    client.leave()


@pytest.fixture
def join(tmp_path, monkeypatch):
    """Return a function that joins the test's own engine, or starts it."""
    runtime = tmp_path / "runtime"
    runtime.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    clients: list[SharingClient] = []

    def joined() -> SharingClient:
        clients.append(SharingClient())
        return clients[-1]

    yield joined
    for client in clients:
        client.leave()
    pids = {client.connection.pid for client in clients}
    psutil.wait_procs([psutil.Process(pid) for pid in pids if psutil.pid_exists(pid)], 10)
    assert not [pid for pid in pids if psutil.pid_exists(pid)], "an engine outlived its clients"


def test_a_second_client_shares_what_the_first_has_loaded(first, second):
    assert second.connection.pid == first.connection.pid
    assert second.ready.client != first.ready.client
    assert second.ready.now.loaded == first.loaded
    assert second.ready.now.by.context == 512
    second.ask("Say hello.", max_new_tokens=4)
    assert second.expect(protocol.Answer).tokens == 4


def test_others_learn_what_one_client_loads_and_unloads(join):
    first, second = join(), join()
    assert second.ready.now is None
    loaded = first.load()
    assert second.expect(protocol.NowLoaded).loaded == loaded
    second.connection.post(protocol.Unload(3))
    second.expect(protocol.Unloaded)
    assert first.expect(protocol.NowLoaded).loaded is None


def test_requests_wait_for_each_other_and_each_shows_who_asks(first, second):
    first.ask(STORY, asker="the window", max_new_tokens=60)
    first.expect(protocol.TextDelta)
    second.ask("Say hello.", request=7, asker="an editor", max_new_tokens=4)
    both = [("the window", "chat", first.ready.client), ("an editor", "chat", second.ready.client)]
    while second.waiting() != both:  # until then the load may still be named, or only one of them
        pass
    assert second.expect(protocol.Answer).request == 7
    assert first.expect(protocol.Answer).tokens == 60


def test_cancel_concerns_only_the_clients_own_requests(first, second):
    first.ask(STORY, max_new_tokens=40)
    first.expect(protocol.TextDelta)
    second.connection.post(protocol.Cancel(id=9))
    assert first.expect(protocol.Answer).stop_reason == "max_new_tokens"


def test_one_of_several_requests_can_be_cancelled(second):
    second.ask(STORY, request=2, max_new_tokens=60)
    second.ask(STORY, request=3, max_new_tokens=400)
    second.ask("Say hello.", request=4, max_new_tokens=4)
    second.expect(protocol.TextDelta)
    second.connection.post(protocol.Cancel(id=9, request=3))
    answers = [second.expect(protocol.Answer) for _ in range(3)]
    assert [answer.request for answer in answers] == [2, 3, 4]
    assert [answer.stop_reason == "cancelled" for answer in answers] == [False, True, False]


def test_the_engine_outlives_the_client_that_started_it(join):
    first = join()
    first.load()
    second = join()
    first.leave()
    assert psutil.pid_exists(second.connection.pid)
    second.ask("Say hello.", max_new_tokens=4)
    assert second.expect(protocol.Answer).tokens == 4
    third = join()
    assert third.connection.pid == second.connection.pid


def test_a_client_that_leaves_takes_its_requests_along(join):
    first, second = join(), join()
    second.load()
    first.ask(STORY, max_new_tokens=450)
    first.expect(protocol.TextDelta)
    began = time.monotonic()
    first.leave()
    second.ask("Say hello.", max_new_tokens=4)
    second.expect(protocol.Answer)
    assert time.monotonic() - began < 20


def test_an_answer_by_another_model_than_expected_is_refused(first, second):
    second.ask("Say hello.", target="/models/another.gguf")
    failed = second.expect(protocol.Failed)
    assert (failed.kind, failed.loaded) == ("not_loaded", True)


def test_a_client_can_end_the_engine_for_all(join):
    first, second = join(), join()
    first.connection.end()
    assert second.expect(protocol.EngineLost).exit_code is None
    third = join()
    assert third.connection.pid != first.connection.pid


def test_a_killed_engine_is_replaced(join):
    first, second = join(), join()
    psutil.Process(first.connection.pid).kill()
    assert first.expect(protocol.EngineLost).killed
    second.expect(protocol.EngineLost)
    third = join()
    assert third.connection.pid != first.connection.pid


def test_starting_at_the_same_moment_makes_one_engine(join):
    started: list[SharingClient] = []
    threads = [threading.Thread(target=lambda: started.append(join())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({client.connection.pid for client in started}) == 1


@pytest.mark.parametrize(
    "content", [b"", b"{", b'{"address": "/nowhere", "key": "00", "pid": 1}', b"\xff" * 99]
)
def test_what_is_left_of_another_engine_does_no_harm(content, join):
    path = Rendezvous.of_this_program().path
    path.parent.mkdir(mode=0o700, exist_ok=True)
    path.write_bytes(content)
    assert join().ready.client == 1


def test_an_engine_without_the_key_is_not_joined(join):
    first = join()
    announced = Rendezvous.of_this_program().announced()
    assert JoinedEngine.join(Announced(announced.address, "11" * 32, 1)) is None
    first.load()


def test_without_a_folder_to_meet_in_a_client_has_its_own_engine(join, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", "")
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    assert join().connection.pid != join().connection.pid


def test_the_meeting_is_private_and_ends_with_the_engine(join):
    client = join()
    path = Rendezvous.of_this_program().path
    assert path.parent.stat().st_mode & 0o077 == 0
    client.leave()
    assert not path.exists()
    assert not list(path.parent.glob("engine-????????"))
    open_private(path).close()  # the folder can still be written
