"""One connection to the engine on this machine and to those elsewhere."""

import queue
import threading
from collections.abc import Callable, Iterator

import pytest
from msgspec import structs

from engine import protocol
from engine.errors import EngineGone
from engine.launch.interpreter import RuntimeMissing
from engine.protocol import Answer, EngineLost, Failed, Loaded, NowLoaded, Ready
from engine.remote.any_engine import AnyEngine
from engine.remote.engines import AddedEngine
from tests.engine.remote.conftest import Talk
from tests.engine.remote.scripted_server import ScriptedServer, delta, ending

HERE = protocol.ModelInfo(
    name="Here",
    path="/here",
    architecture="llama",
    parameters=1,
    nbytes=1,
    packed=True,
    layers=1,
    vocabulary=1,
)


class FakeHere:
    """The engine on this machine."""

    number = 0

    def __init__(self, problem: Exception | None = None) -> None:
        FakeHere.number += 1
        self.number = FakeHere.number
        self.problem = problem
        self.posted: list[protocol.Request] = []
        self.left = ""
        self.has_left = threading.Event()
        self.queue: queue.SimpleQueue[protocol.Event | None] = queue.SimpleQueue()
        self.fails = False

    def post(self, request: protocol.Request) -> None:
        self.posted.append(request)
        match request:
            case protocol.Load() if self.fails:
                self.queue.put(Failed(request=request.id, kind="out_of_memory", message="m", hint="h"))
            case protocol.Load():
                self.queue.put(loaded(request.id))
            case protocol.Chat():
                self.queue.put(protocol.TextDelta(request=request.id, text="here", tokens=1))
                self.queue.put(Failed(request=request.id, kind="x", message="m", hint="h", loaded=True))

    def close(self) -> None:
        self.left = self.left or "left"
        self.queue.put(None)

    def end(self) -> None:
        self.left = "ended"
        self.queue.put(None)

    def events(self) -> Iterator[protocol.Event]:
        if self.problem:
            raise self.problem
        yield Ready(engine_version="1", pid=1, client=self.number)
        while (event := self.queue.get()) is not None:
            yield event
        self.has_left.set()


def loaded(request: int) -> Loaded:
    return Loaded(
        request=request,
        target=HERE,
        draft=None,
        drafter="none",
        drafters=[],
        dtype="f",
        device="cpu",
        context=1,
    )


class Heres:
    """Makes an engine here each time one is joined; `problem` is what keeps the next from it."""

    def __init__(self) -> None:
        self.made: list[FakeHere] = []
        self.problem: Exception | None = None
        self.fails = False  # whether loads fail there

    def __call__(self) -> FakeHere:
        self.made.append(FakeHere(self.problem))
        self.made[-1].fails = self.fails
        return self.made[-1]


@pytest.fixture
def heres() -> Heres:
    return Heres()


Started = Callable[[str], Talk]


@pytest.fixture
def start(heres: Heres, added: AddedEngine) -> Iterator[Started]:
    talks: list[Talk] = []

    def begin(first: str) -> Talk:
        talk = Talk(AnyEngine(None if first else heres(), heres))
        talks.append(talk)
        return talk

    yield begin
    for talk in talks:
        talk.close()


def test_nothing_is_started_here_for_a_model_elsewhere(
    start: Started, heres: Heres, server: ScriptedServer
) -> None:
    talk = start("fake")
    ready = next(talk.events)
    assert isinstance(ready, Ready)
    assert ready.now is None
    assert isinstance(talk.load(engine="fake"), Loaded)
    server.script.pieces = [delta(content="there"), *ending()]
    answer = talk.chat()[-1]
    assert isinstance(answer, Answer)
    assert answer.text == "there"
    assert heres.made == []


def test_questions_go_where_the_model_was_loaded_last_and_the_engine_here_is_left(
    start: Started, heres: Heres, server: ScriptedServer
) -> None:
    server.script.pieces = [delta(content="there"), *ending()]
    talk = start("")
    assert isinstance(next(talk.events), Ready)
    assert talk.load(target="x") == loaded(1)
    assert isinstance(talk.load(engine="fake"), Loaded)
    assert heres.made[0].has_left.wait(10)
    assert heres.made[0].left == "left"
    assert isinstance(talk.chat()[-1], Answer)
    assert isinstance(talk.load(target="x"), Loaded)  # joins it again
    assert len(heres.made) == 2
    assert "here" in [event.text for event in talk.chat() if isinstance(event, protocol.TextDelta)]
    assert [type(each).__name__ for each in heres.made[1].posted] == ["Load", "Chat"]


def test_a_load_that_fails_leaves_the_model_before(
    start: Started, heres: Heres, server: ScriptedServer
) -> None:
    talk = start("")
    next(talk.events)
    talk.load(target="x")
    for failed in (talk.load(engine="nowhere"), talk.load(engine="fake", target="other")):
        assert isinstance(failed, Failed)
        assert failed.loaded
    assert heres.made[0].left == ""
    talk.chat()
    assert isinstance(heres.made[0].posted[-1], protocol.Chat)
    assert isinstance(talk.load(engine="fake"), Loaded)
    heres.problem = RuntimeMissing("No runtime.", "Set it up.")
    failed = talk.load(target="x")
    assert isinstance(failed, Failed)
    assert (failed.kind, failed.loaded) == (RuntimeMissing.kind, True)
    server.script.pieces = [delta(content="there"), *ending()]
    assert isinstance(talk.chat()[-1], Answer)


def test_a_failed_load_here_keeps_the_model_elsewhere(start: Started, heres: Heres) -> None:
    talk = start("fake")
    next(talk.events)
    talk.load(engine="fake")
    heres.fails = True
    failed = talk.load(target="x")
    assert isinstance(failed, Failed)
    assert failed.loaded
    assert heres.made[0].has_left.wait(10)


def test_what_happens_here_is_not_told_while_the_model_is_elsewhere(start: Started, heres: Heres) -> None:
    talk = start("")
    next(talk.events)
    talk.load(target="x")
    here = heres.made[0]
    here.queue.put(NowLoaded(loaded=None, by=None))
    assert isinstance(next(talk.events), NowLoaded)
    talk.load(engine="fake")
    here.queue.put(NowLoaded(loaded=None, by=None))
    here.queue.put(EngineLost(exit_code=-9, message="m", hint="h", log_path=""))
    events = talk.request(protocol.Unload(90))
    assert [type(event).__name__ for event in events] == ["Unloaded"]


def test_tasks_name_this_client_as_it_was_told(start: Started, heres: Heres) -> None:
    talk = start("fake")
    ready = next(talk.events)
    assert isinstance(ready, Ready)
    talk.load(engine="fake")
    talk.load(target="x")
    here = heres.made[0]
    mine = protocol.Task(client=here.number, request=1, kind="chat", asker="")
    here.queue.put(protocol.Tasks(tasks=[mine, structs.replace(mine, client=here.number + 1)]))
    tasks = next(talk.events)
    assert isinstance(tasks, protocol.Tasks)
    assert [task.client for task in tasks.tasks] == [ready.client, here.number + 1]


def test_the_loss_of_the_engine_that_answers_is_the_last_event(heres: Heres, added: AddedEngine) -> None:
    talk = Talk(AnyEngine(heres(), heres))
    next(talk.events)
    talk.load(target="x")
    heres.made[0].queue.put(EngineLost(exit_code=-9, message="m", hint="h", log_path=""))
    assert isinstance(next(talk.events), EngineLost)
    assert list(talk.events) == []


def test_an_engine_that_does_not_start(heres: Heres) -> None:
    heres.problem = EngineGone("It does not start.", "Read the log.")
    with pytest.raises(EngineGone):
        next(AnyEngine(heres(), heres).events())


def test_ending_ends_the_engine_here_for_all(heres: Heres) -> None:
    talk = Talk(AnyEngine(heres(), heres))
    next(talk.events)
    talk.channel.end()
    assert list(talk.events) == []
    assert heres.made[0].left == "ended"


def test_closing_before_the_events_are_read(heres: Heres) -> None:
    channel = AnyEngine(heres(), heres)
    channel.close()
    assert [event for event in channel.events() if not isinstance(event, Ready)] == []
    assert heres.made[0].left == "left"


def test_without_a_model_questions_fail(start: Started) -> None:
    talk = start("fake")
    next(talk.events)
    failed = talk.chat()[-1]
    assert isinstance(failed, Failed)
    assert failed.kind == "not_loaded"
    assert talk.request(protocol.Unload(90)) == [protocol.Unloaded(90)]
