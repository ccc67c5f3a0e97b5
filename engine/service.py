"""What an engine does for whoever asks: load, answer, unload. The process, the command line and a server all
go through this.

Imports torch only when something is loaded, so that an engine is there at once. One request at a time.
"""

import gc
import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from msgspec import structs

from engine import catalog, protocol
from engine.errors import BadOption, Interrupted, NotLoaded, OutOfMemory, SpecExecError, VocabularyMismatch
from engine.speech import Emit, Speech

if TYPE_CHECKING:
    from engine.checkpoints import Checkpoint
    from engine.fitting import Fitted
    from engine.heads import Heads, HeadsFile
    from engine.model import Model
    from engine.planner import Plan
    from engine.session import Session
    from engine.streaming import Limits

# How long torch's threads spin before they sleep. By default they spin so long that one busy program beside
# us costs most of the speed. SmolLM2, plain decoding on 2 cores, tokens/s with 0, 1, 2 busy loops beside it:
# default 30, 9, 4; this 32, 18, 10; sleeping at once (OMP_WAIT_POLICY=passive) 21, 30, 16.
GOMP_SPINCOUNT = "1000"
DEFAULT_CONTEXT = 8192  # tokens, where the model allows them: room for a long chat at tens of MB of KV cache


@dataclass(slots=True)
class Loading:
    """One Load under way: reports progress, and ends it when the user wishes."""

    request: int
    emit: Emit
    cancelled: Callable[[], bool]
    layers: tuple[int, int] = (0, 0)  # whole, of those loaded

    def report(self, stage: protocol.LoadStage, done: int = 0, total: int = 0) -> None:
        from engine.session import Cancelled

        if self.cancelled():
            raise Cancelled
        layer, layers = self.layers
        progress = protocol.LoadProgress(
            request=self.request, stage=stage, done=done, total=total, layer=layer, layers=layers
        )
        self.emit(progress)


class Engine:
    """Attributes: `session` and `fitted`, how its models were loaded (None while nothing is loaded)."""

    def __init__(self) -> None:
        self.session: Session | None = None
        self.fitted: Fitted | None = None
        self._request: protocol.Load | None = None

    def load(self, request: protocol.Load, emit: Emit, cancelled: Callable[[], bool]) -> protocol.Loaded:
        """Replace what is loaded. Raises SpecExecError (cancelled: Interrupted); nothing is loaded then."""
        self.unload()
        emit(protocol.LoadProgress(request=request.id, stage="libraries", done=0, total=0))
        os.environ.setdefault("GOMP_SPINCOUNT", GOMP_SPINCOUNT)  # read once, when torch is imported
        return self._load_smaller(request, Loading(request.id, emit, cancelled), "")

    def answer(self, request: protocol.Chat, emit: Emit, cancelled: Callable[[], bool]) -> protocol.Answer:
        """Raises SpecExecError; what is loaded stays loaded. Where memory runs out, what is loaded is loaded
        again by the next smaller plan, and answers."""
        seed = secrets.randbits(63) if request.options.seed is None else request.options.seed
        options = structs.replace(request.options, seed=seed)  # so that a second attempt says the same
        speech = Speech(emit)
        note = ""
        while True:
            if self.session is None or self.fitted is None or self._request is None:
                raise NotLoaded("No model is loaded.", "Load one first.")
            try:
                answer = self.session.answer(request.messages, options, speech, cancelled, request.id)
                expected = answer.drafter == self.session.drafter("auto").name
                if expected and self.session.pair.heads is None:  # of which the planner knows nothing
                    self.fitted.learn(answer)
                return structs.replace(answer, note=note)
            except (MemoryError, RuntimeError) as error:
                note = self._shrink(error)
            self._close()
            note = self._load_smaller(self._request, Loading(request.id, speech.silent, cancelled), note).note
            speech.begin_again()

    def unload(self) -> None:
        self._close()
        self.fitted = None

    def _close(self) -> None:
        if self.session is not None:
            self.session.close()
        self.session = None
        gc.collect()  # modules and their parts hold each other

    def _load_smaller(self, request: protocol.Load, loading: Loading, note: str) -> protocol.Loaded:
        """Load by the plan, or where memory runs out, by the next smaller ones. note: what was said of that
        before."""
        from engine.session import Cancelled

        while True:
            try:
                return structs.replace(self._load(request, loading), note=note)
            except Cancelled:
                raise Interrupted("Loading was ended.", "Load the model again when you need it.") from None
            except (MemoryError, RuntimeError) as error:
                note = self._shrink(error)
            self._close()

    def _shrink(self, error: Exception) -> str:
        """Go on to the next smaller plan, and say so. Raises OutOfMemory where there is none; `error` itself
        where it is something else."""
        import torch

        problem = out_of_memory(error)
        full: Literal["vram", "ram"] = "vram" if isinstance(error, torch.OutOfMemoryError) else "ram"
        said = self.fitted.shrink(full) if self.fitted else None
        if said is None:
            raise problem from error
        return said

    def _load(self, request: protocol.Load, loading: Loading) -> protocol.Loaded:
        from engine.checkpoints import open_checkpoint
        from engine.drafting import check_drafter
        from engine.fitting import fit
        from engine.heads import load_heads, open_heads, with_borrowed
        from engine.loading import (
            check_context,
            choose_device,
            choose_dtype,
            load_model,
            model_config,
            prepare,
        )
        from engine.pair import Pair
        from engine.sequence import Sequence
        from engine.session import Session
        from engine.tokenizer import check_same_vocabulary, load_tokenizer
        from engine.watching import link_of

        target_name = request.target or catalog.default_target()
        draft_name = _draft_of(target_name) if request.draft == "auto" else request.draft
        draft_name = None if draft_name == "none" else draft_name
        loading.report("reading")
        target_file = open_checkpoint(catalog.resolve(target_name))
        draft_path = catalog.resolve(draft_name) if draft_name else None
        heads_file = open_heads(draft_path) if draft_path else None
        draft_file = (
            with_borrowed(open_checkpoint(draft_path), target_file) if draft_path and not heads_file else None
        )
        check_drafter(request.drafter, draft_file is not None, heads_file.method if heads_file else None)
        limit: int = model_config(target_file).max_position_embeddings
        if request.context and request.context > limit:
            raise BadOption(
                f"The model holds at most {limit:,} tokens of context.",
                f"Ask for {limit} or fewer.",
            )
        context = request.context or min(DEFAULT_CONTEXT, limit)
        device = choose_device(request.device)
        dtype = choose_dtype(request.dtype, device)

        files = [target_file, *([draft_file] if draft_file else [])]
        if request.context:
            check_context(files, context, dtype, device)
        if self.fitted is None:
            on: Literal["cuda", "cpu"] = "cuda" if device.type == "cuda" else "cpu"
            chosen = on if on == "cpu" or request.device == "cuda" else None
            itemsize = None if request.dtype == "auto" else dtype.itemsize
            self.fitted = fit(request, target_file, draft_file, chosen, itemsize, context)
        plan, self._request = self.fitted.plan, request
        context, device = plan.context, choose_device(plan.device)
        dtype = choose_dtype(request.dtype, device)

        loading.report("tokenizer")
        tokenizer = load_tokenizer(target_file)
        if draft_file:
            check_same_vocabulary(tokenizer, load_tokenizer(draft_file))

        loading.report("kernels")
        for file in files:
            prepare(file, dtype)

        def model(stage: protocol.LoadStage, file: "Checkpoint") -> "Model":
            def watch(done: int, total: int) -> None:
                loading.report(stage, done, total)

            def layer_watch(done: int, total: int) -> None:
                loading.layers = done, total

            layer_watch(0, 0)
            unpacked = plan.target_unpacked if stage == "target" else plan.draft_unpacked
            limits = weight_limits(plan) if stage == "target" else None
            size = tokenizer.vocabulary_size
            return load_model(file, dtype, device, watch, context, size, not unpacked, limits, layer_watch)

        draft_model = model("draft", draft_file) if draft_file else None
        target_model = model("target", target_file)
        try:
            if draft_model and draft_model.vocabulary < target_model.vocabulary:
                raise VocabularyMismatch(
                    f"The draft has {draft_model.vocabulary:,} tokens, "
                    f"the target {target_model.vocabulary:,}.",
                    "Choose a draft of the target's model family, or run without a draft model.",
                )
            heads = load_heads(heads_file, target_model, context) if heads_file else None
            target = Sequence(target_model, context)
            draft = Sequence(draft_model, context) if draft_model else None
        except BaseException:
            target_model.close()
            raise
        self.session = Session(Pair(target, draft, tokenizer, heads), None if heads else plan.budget)
        return protocol.Loaded(
            request=request.id,
            target=model_info(target_name, target_file, target_model),
            draft=model_info(draft_name, draft_file, draft_model)
            if draft_name and draft_file and draft_model
            else heads_info(heads_file, heads, target_model.vocabulary)
            if heads_file and heads
            else None,
            drafter=self.session.drafter("auto").name,
            drafters=self.session.drafters(),
            dtype=str(dtype).removeprefix("torch."),
            device=device.type,
            context=context,
            memory=self.session.pair.memory,
            link=link_of(target, target_file.path if target_file.path.is_dir() else target_file.path.parent),
        )


def _draft_of(target: str) -> str | None:
    """The draft the catalogue names, where it is here; else heads that come with the program."""
    heads = catalog.heads_for(target)
    return catalog.draft_for(target) or (str(heads) if heads else None)


def weight_limits(plan: "Plan") -> "Limits | None":
    """None: nothing is streamed."""
    from engine.streaming import Limits

    if plan.device == "cpu":
        return None if plan.ram_limit is None else Limits(plan.ram_limit)
    return None if plan.vram_limit is None else Limits(plan.vram_limit, plan.ram_limit)


def model_info(name: str, file: "Checkpoint", model: "Model") -> protocol.ModelInfo:
    return protocol.ModelInfo(
        name=catalog.entries()[name].name if name in catalog.entries() else file.path.stem,
        path=str(file.path),
        architecture=file.architecture,
        parameters=sum(weight.numel for weight in file.weights.values()),
        nbytes=model.nbytes,
        packed=model.packed,
        layers=model.layers,
        vocabulary=model.vocabulary,
    )


def heads_info(file: "HeadsFile", heads: "Heads", vocabulary: int) -> protocol.ModelInfo:
    return protocol.ModelInfo(
        name=file.path.name,
        path=str(file.path),
        architecture=file.kind,
        parameters=heads.parameters,
        nbytes=heads.nbytes,
        packed=False,
        layers=heads.layers,
        vocabulary=vocabulary,
    )


def out_of_memory(error: Exception) -> SpecExecError:
    """`error` as an OutOfMemory where torch or Python ran out of it; else it is raised again."""
    import torch

    # torch has no class of its own for a failed allocation on the CPU.
    if isinstance(error, MemoryError | torch.OutOfMemoryError) or "DefaultCPUAllocator" in str(error):
        return OutOfMemory(
            "There is not enough free memory for this.",
            "Close other programs, take a smaller context (--context), or load a smaller model.",
        )
    raise error
