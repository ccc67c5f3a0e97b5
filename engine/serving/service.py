"""The engine as its clients see it: load, answer, unload. The engine process, the command line and a server
all use this module.

It imports what models need only when one is loaded, so that an engine starts at once. It handles one request
at a time.
"""

import gc
import logging
import os
import secrets
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from engine import protocol
from engine.errors import (
    ALLOCATION_ERRORS,
    CardFailed,
    NotLoaded,
    OutOfMemory,
    SpecExecError,
    card_stopped,
    exhausted_tier,
)
from engine.serving import heap
from engine.tokenizer.chat import templates

if TYPE_CHECKING:
    from engine.prompt_cache import PromptCache
    from engine.proof.card_proof import CardProof
    from engine.serving.fit import Fitted
    from engine.serving.load import CheckedPair, LoadJob
    from engine.serving.session import Session

log = logging.getLogger(__name__)

# How long torch's threads spin before they sleep. By default they spin so long that one busy program beside
# this one costs most of the speed. Tokens per second from SmolLM2, in plain decoding on 2 cores with 0, 1 and
# 2 busy loops beside it: by default 30, 9, 4; with this value 32, 18, 10; if the threads sleep at once
# (OMP_WAIT_POLICY=passive) 21, 30, 16.
GOMP_SPINCOUNT = "1000"

Emit = Callable[[protocol.Event], None]


class EngineService:
    """Loads a pair and answers with it. Attributes, None while nothing is loaded: `session`, the loaded pair
    and its conversation; `fitted`, the plan by which the pair was loaded; `loaded`, the event that describes
    both, another one once an answer had to load the pair again."""

    def __init__(self) -> None:
        self.session: Session | None = None
        self.fitted: Fitted | None = None
        self.loaded: protocol.Loaded | None = None
        self._about_card: list[protocol.LoadRemark] = []
        self._pair: CheckedPair | None = None
        self._proof: CardProof | None = None
        self._prompts: PromptCache | None = None

    def load(self, request: protocol.Load, emit: Emit, cancelled: Callable[[], bool]) -> protocol.Loaded:
        """Replace what is loaded by what the request names.

        Raises SpecExecError (Interrupted if the user cancels; DiskSilent if a disk does not answer for
        minutes, of which `emit` is told before). What is loaded stays until the files and the request are
        found to be sound; after a later error, nothing is loaded.
        """
        emit(protocol.LoadProgress(request=request.id, stage="libraries", done=0, total=0))
        os.environ.setdefault("GOMP_SPINCOUNT", GOMP_SPINCOUNT)  # read once, when torch is imported
        templates.start()  # takes half a second, while this process imports and reads
        from engine.serving.card import proven
        from engine.serving.load import LoadJob, check, plan, resolve

        job = LoadJob(request.id, emit, cancelled)
        with job.watching(Path(request.target or "").name or "the model"):
            try:
                pair = check(job, request, resolve(job, request))
                job.report("planning")  # which frees what was loaded before, too
                self._close()
                self._keep_prompts(request)
                self._pair = self.fitted = self._proof = None
                pair, self._proof, self._about_card = proven(job, pair)
                job.report("planning")
                self._pair, self.fitted = pair, plan(pair)
            except ALLOCATION_ERRORS as error:
                raise self._problem(error) from error
            for _ in range(request.smaller):
                self.fitted.shrink("ram")
            return self._describe(self._build(job, warm=True))

    def answer(self, request: protocol.Chat, emit: Emit, cancelled: Callable[[], bool]) -> protocol.Answer:
        """Answer a chat; if memory runs out, load the pair again by the next smaller plan and go on behind
        the tokens committed so far, whose text the client has. In 16 bits, another plan may compute other
        tokens; what was sent stays, and what follows is the target's own choice after it.

        Raises SpecExecError. What is loaded stays loaded, unless loading the pair again fails.
        """
        seed = secrets.randbits(63) if request.options.seed is None else request.options.seed
        options = structs.replace(request.options, seed=seed)  # so that a second attempt draws the same noise
        request = structs.replace(request, options=options)
        begun = None
        remarks: list[protocol.AnswerRemark] = []
        while True:
            if self.session is None or self.fitted is None:
                raise NotLoaded("No model is loaded.", "Load one first.")
            request = self._with_drafter(request)
            try:
                if request.fresh:
                    self.session.renew_drafters()
                answer = self.session.answer(request, emit, cancelled, begun)
                usual = begun is None and request.options.recording is None
                expected = usual and answer.drafter == self.session.drafter("auto").name
                if expected and self._is_predicted(answer.drafter):
                    self.fitted.learn(self.session.usual)
                self.session.pair.target.model.remember()
                return structs.replace(answer, remarks=[*answer.remarks, *remarks])
            except ALLOCATION_ERRORS as error:
                remark = self._shrink(error)
            begun = self.session.begun
            self._close()
            from engine.serving.load import LoadJob

            assert self._pair is not None
            job = LoadJob(request.id, silence_only(emit), cancelled)
            with job.watching(self._pair.files.target.path.name):
                built = self._build(job)
                remarks = protocol.latest([*remarks, remark, *built])
                self._describe()

    def prepare(self, ends: Callable[[], bool]) -> None:
        """Do what answers over longer texts would have to do first, until `ends` returns true. For moments
        when nobody waits for an answer."""
        if self.session is not None:
            from engine.serving.warm_up import record_ahead

            record_ahead(self.session, ends)

    def _with_drafter(self, request: protocol.Chat) -> protocol.Chat:
        """Return the request with the usual drafter if its own needs heads that were given up, in this answer
        or before: the text is the same."""
        from engine.drafting import needs_heads

        assert self._pair is not None
        assert self.fitted is not None
        heads = self._pair.files.heads
        if heads is None or self.fitted.given_up is None:
            return request
        if not needs_heads(request.options.drafter, heads.method):
            return request
        return structs.replace(request, options=structs.replace(request.options, drafter="auto"))

    def _is_predicted(self, drafter: str) -> bool:
        """Return whether the plan predicts how fast this drafter is. Of heads, it does for the target's own
        layer only; and it knows nothing of one that it counts on and that could not be loaded."""
        from engine.drafting import uses_heads

        assert self.session is not None
        assert self.fitted is not None
        heads, own_layer = self.session.pair.method, self.fitted.plan.heads == "own layer"
        return own_layer and uses_heads(drafter, heads) if heads else not own_layer

    def count(self, request: protocol.Count) -> protocol.Counted:
        """Count the tokens of a prompt. May be called on any thread. Raises SpecExecError."""
        from engine.serving.prompts import prompt_tokens

        session = self.session
        if session is None:
            raise NotLoaded("No model is loaded.", "Load one first.")
        tokens = prompt_tokens(session.pair.tokenizer, request.messages, request.prompt, request.template)
        return protocol.Counted(request.id, len(tokens))

    def forget(self, request: protocol.Forget) -> protocol.Forgotten:
        """Delete what is kept of a conversation, or of all, in memory and on the disk."""
        from engine.prompt_cache.files import clear_on_disk, forget_on_disk

        if request.conversation is None:
            if self.session is not None:
                self.session.forget()
            ram, disk = self._prompts.clear() if self._prompts is not None else (0, 0)
            if self._prompts is None or self._prompts.files is None:
                disk = clear_on_disk()
            return protocol.Forgotten(request.id, ram, disk)
        if self.session is not None:
            self.session.forget_conversation(request.conversation)
        if self._prompts is not None:
            self._prompts.forget(request.conversation)
        if self._prompts is None or self._prompts.files is None:
            forget_on_disk(request.conversation)
        return protocol.Forgotten(request.id)

    def unload(self) -> None:
        """Free the models' memory; returns once the prompt cache is on the disk, if it is kept there."""
        self._close()
        self.fitted = self._pair = None
        self._end_prompts()

    def _keep_prompts(self, request: protocol.Load) -> None:
        """Keep the prompt cache of the models loaded before, or begin one if the request wishes another."""
        from engine.serving.known_prompts import prompt_cache

        before = self._pair.request if self._pair else None
        sizes = [(each.prompt_cache, each.prompt_cache_disk) for each in (request, before) if each]
        if self._prompts is None or len(set(sizes)) != 1:
            self._end_prompts()
            self._prompts = prompt_cache(request)

    def _end_prompts(self) -> None:
        if self._prompts is not None:
            self._prompts.close()
        self._prompts = None

    def _close(self) -> None:
        try:
            if self.session is not None:
                self.session.close()
        finally:
            self.session = self.loaded = None
        gc.collect()  # needed because modules and their parts reference each other
        if "torch" in sys.modules:
            from engine.serving.load import release_device_memory

            release_device_memory()
        heap.give_back()

    def _close_after_error(self) -> None:
        try:
            self._close()
        except RuntimeError as error:
            if not card_stopped(error):
                raise
            log.warning("What a card that has stopped holds stays as it is: %s", error)

    def _build(self, job: "LoadJob", warm: bool = False) -> list[protocol.Shortage]:
        """Build the session as planned; if memory runs out, try the next smaller plans, one after another.

        warm: whether a card compiles and records what answers need; an answer that waits needs only a part
        of it. Return the remarks about what was given up because memory ran out. Raises SpecExecError; then,
        nothing stays loaded.
        """
        from engine.serving.known_prompts import attach
        from engine.serving.load import build
        from engine.serving.session import Session
        from engine.serving.warm_up import warm_up

        remarks: list[protocol.Shortage] = []
        while True:
            assert self._pair is not None
            assert self.fitted is not None
            plan, done = self.fitted.plan, False
            try:
                loaded = build(job, self._pair, plan)
                self.fitted.has_unfit_heads = plan.heads is not None and loaded.heads is None
                if self._prompts is not None:
                    attach(self._prompts, self._pair, loaded)
                self.session = Session(loaded, self.fitted.trees())
                if warm:
                    warm_up(job, self.session, self._pair.request.drafter, self._proof)
                done = True
                return remarks
            except ALLOCATION_ERRORS as error:
                remarks.append(self._shrink(error))
            finally:
                if not done:
                    self._close_after_error()

    def _describe(self, shortages: Sequence[protocol.Shortage] = ()) -> protocol.Loaded:
        """Return the event about what is loaded now, which is kept. shortages: the remarks about what was
        given up while it was loaded; an answer has its own."""
        from engine.serving.load import loaded_event

        assert self._pair is not None
        assert self.fitted is not None
        assert self.session is not None
        dropped = [each for each in shortages if isinstance(each, protocol.PromptsDropped)][:1]
        about_card: Sequence[protocol.LoadRemark] = self._about_card
        if self._proof:
            about_card = self._proof.remarks  # a kernel may have failed since the card was proven
        remarks: list[protocol.LoadRemark] = [*dropped, *about_card]
        try:
            self.loaded = loaded_event(self._pair.request.id, self._pair, self.fitted, self.session, remarks)
        except BaseException:  # the disk is asked once more
            self._close_after_error()
            raise
        return self.loaded

    def _shrink(self, error: Exception) -> protocol.Shortage:
        """Drop the rows of other conversations, or else switch to the next smaller plan. Return the
        remark about it.

        Raises OutOfMemory if there is no smaller plan; CardFailed if the card has stopped; `error` itself if
        it is about something else.
        """
        problem = self._problem(error)
        full = exhausted_tier(error)
        if self._prompts is not None and full == "ram" and self._prompts.shrink(0):
            log.warning("Memory ran out: the rows of other conversations were dropped.")
            return protocol.PromptsDropped()
        smaller = self.fitted.shrink(full) if self.fitted and full else None
        if smaller is None:
            raise problem from error
        return smaller

    def _problem(self, error: Exception) -> SpecExecError:
        """Return `error` as an OutOfMemory if memory ran out, or as a CardFailed if the card has stopped,
        which is then remembered if a kernel may have caused it and the card was proven; otherwise raise it
        again."""
        cause = card_stopped(error)
        if cause is None:
            return out_of_memory(error)
        if cause == "kernel" and self._proof is not None:
            self._proof.step_back(type(error).__name__)
            return CardFailed("kernel")
        return CardFailed("fault")


def silence_only(emit: Emit) -> Emit:
    """Return what emits for how long a disk has not answered, and ignores all other events."""

    def passed_on(event: protocol.Event) -> None:
        if isinstance(event, protocol.DiskSilence):
            emit(event)

    return passed_on


def out_of_memory(error: Exception) -> SpecExecError:
    """Return `error` as an OutOfMemory if memory ran out; otherwise raise it again."""
    if exhausted_tier(error):
        return OutOfMemory(
            "There is not enough free memory for this model.",
            "Close other programs, take a smaller context (--context), or load a smaller model.",
        )
    raise error
