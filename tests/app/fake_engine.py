"""A stand-in for `EngineConnection`: the test scripts the answers, real threads deliver them."""

import queue
import threading
from collections.abc import Callable, Iterator

from engine.errors import EngineGone
from engine.protocol import messages
from engine.protocol.messages import Event, Request

MODEL = messages.ModelInfo(
    name="Tiny-135M-Instruct",
    path="/models/tiny.gguf",
    architecture="llama",
    parameters=135_000_000,
    nbytes=98_000_000,
    packed=False,
    layers=30,
    vocabulary=49_152,
)

RECORDING = messages.AnswerRecording(
    reused_tokens=3, trees=[messages.GrownTree(64, 16, 32, 0.0, ahead, rounds=2) for ahead in (0, 2048)]
)

Script = Callable[["FakeConnection", Request], None]


def loaded(request: int) -> messages.Loaded:
    return messages.Loaded(
        request=request,
        target=MODEL,
        draft=None,
        drafter="recycling",
        drafters=["recycling", "none"],
        dtype="float32",
        device="cpu",
        context=2048,
    )


def tree() -> messages.TreeNodes:
    """root -> 0 -> 2 -> 4; root -> 1 -> 5; 0 -> 3."""
    return messages.TreeNodes(
        root_text="The",
        tokens=[10, 11, 12, 13, 14, 15],
        parents=[-1, -1, 0, 0, 2, 1],
        log_probs=[-0.3, -1.5, -0.4, -1.2, -0.5, -0.9],
        sources=[1] * 6,
        texts=[" quick", " slow", " brown", " red", " fox", " snail"],
    )


def grown(request: int, iteration: int = 1) -> messages.TreeGrown:
    return messages.TreeGrown(request=request, iteration=iteration, tree=tree())


def verdict(request: int, iteration: int = 1, accepted: tuple[int, ...] = (0, 2)) -> messages.IterationDone:
    return messages.IterationDone(
        request=request,
        iteration=iteration,
        tree=tree(),
        accepted=list(accepted),
        bonus_token=99,
        bonus_text=" bear",
        seconds=messages.Seconds(draft=0.02, target=0.06, stream_wait=0.01, other=0.01),
        tokens=3 * iteration,
        target_passes=iteration,
        tokens_per_pass=3.0,
        tokens_per_second=12.5,
    )


def answer(
    request: int, text: str = "Hello.", stop_reason: messages.StopReason = "end_of_sequence"
) -> messages.Answer:
    return messages.Answer(
        request=request,
        text=text,
        token_ids=[1, 2, 3],
        log_probs=None,
        stop_reason=stop_reason,
        seed=7,
        prompt_tokens=12,
        reused_tokens=0,
        tokens=3,
        target_passes=1,
        tokens_per_pass=2.0,
        tokens_per_second=12.5,
        time_to_first_token_s=0.25,
        seconds=messages.Seconds(draft=0.2, target=0.6, stream_wait=0.1, other=0.1),
        bytes_streamed=0,
        link_gb_per_s=None,
        memory=messages.Memory(vram=0, ram=98_000_000, peak=700_000_000),
        drafter="recycling",
        budget=64,
        budgets=[64],
        recording=RECORDING,
    )


class FakeConnection:
    """Plays one engine process.

    Attributes:
        requests: the requests posted so far.
        closed: set once the engine was asked to end.
        script: called with each request; decides what the engine answers.
    """

    def __init__(self, script: "Script | None" = None) -> None:
        self.requests: list[Request] = []
        self.closed = threading.Event()
        self.script = script or load_at_once
        self._events: queue.Queue[Event | None] = queue.Queue()
        self.say(messages.Ready(engine_version="0", pid=1))

    def post(self, request: Request) -> None:
        self.requests.append(request)
        self.script(self, request)

    def close(self) -> None:
        self.closed.set()
        self._events.put(None)

    end = close

    def events(self) -> Iterator[Event]:
        while (event := self._events.get()) is not None:
            yield event
            if isinstance(event, messages.EngineLost):
                return

    def say(self, *events: Event) -> None:
        """Let the engine send events."""
        for event in events:
            self._events.put(event)

    def die(self, exit_code: int = 1) -> None:
        """Let the engine process end without being asked to."""
        self.say(
            messages.EngineLost(
                exit_code=exit_code,
                message="The engine process ended unexpectedly.",
                hint="Restart the engine.",
                log_path="/tmp/engine.log",
            )
        )

    def asked(self, kind: type[Request]) -> list[Request]:
        return [request for request in self.requests if isinstance(request, kind)]


def load_at_once(connection: FakeConnection, request: Request) -> None:
    """Answer Load and Cancel; the test sends everything else."""
    match request:
        case messages.Load():
            connection.say(loaded(request.id))
        case messages.Cancel() if connection.asked(messages.Chat):
            connection.say(answer(connection.asked(messages.Chat)[-1].id, "", "cancelled"))


class FakeEngines:
    """Creates a `FakeConnection` at each start.

    Attributes:
        made: the connections created so far.
        gate: a start waits until this event is set.
    """

    def __init__(self, script: "Script | None" = None, fails: int = 0) -> None:
        """fails: how many starts fail."""
        self.made: list[FakeConnection] = []
        self.gate = threading.Event()
        self.gate.set()
        self.script = script
        self._fails = fails

    def __call__(self) -> FakeConnection:
        assert self.gate.wait(30)
        if self._fails:
            self._fails -= 1
            raise EngineGone("The engine process did not start.", "Read the log.")
        self.made.append(FakeConnection(self.script))
        return self.made[-1]

    @property
    def last(self) -> FakeConnection:
        return self.made[-1]
