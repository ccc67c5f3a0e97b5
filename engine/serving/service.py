"""The engine as its clients see it: load, answer, unload. The engine process, the command line and a server
all use this module.

It imports what models need only when one is loaded, so that an engine starts at once. It handles one request
at a time.
"""

import gc
import os
import secrets
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from msgspec import structs

from engine import protocol
from engine.errors import NotLoaded, OutOfMemory, SpecExecError
from engine.tokenizer.chat import templates

if TYPE_CHECKING:
    from engine.serving.fit import Fitted
    from engine.serving.load import CheckedPair, LoadJob
    from engine.serving.session import Session

# How long torch's threads spin before they sleep. By default they spin so long that one busy program beside
# this one costs most of the speed. Tokens per second from SmolLM2, in plain decoding on 2 cores with 0, 1 and
# 2 busy loops beside it: by default 30, 9, 4; with this value 32, 18, 10; if the threads sleep at once
# (OMP_WAIT_POLICY=passive) 21, 30, 16.
GOMP_SPINCOUNT = "1000"

Emit = Callable[[protocol.Event], None]


class EngineService:
    """Loads a pair and answers with it. Attributes, None while nothing is loaded: `session`, the loaded pair
    and its conversation; `fitted`, the plan by which the pair was loaded."""

    def __init__(self) -> None:
        self.session: Session | None = None
        self.fitted: Fitted | None = None
        self._pair: CheckedPair | None = None

    def load(self, request: protocol.Load, emit: Emit, cancelled: Callable[[], bool]) -> protocol.Loaded:
        """Replace what is loaded by what the request names.

        Raises SpecExecError (Interrupted if the user cancels). What is loaded stays until the files and the
        request are found to be sound; after a later error, nothing is loaded.
        """
        emit(protocol.LoadProgress(request=request.id, stage="libraries", done=0, total=0))
        os.environ.setdefault("GOMP_SPINCOUNT", GOMP_SPINCOUNT)  # read once, when torch is imported
        templates.start()  # takes half a second, while this process imports and reads
        from engine.serving.load import LoadJob, check, loaded_event, plan, resolve

        job = LoadJob(request.id, emit, cancelled)
        try:
            pair = check(job, request, resolve(job, request))
            self.unload()
            self._pair, self.fitted = pair, plan(pair)
        except (MemoryError, RuntimeError) as error:
            raise out_of_memory(error) from error
        note = self.fitted.note
        for _ in range(request.smaller):
            note = self.fitted.shrink("ram") or note
        note = self._build(job, note)
        assert self.session is not None
        return loaded_event(request.id, pair, self.session, note)

    def answer(self, request: protocol.Chat, emit: Emit, cancelled: Callable[[], bool]) -> protocol.Answer:
        """Answer a chat; if memory runs out, load the pair again by the next smaller plan and start over.

        Raises SpecExecError. What is loaded stays loaded, unless loading the pair again fails.
        """
        seed = secrets.randbits(63) if request.options.seed is None else request.options.seed
        options = structs.replace(request.options, seed=seed)  # so that a second attempt gives the same text
        relay = AnswerRelay(emit)
        note = ""
        while True:
            if self.session is None or self.fitted is None:
                raise NotLoaded("No model is loaded.", "Load one first.")
            try:
                if request.fresh:
                    self.session.renew_drafters()
                answer = self.session.answer(
                    request.messages, options, relay, cancelled, request.id, request.prompt, request.template
                )
                expected = answer.drafter == self.session.drafter("auto").name
                if expected and self.session.pair.heads is None:  # the planner does not model heads
                    self.fitted.learn(answer)
                return structs.replace(answer, note=note)
            except (MemoryError, RuntimeError) as error:
                note = self._shrink(error)
            self._close()
            from engine.serving.load import LoadJob

            note = self._build(LoadJob(request.id, discard, cancelled), note)
            relay.restart()

    def count(self, request: protocol.Count) -> protocol.Counted:
        """Count the tokens of a prompt. May be called on any thread. Raises SpecExecError."""
        session = self.session
        if session is None:
            raise NotLoaded("No model is loaded.", "Load one first.")
        tokens = session.tokens_of(request.messages, request.prompt, request.template)
        return protocol.Counted(request.id, len(tokens))

    def unload(self) -> None:
        self._close()
        self.fitted = self._pair = None

    def _close(self) -> None:
        if self.session is not None:
            self.session.close()
        self.session = None
        gc.collect()  # needed because modules and their parts reference each other

    def _build(self, job: "LoadJob", note: str) -> str:
        """Build the session as planned; if memory runs out, try the next smaller plans, one after another.

        Return the note to the user about the last switch to a smaller plan, or `note` if there was none.
        Raises SpecExecError.
        """
        from engine.serving.load import build
        from engine.serving.session import Session

        while True:
            assert self._pair is not None
            assert self.fitted is not None
            plan = self.fitted.plan
            try:
                loaded = build(job, self._pair, plan)
                self.session = Session(loaded, plan.budget, self.fitted.iteration_seconds())
                return note
            except (MemoryError, RuntimeError) as error:
                note = self._shrink(error)
            self._close()

    def _shrink(self, error: Exception) -> str:
        """Switch to the next smaller plan and return a sentence about it for the user.

        Raises OutOfMemory if there is no smaller plan; `error` itself if it is not about memory.
        """
        problem = out_of_memory(error)
        full: Literal["vram", "ram"] = "vram" if _is_torchs(error) else "ram"
        note = self.fitted.shrink(full) if self.fitted else None
        if note is None:
            raise problem from error
        return note


class AnswerRelay:
    """Passes an answer's events on. If the answer is started over, `restart` makes it skip as much text as it
    has already sent."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._sent = 0  # number of characters
        self._received = 0  # number of characters since the last restart

    def __call__(self, event: protocol.Event) -> None:
        if isinstance(event, protocol.TextDelta):
            new = event.text[max(0, self._sent - self._received) :]
            self._received += len(event.text)
            if not new:
                return
            self._sent += len(new)
            event = structs.replace(event, text=new)
        self._emit(event)

    def restart(self) -> None:
        self._received = 0


def discard(event: protocol.Event) -> None:
    """Ignore the event. This is the `emit` for events that nobody needs."""


def out_of_memory(error: Exception) -> SpecExecError:
    """Return `error` as an OutOfMemory if torch or Python ran out of memory; otherwise raise it again."""
    # torch has no class of its own for a failed allocation on the CPU.
    if isinstance(error, MemoryError) or _is_torchs(error) or "DefaultCPUAllocator" in str(error):
        return OutOfMemory(
            "There is not enough free memory for this model.",
            "Close other programs, take a smaller context (--context), or load a smaller model.",
        )
    raise error


def _is_torchs(error: Exception) -> bool:
    """Return whether memory ran out on a graphics card."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(error, torch.OutOfMemoryError)
