"""Loads a pair in four steps: resolve the files that a request names, check that they fit together, plan
where the weights go, build the models."""

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from engine import catalog, firsts, planner, protocol, reads
from engine.checkpoints import Checkpoint, open_checkpoint
from engine.drafting import check_drafter, needs_heads
from engine.errors import (
    BadCheckpoint,
    BadOption,
    Interrupted,
    UnsupportedModel,
    VocabularyMismatch,
)
from engine.heads import (
    BUILT_IN,
    Heads,
    HeadsFile,
    built_in_heads,
    is_companion_of,
    load_compiled_heads,
    open_heads,
    with_borrowed,
)
from engine.heads.outline import heads_outline
from engine.launch.interpreter import need_runtime
from engine.model.architectures import family_of, is_listed
from engine.model.compiled import CompiledModel
from engine.model.description import describe
from engine.model.devices import check_context, choose_device
from engine.model.interface import Model
from engine.model.loader import load_compiled, prepare_compiled
from engine.model.self_draft import check_self_draft, load_self_draft
from engine.model.sequence import Sequence
from engine.model.shared_rows import sharing
from engine.model.substitute_files import free_for_substitutes, kept_formats, kept_shares
from engine.model.threads import use_threads
from engine.model.uniformity import damage_of
from engine.planner import HeadsOutline, Plan
from engine.serving.compatibility import check_choice, check_pair
from engine.serving.fit import Fitted, fit
from engine.serving.model_facts import heads_info, model_info
from engine.serving.pair import LoadedPair, link_of
from engine.serving.session import Session
from engine.streaming import WeightLimits
from engine.streaming.disk_watch import DiskWatch, ignore_silence
from engine.streaming.readers import reading_aside
from engine.tokenizer import Tokenizer, load_tokenizer

log = logging.getLogger(__name__)

DEFAULT_CONTEXT = 8192  # tokens, if the model allows them: enough for a long chat at tens of MB of KV cache


@dataclass(slots=True)
class LoadJob:
    """A load in progress. Reports how far the load has come, and ends it if the user cancels."""

    request: int
    emit: Callable[[protocol.Event], None]
    cancelled: Callable[[], bool]
    layers: tuple[int, int] = (0, 0)  # number of complete layers, and of layers to load

    @contextmanager
    def watching(self, name: str) -> Iterator[None]:
        """Return a context in which the client is told of a disk that does not answer, and of kernels that
        are compiled; it ends once the user cancels, even if that disk is silent. name: of the model on the
        disk."""
        watch = DiskWatch(name)
        watch.on_silence = self.show_silence
        try:
            with reading_aside(watch), firsts.told(lambda: self.report("kernels")):
                yield
        except Interrupted as error:
            raise _cancelled() from error
        finally:
            watch.on_silence = ignore_silence

    def show_silence(self, seconds: float) -> None:
        """Report for how long the disk has not answered; see `DiskWatch.on_silence`."""
        self.emit(protocol.DiskSilence(request=self.request, seconds=seconds))

    def report(self, stage: protocol.LoadStage, done: int = 0, total: int = 0) -> None:
        """Report the progress of a stage. Raises Interrupted if the user has cancelled."""
        if self.cancelled():
            raise _cancelled()
        layer, layers = self.layers
        self.emit(
            protocol.LoadProgress(
                request=self.request, stage=stage, done=done, total=total, layer=layer, layers=layers
            )
        )


def _cancelled() -> Interrupted:
    return Interrupted("Loading was cancelled.", "Load the model again when you need it.")


@dataclass(frozen=True, slots=True)
class PairFiles:
    """The opened files of a pair. At most one of `draft` and `heads` is set."""

    target_name: str
    target: Checkpoint
    draft_name: str | None = None  # the name of the draft or of the heads
    draft: Checkpoint | None = None
    heads: HeadsFile | None = None

    @property
    def drafts_for_itself(self) -> bool:
        """Whether the target is its own draft, in fewer bits."""
        return self.draft_name == planner.SELF

    @property
    def checkpoints(self) -> list[Checkpoint]:
        return [self.target, *([self.draft] if self.draft else [])]


@dataclass(frozen=True, slots=True)
class CheckedPair:
    """A pair that can run as requested.

    context: number of tokens to plan for. remarks: what makes the draft's guesses worse. damage: what there
    is to remark about files that are probably damaged.
    """

    request: protocol.Load
    files: PairFiles
    tokenizer: Tokenizer
    context: int
    remarks: list[protocol.DraftRemark]
    damage: list[protocol.DamagedWeights]

    @property
    def has_optional_heads(self) -> bool:
        """Whether the pair has heads that nobody asked for, by their name or by a drafter that needs them."""
        heads = self.files.heads
        if heads is None or self.request.draft != "auto":
            return False
        return not needs_heads(self.request.drafter, heads.method)


def resolve(job: LoadJob, request: protocol.Load) -> PairFiles:
    """Find and open the files that a request names.

    Raises ModelNotFound if a model does not exist; BadCheckpoint or UnsupportedModel if it cannot be used;
    BadOption if the target is to draft with a layer of its own that it lacks.
    """
    target_name = request.target or catalog.default_target()
    job.report("reading")
    auto = request.draft == "auto"
    draft_name = reads.aside(lambda: _draft_of(target_name)) if auto else request.draft
    target = reads.aside(lambda: open_checkpoint(_path_of(target_name)))
    if auto and (companion := reads.aside(lambda: own_companion(target_name, target))):
        return PairFiles(target_name, target, str(companion.path), heads=companion)
    own = built_in_heads(target)
    if draft_name == BUILT_IN and own is None:
        raise planner.no_own_layer(target.path.name)
    if own and (draft_name == BUILT_IN or (draft_name is None and auto)):
        return PairFiles(target_name, target, BUILT_IN, heads=own)
    if not draft_name or draft_name == "none":
        return PairFiles(target_name, target)
    if draft_name == planner.SELF:
        return PairFiles(target_name, target, draft_name)
    with job.watching(Path(draft_name).name):
        path = reads.aside(lambda: _path_of(draft_name))
        if heads := reads.aside(lambda: open_heads(path)):
            return PairFiles(target_name, target, draft_name, heads=heads)
        draft = with_borrowed(reads.aside(lambda: open_checkpoint(path)), target)
        return PairFiles(target_name, target, draft_name, draft)


def _path_of(name: str) -> Path:
    """Return the path of a model. Raises ModelNotFound if there is none."""
    with reads.noted():
        return catalog.resolve(name)


def _draft_of(target_name: str) -> str | None:
    """See `default_draft`."""
    with reads.noted():
        return default_draft(target_name)


def own_companion(target_name: str, target: Checkpoint) -> HeadsFile | None:
    """Return the companion that lies beside the target, or in the models folder; None if there is none, or
    if it is damaged or another model's."""
    with reads.noted():
        folder = catalog.companion_for(target_name)
    if folder is None:
        return None
    try:
        heads = open_heads(folder)
        if heads is not None and is_companion_of(heads, target):
            return heads
        log.warning("%s was trained for another model than %s.", folder, target.path.name)
    except (BadCheckpoint, UnsupportedModel) as error:
        log.warning("The draft that came with %s is left out: %s", target.path.name, error)
    return None


def default_draft(target: str) -> str | None:
    """Return the catalogue's draft for `target` if one is installed; else the folder of the heads that ship
    with the program; None if there are none."""
    heads = catalog.heads_for(target)
    return catalog.draft_for(target) or (str(heads) if heads else None)


def check(job: LoadJob, request: protocol.Load, files: PairFiles) -> CheckedPair:
    """Check the request and the pair before any weights are read.

    Raises BadOption if the drafter cannot run, the model does not allow the context, or the request's KV
    cache needs compiled passes that cannot run; DeviceUnavailable if the device is missing;
    VocabularyMismatch if the draft cannot run with the target.
    """
    method = files.heads.method if files.heads else None
    check_drafter(request.drafter, files.draft is not None or files.drafts_for_itself, method)
    limit = describe(files.target).positions
    if request.context and request.context > limit:
        raise BadOption(
            f"The model holds at most {limit:,} tokens of context.",
            f"Ask for {limit} or fewer.",
        )
    device = choose_device(request.device)
    if files.drafts_for_itself and not may_compile(request, device):
        raise planner.no_self_draft(on_card=device == "cuda")
    if files.drafts_for_itself:
        check_self_draft(files.target)
    if request.kv_cache != "f16" and not may_compile(request, device):
        raise _needs_compiled_passes(request.kv_cache)
    job.report("tokenizer")
    tokenizer = reads.aside(lambda: load_tokenizer(files.target))
    check_choice(tokenizer, describe(files.target).rows)
    remarks = _remarks(files.target, files.draft, tokenizer) if files.draft else []
    context = request.context or min(DEFAULT_CONTEXT, limit)
    damage = [each for each in reads.aside(lambda: [*map(damage_of, files.checkpoints)]) if each]
    for each in damage:
        named = each.model, each.damaged, each.weights, each.first
        log.warning("%s: in %d of %d weights, all numbers are the same, first in %s", *named)
    return CheckedPair(request, files, tokenizer, context, remarks, damage)


def _remarks(target: Checkpoint, draft: Checkpoint, tokenizer: Tokenizer) -> list[protocol.DraftRemark]:
    """Log and return what speaks against the pair. Raises VocabularyMismatch if the pair cannot run."""
    of_draft = reads.aside(lambda: load_tokenizer(draft))
    remarks = check_pair(tokenizer, of_draft, describe(target).rows, describe(draft).rows)
    for remark in remarks:
        log.warning("%s with %s: %s", target.path.name, draft.path.name, remark)
    return remarks


def plan(pair: CheckedPair) -> Fitted:
    """Plan where the pair's weights go on this machine. Raises OutOfMemory if no plan fits, or if a context
    that the request sets does not fit; the errors of `heads_outline` for heads that the request names."""
    request = pair.request
    device = choose_device(request.device)
    if request.context:
        compiles = may_compile(request, device)
        compiled = compiles and family_of(pair.files.target.architecture).compiled
        exact = request.dtype == "float32" or (request.dtype == "auto" and device == "cpu" and not compiled)
        form = "F32" if exact else request.kv_cache.upper()
        check_context(pair.files.checkpoints, request.context, form, device, compiles)
    chosen = device if device == "cpu" or request.device == "cuda" else None
    files, optional = pair.files, pair.has_optional_heads
    own = kept_formats(files.target) if files.drafts_for_itself else None
    heads = planned_heads(files.heads, files.target, optional) if files.heads else None
    models = files.target, files.draft
    return fit(request, *models, chosen, pair.context, own, heads, optional)


def planned_heads(file: HeadsFile, target: Checkpoint, optional: bool) -> HeadsOutline | None:
    """Return the outline of heads; None if they are optional and do not fit the target. The errors are those
    of `heads_outline`."""
    with _left_out_if(optional, file, target):
        return planner.layer_outline(target) if file.layer else heads_outline(file, target)
    return None


@contextmanager
def _left_out_if(optional: bool, file: HeadsFile, target: Checkpoint) -> Iterator[None]:
    """Log errors that say that heads do not fit, instead of raising them, if nobody asked for these heads."""
    try:
        yield
    except (BadCheckpoint, UnsupportedModel, VocabularyMismatch) as error:
        if not optional:
            raise
        log.warning("%s runs without the draft %s: %s", target.path.name, file.path.name, error)


def build(job: LoadJob, pair: CheckedPair, plan: Plan) -> LoadedPair:
    """Read the weights and build the models as planned.

    Raises SpecExecError (Interrupted if the user cancels); MemoryError or an error from torch if memory runs
    out. After an error, nothing stays loaded.
    """
    device = choose_device(plan.device)
    compiled, cache = may_compile(pair.request, plan.device), pair.request.kv_cache
    job.report("kernels")
    threads = use_threads(pair.request.threads)
    if compiled:
        for file in pair.files.checkpoints:
            prepare_compiled(file)

    def load(stage: Literal["draft", "target"], file: Checkpoint) -> Model:
        def progress(done: int, total: int) -> None:
            job.report(stage, done, total)

        def layer_progress(done: int, total: int) -> None:
            job.layers = done, total

        layer_progress(0, 0)
        unpacked = plan.target_unpacked if stage == "target" else plan.draft_unpacked
        limits = weight_limits(plan) if stage == "target" else None
        size = pair.tokenizer.vocabulary_size
        if compiled:
            model = load_compiled(file, progress, plan.context, size, limits, layer_progress, cache.upper())
            if model is not None:
                return model
            if cache != "f16":
                raise _needs_compiled_passes(cache)
        need_runtime(f"The model {file.path.name}" if compiled else "This way of computing")
        from engine.torch_model.loader import choose_dtype, load_model, prepare

        dtype = choose_dtype(pair.request.dtype, device)
        prepare(file, dtype)
        return load_model(
            file,
            dtype,
            device,
            progress,
            plan.context,
            size,
            not unpacked,
            limits,
            layer_progress,
            plan.help_once_loaded(pair.request.processor_helps),
        )

    draft_model = None
    if pair.files.draft:
        with job.watching(pair.files.draft.path.name):
            draft_model = load("draft", pair.files.draft)
    target_model = load("target", pair.files.target)
    try:
        wanted = pair.files.heads
        if plan.heads is None:
            wanted = None  # by themselves, heads load where there is memory, and a layer where it pays
        heads = None
        if wanted:
            optional = _left_out_if(pair.has_optional_heads, wanted, pair.files.target)
            with optional, job.watching(wanted.path.name):
                job.layers = 0, 0
                job.report("draft")
                heads = _heads(wanted, target_model, plan.context)
        draft: Sequence | None
        if pair.files.drafts_for_itself:
            own = self_draft(target_model, pair.files.target, plan, cache.upper(), job)
            target, draft = sharing(target_model, own, plan.context)
        else:
            target = Sequence(target_model, plan.context)
            draft = Sequence(draft_model, plan.context) if draft_model else None
    except BaseException:
        target_model.close()
        raise
    if "torch" in sys.modules:
        from engine.torch_model.threads import share_cores

        models = [model for model in (target_model, draft_model) if model]
        share_cores(all(isinstance(model, CompiledModel) for model in models), pair.request.threads)
    return LoadedPair(target, draft, pair.tokenizer, heads, threads if plan.device == "cpu" else None)


def self_draft(target: Model, file: Checkpoint, plan: Plan, cache: str, job: LoadJob) -> CompiledModel:
    """Return a draft made of the target itself. The errors are those of `load_self_draft`."""

    def progress(done: int, total: int) -> None:
        job.report("draft", done, total)

    job.layers = 0, 0
    assert plan.substitutes is not None
    return load_self_draft(target, file, plan.context, plan.substitutes, progress, cache)


def release_device_memory() -> None:
    """Give the memory of unloaded models back to the graphics card. Only called if torch is imported."""
    from engine.torch_model.device_memory import release

    release()


def may_compile(request: protocol.Load, device: str) -> bool:
    """Return whether models run compiled passes as far as these cover them."""
    return device == "cpu" and request.dtype == "auto" and request.weights != "unpacked"


def _needs_compiled_passes(cache: str) -> BadOption:
    return BadOption(
        f"Only compiled passes on the processor keep the context in {cache}; here, a model runs otherwise.",
        "Keep it in 16 bits (--kv-cache f16), or let the processor compute with weights as stored "
        "(--device cpu --dtype auto); mixtures need 16 bits, and so do GPTQ and AWQ that go through torch.",
    )


def _heads(file: HeadsFile, target: Model, context: int) -> Heads:
    heads = load_compiled_heads(file, target, context)
    if heads is None:
        need_runtime(f"The draft {file.path.name}")
        from engine.torch_model.heads import load_heads

        heads = load_heads(file, target, context)
    return heads


def weight_limits(plan: Plan) -> WeightLimits | None:
    """Return the memory limits for the target's weights, or None if all weights stay resident."""
    device_nbytes, host_nbytes = plan.vram_limit_nbytes, plan.ram_limit_nbytes
    if plan.device == "cpu":
        device_nbytes, host_nbytes = plan.ram_limit_nbytes, None
    return None if device_nbytes is None else WeightLimits(device_nbytes, host_nbytes)


def loaded_event(
    request: int, pair: CheckedPair, fitted: Fitted, session: Session, remarks: list[protocol.LoadRemark]
) -> protocol.Loaded:
    """Return the event that describes what was loaded as `fitted`. remarks: those about the card, and about
    what was dropped; the event has those about files and plan, too."""
    files, loaded = pair.files, session.pair
    draft = None
    if files.draft_name and loaded.draft:
        draft = model_info(files.draft_name, files.draft or files.target, loaded.draft.model)
    elif files.heads and loaded.heads:
        draft = heads_info(files.heads, loaded.heads, loaded.target.model.vocabulary)
    span = next(iter(files.target.weights.values())).spans[0]
    return protocol.Loaded(
        request=request,
        target=model_info(files.target_name, files.target, loaded.target.model),
        draft=draft,
        drafter=session.drafter("auto").name,
        drafters=session.drafters(),
        dtype=loaded.target.model.arithmetic,
        device=loaded.target.model.device,
        context=session.context,
        longest_context=describe(files.target).positions,
        token_nbytes=loaded.token_nbytes,
        memory=loaded.memory,
        link=link_of(loaded.target, span.file.parent),
        threads=loaded.threads,
        remarks=[
            *pair.damage,
            *fitted.remarks,
            *remarks,
            *_unlisted(files),
            *_text_only(files),
            *pair.remarks,
        ],
        own_draft=_own_draft(pair, fitted),
        chat_template=loaded.tokenizer.chat_template or "",
    )


def _own_draft(pair: CheckedPair, fitted: Fitted) -> protocol.OwnDraft | None:
    """Return what the target would gain as its own draft, if the choice is left to the engine."""
    plan, file = fitted.plan, pair.files.target
    if pair.request.draft != "auto" or not plan.streams or not may_compile(pair.request, plan.device):
        return None
    try:
        check_self_draft(file)
    except BadOption:
        return None
    asked, history, kept = fitted.asked, planner.history(), kept_shares(file)
    found = planner.own_draft(fitted.machine, fitted.pair, asked, plan, history, kept)
    return found if found and found.nbytes <= free_for_substitutes() else None


def _unlisted(files: PairFiles) -> list[protocol.UnlistedArchitecture]:
    """Return a remark about each model whose architecture is not declared. It has passed its proof, for it
    was loaded."""
    return [
        protocol.UnlistedArchitecture(model=file.path.name, architecture=file.architecture)
        for file in files.checkpoints
        if not is_listed(file.architecture)
    ]


def _text_only(files: PairFiles) -> list[protocol.TextOnly]:
    """Return a remark if the target has an encoder of images or sound."""
    return [protocol.TextOnly(model=files.target.path.name)] if files.target.vision else []
