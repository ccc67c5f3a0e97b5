"""The real engine process, over its real connection."""

import os
import subprocess
import sys
import textwrap
import threading
from functools import partial
from pathlib import Path

import msgspec
import psutil
import pytest

from engine import protocol
from engine.launch import interpreter
from engine.protocol import EngineConnection, Message, Options
from tests.engine.conftest import model_file
from tests.engine.serving import slow_engine
from tests.processes import own_nbytes


class Client:
    """Drives one connection from the test's thread."""

    def __init__(self) -> None:
        self.connection = EngineConnection.start()
        self.pid = self.connection.pid
        self._events = self.connection.events()
        self.expect(protocol.Ready)

    def expect(self, *kinds):
        """Return the next event of one of these kinds; Failed or EngineLost in between fails the test."""
        for event in self._events:
            if isinstance(event, kinds):
                return event
            assert not isinstance(event, protocol.Failed | protocol.EngineLost), event
        pytest.fail(f"the connection ended before {kinds}")

    def ask(self, text, request=2, **options):
        self.connection.post(
            protocol.Chat(id=request, messages=[Message("user", text)], options=Options(**options))
        )

    def close(self) -> None:
        self.connection.close()
        assert list(self._events) == []
        assert not psutil.pid_exists(self.pid)


@pytest.fixture
def client():
    client = Client()
    yield client
    client.connection.close()
    for _ in client._events:
        pass
    assert not psutil.pid_exists(client.pid), "the engine process outlived its client"


def load(client):
    model_file("smollm2")
    client.connection.post(protocol.Load(id=1, context=512))
    client.expect(protocol.Loaded)


@pytest.fixture(scope="module")
def lasting():
    """A client with a loaded model, for tests that leave both as they are."""
    client = Client()
    try:
        load(client)
        yield client
    finally:
        client.close()


def test_loads_and_answers_over_the_connection(lasting):
    lasting.ask("Say hello.", max_new_tokens=12)
    answer = lasting.expect(protocol.Answer)
    assert answer.request == 2
    assert answer.text


def test_cancel_does_not_wait_behind_an_answer_and_the_text_is_kept(lasting):
    lasting.ask("Write a very long story about the sea.", max_new_tokens=500)
    lasting.expect(protocol.TextDelta)
    lasting.connection.post(protocol.Cancel(id=3))
    answer = lasting.expect(protocol.Answer)
    assert answer.stop_reason == "cancelled"
    assert 0 < answer.tokens < 400
    lasting.ask("Say hello.", request=4, max_new_tokens=4)
    assert lasting.expect(protocol.Answer).stop_reason != "cancelled"


def test_an_error_is_an_event_and_the_engine_stays_usable(client):
    client.ask("Hello?")
    assert client.expect(protocol.Failed).kind == "not_loaded"
    client.connection.post(protocol.Load(id=3, target="/nowhere/model.gguf"))
    assert client.expect(protocol.Failed).kind == "model_not_found"


def test_a_fault_of_the_files_leaves_what_is_loaded(lasting, tmp_path):
    damaged = tmp_path / "damaged.gguf"
    damaged.write_bytes(b"GGUF" + bytes(100))
    for target in (str(damaged), "no-such-model", str(tmp_path / "gone.gguf")):
        lasting.connection.post(protocol.Load(id=3, target=target))
        assert lasting.expect(protocol.Failed).loaded
    lasting.ask("Say hello.", request=4, max_new_tokens=4)
    assert lasting.expect(protocol.Answer).tokens == 4


def test_loading_can_be_cancelled(client):
    model_file("smollm2")
    client.connection.post(protocol.Load(id=1))
    client.expect(protocol.LoadProgress)
    client.connection.post(protocol.Cancel(id=2))
    assert client.expect(protocol.Failed, protocol.Loaded).kind == "cancelled"


def test_a_request_out_of_range_is_refused(lasting):
    lasting.ask("x", temperature=-5.0)
    assert lasting.expect(protocol.Failed).kind == "bad_option"


class Garbage(msgspec.Struct, tag=True):
    """A request of an unknown kind."""


def test_garbage_on_the_connection_is_refused_and_the_engine_stays_usable(lasting):
    lasting.connection.post(Garbage())
    assert lasting.expect(protocol.Failed).kind == "bad_option"
    lasting.ask("Say hello.", max_new_tokens=4)
    assert lasting.expect(protocol.Answer).tokens == 4


def test_a_killed_engine_is_reported_as_the_last_event(client):
    psutil.Process(client.pid).kill()
    events = list(client._events)
    assert [type(event) for event in events] == [protocol.EngineLost]
    assert events[0].killed == (sys.platform != "win32")
    assert not events[0].killed or "memory ran out" in events[0].message
    assert Path(events[0].log_path).exists()


def ask_streamed(client, **options):
    """Load a streamed target with a draft that goes on beside its passes, and ask both a question."""
    model = str(model_file("smollm2"))
    client.connection.post(protocol.Load(id=1, target=model, draft=model, ram_limit=0.06, context=512))
    client.expect(protocol.Loaded)
    client.ask("Say hello.", drafter="specexec", overlap="on", budget=8, max_new_tokens=12, **options)


@pytest.fixture(scope="module")
def undisturbed_text():
    client = Client()
    ask_streamed(client)
    text = client.expect(protocol.Answer).text
    client.close()
    return text


@pytest.mark.skipif(sys.platform == "win32", reason="nothing there kills as SIGKILL does")
@pytest.mark.parametrize("moment", slow_engine.moments)
def test_an_engine_killed_while_draft_and_target_compute_leaves_nothing_in_the_way_of_the_next(
    moment, undisturbed_text, monkeypatch
):
    command = interpreter.command
    with monkeypatch.context() as dying:
        dying.setenv(slow_engine.MOMENT, moment)
        dying.setattr(interpreter, "command", partial(slow_engine.started, command))
        client = Client()
    ask_streamed(client)
    events = []
    for event in client._events:
        events.append(event)
        assert not isinstance(event, protocol.Answer | protocol.Failed), f"not killed: {event}"
    assert isinstance(events[-1], protocol.EngineLost)
    assert events[-1].killed
    client = Client()
    ask_streamed(client)
    assert client.expect(protocol.Answer).text == undisturbed_text != ""
    client.close()


def test_closing_in_the_middle_of_an_answer_ends_the_process(client):
    load(client)
    client.ask("Write a very long story about the sea.", max_new_tokens=500)
    client.expect(protocol.TextDelta)
    client.connection.close()
    for _ in client._events:
        pass
    assert not psutil.pid_exists(client.pid)


def test_two_engines_run_side_by_side():
    first, second = Client(), Client()
    assert first.pid != second.pid
    first.close()
    second.connection.post(protocol.Unload(1))
    second.expect(protocol.Unloaded)
    second.close()


def test_the_engine_ends_when_its_client_is_killed():
    script = textwrap.dedent("""
        import sys
        from engine.protocol import EngineConnection
        connection = EngineConnection.start()
        events = connection.events()
        next(events)
        print(connection.pid, flush=True)
        sys.stdin.read()
    """)
    client = subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[3],
    )
    engine = psutil.Process(int(client.stdout.readline()))
    client.kill()
    client.wait()
    client.stdin.close()
    client.stdout.close()
    engine.wait(timeout=10)
    assert not engine.is_running()


def test_a_connection_without_the_key_is_refused_and_the_next_one_accepted():
    from multiprocessing import AuthenticationError
    from multiprocessing.connection import Client as Connect

    process = subprocess.Popen(
        [sys.executable, "-m", "engine.serving.process"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        cwd=Path(__file__).parents[3],
    )  # fmt: skip
    key = os.urandom(32)
    process.stdin.write(key.hex().encode() + b"\n")
    process.stdin.flush()
    address = process.stdout.readline().decode().strip()
    with pytest.raises((AuthenticationError, EOFError, ConnectionError)):
        Connect(address, authkey=os.urandom(32))
    Connect(address, authkey=key).close()
    process.stdin.close()
    process.stdout.close()
    process.wait(timeout=10)


def test_a_client_that_reads_nothing_does_not_hold_up_the_engine():
    """With thousands of events in an unread connection, put returns at once and memory stays bounded."""
    from multiprocessing import Pipe

    from engine.protocol.outbox import MOST_WAITING_EVENTS, Outbox

    reader, writer = Pipe()
    outbox = Outbox(lambda event: writer.send_bytes(protocol.encode(event)))
    nodes = protocol.TreeNodes(
        root_text="x",
        tokens=[1] * 64,
        parents=[-1] * 64,
        log_probs=[0.0] * 64,
        sources=[1] * 64,
        texts=["abc"] * 64,
    )
    done = protocol.IterationDone(
        request=1, iteration=1, tree=nodes, accepted=[], bonus_token=1, bonus_text="b",
        seconds=protocol.Seconds(), tokens=1, target_passes=1, tokens_per_pass=1.0, tokens_per_second=1.0,
    )  # fmt: skip
    for _ in range(5000):
        outbox.put(protocol.TreeGrown(request=1, iteration=1, tree=nodes))
        outbox.put(done)
    outbox.put(protocol.TextDelta(request=1, text="kept", tokens=1))
    assert len(outbox._waiting) <= MOST_WAITING_EVENTS + 1
    received = []

    def drain():
        while True:
            event = protocol.decode_event(reader.recv_bytes())
            received.append(event)
            if isinstance(event, protocol.TextDelta):
                return

    thread = threading.Thread(target=drain)
    thread.start()
    thread.join(timeout=20)
    assert not thread.is_alive()
    outbox.close()


def test_a_refused_request_is_answered_under_its_own_id(lasting):
    lasting.ask("x", request=7, temperature=-5.0)
    assert lasting.expect(protocol.Failed).request == 7


def test_text_with_half_a_character_can_be_sent(lasting):
    lasting.connection.post(protocol.Load(id=9, target="/no/\udcff/model"))
    failed = lasting.expect(protocol.Failed)
    assert (failed.request, failed.kind) == (9, "model_not_found")


def test_numpy_is_loaded_before_the_lifeline_reads():
    """On Windows, loading it later would wait for that read to end; see the comment in the module."""
    code = "import sys, engine.serving.process; assert 'numpy' in sys.modules and 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[3], timeout=60)


@pytest.mark.skipif(sys.platform != "linux", reason="lists sockets in /proc")
def test_the_engine_of_a_window_listens_nowhere():
    """Another user's program cannot come first where nobody can come."""
    connection = EngineConnection.start()
    events = connection.events()
    assert isinstance(next(events), protocol.Ready)
    listening = psutil.Process(connection.pid).net_connections("all")
    assert not [each for each in listening if each.status == psutil.CONN_LISTEN or each.laddr]
    connection.close()
    list(events)


@pytest.mark.skipif(sys.platform == "win32", reason="counts file descriptors")
def test_a_hundred_requests_do_not_make_the_engine_grow(lasting):
    """They took 0.1 MiB after the first 40; one leaked copy of the logits at each token would take 48 MiB."""

    def sizes():
        lasting.connection.post(protocol.Forget(id=2000, conversation="none"))
        lasting.expect(protocol.Forgotten)  # by now what the request before has freed is the system's again
        process = psutil.Process(lasting.pid)
        return own_nbytes(process), process.num_fds(), process.num_threads()

    for request in range(2, 102):
        lasting.ask(f"What is {7919 * request}?", request, max_new_tokens=4, temperature=0.6, telemetry=True)
        if request % 7 == 0:
            lasting.expect(protocol.TextDelta)
            lasting.connection.post(protocol.Cancel(id=1000 + request))
        assert lasting.expect(protocol.Answer).request == request
        if request == 41:
            nbytes, *others = sizes()
    grown, *others_now = sizes()
    assert grown - nbytes < 2 << 20
    assert others_now == others


# An engine that notes when it prepares for longer texts, in which it fails.
PREPARING = """
from pathlib import Path
from engine.serving import process
from engine.serving.service import EngineService

def prepare(self, ends):
    with Path("FILE").open("a") as file:
        file.write("prepared ")
    raise RuntimeError("it cannot")

EngineService.prepare = prepare
process.main()
"""


def test_behind_a_request_the_engine_prepares_and_a_fault_in_that_ends_nothing(tmp_path, monkeypatch):
    file = tmp_path / "moments"
    program = PREPARING.replace("FILE", file.as_posix())
    monkeypatch.setattr(interpreter, "command", lambda module, *rest: [sys.executable, "-c", program, *rest])
    client = Client()
    for number in (1, 2):
        client.connection.post(protocol.Unload(id=number))
        assert client.expect(protocol.Unloaded).request == number
    assert file.read_text().startswith("prepared"), "before the second request"
    client.close()
