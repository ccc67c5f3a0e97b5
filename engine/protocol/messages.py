"""Requests go to the engine, events come back. Plain data (msgspec); says nothing about where the engine runs.

Every request carries an `id` chosen by its sender; every event that answers one carries the same id as `request`.
An engine that drafts no trees (a remote server) simply never sends `TreeGrown`.
"""

from typing import Annotated, Literal, Union

import msgspec
from msgspec import Meta, Struct

__all__ = [
    "MAX_BUDGET", "Answer", "Cancel", "Chat", "Committed", "EngineLost", "Event", "Failed", "IterationDone", "Judged", "Link", "Load", "LoadProgress", "LoadStage",
    "Loaded", "Memory", "MemoryPart", "Message", "ModelInfo", "Options", "PassProgress", "PrefillProgress", "Ready", "Request", "Seconds", "Shutdown",
    "StopReason", "TextDelta", "TokenLogProbs", "TreeGrown", "TreeNodes", "Unload", "Unloaded",
    "decode_event", "decode_request", "encode", "id_of",
]  # fmt: skip

MAX_BUDGET = 4096

LoadStage = Literal["libraries", "reading", "tokenizer", "kernels", "draft", "target"]
StopReason = Literal["end_of_sequence", "stop_string", "max_new_tokens", "context_full", "cancelled"]


class Message(Struct, forbid_unknown_fields=True):
    role: Literal["system", "user", "assistant"]
    content: str


class Options(Struct, forbid_unknown_fields=True, kw_only=True):
    """How one answer is made. `None` means: the engine chooses."""

    temperature: Annotated[float, Meta(ge=0.0, le=100.0)] = 0.0
    top_p: Annotated[float, Meta(gt=0.0, le=1.0)] = 1.0
    top_k: Annotated[int, Meta(ge=0)] = 0  # 0: off
    min_p: Annotated[float, Meta(ge=0.0, le=1.0)] = 0.0
    repetition_penalty: Annotated[float, Meta(ge=0.1, le=10.0)] = 1.0
    presence_penalty: Annotated[float, Meta(ge=-100.0, le=100.0)] = 0.0
    frequency_penalty: Annotated[float, Meta(ge=-100.0, le=100.0)] = 0.0
    logit_bias: dict[
        int, Annotated[float, Meta(ge=-1000.0, le=1000.0)]
    ] = {}  # token id -> added to its logit
    log_probs: Annotated[int, Meta(ge=0, le=20)] | None = (
        None  # report each token's, and the best ones' beside it
    )
    seed: Annotated[int, Meta(ge=0, le=2**63 - 1)] | None = None  # None: a fresh one, reported in the answer
    max_new_tokens: Annotated[int, Meta(ge=1)] | None = (
        None  # None: until the model ends or the context is full
    )
    stop: list[str] = []
    drafter: str = "auto"
    budget: Annotated[int, Meta(ge=1, le=MAX_BUDGET)] | None = None  # most nodes in a tree
    beams: Annotated[int, Meta(ge=1, le=1024)] | None = None  # nodes the draft expands per round
    depth: Annotated[int, Meta(ge=1, le=1024)] | None = None  # deepest node
    # of the first iterations, one by one: an answer's, to make it again
    budgets: list[Annotated[int, Meta(ge=0, le=MAX_BUDGET)]] = []
    watch: bool = False  # somebody looks: send growing trees, how far a pass has come, and what the target said of each node


# --- requests ---------------------------------------------------------------------------------------------------------


class Load(Struct, tag=True, kw_only=True):
    """Load a target and perhaps a draft; replaces what was loaded. `draft`: an id or path, "auto" or "none"."""

    id: int
    target: str | None = None  # None: the embedded default
    draft: str = "auto"
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    device: Literal["auto", "cuda", "cpu"] = "auto"
    context: Annotated[int, Meta(ge=16)] | None = None  # tokens; None: the engine chooses
    drafter: str = "auto"  # refused here where the pair cannot run it
    # in memory as stored, or unpacked once; auto: unpacked where half of the free memory holds them
    weights: Literal["auto", "packed", "unpacked"] = "auto"
    # GiB the target's weights may take in each tier, with what streams the rest; None: as much as they take
    vram_limit: Annotated[float, Meta(gt=0)] | None = None
    ram_limit: Annotated[float, Meta(gt=0)] | None = None


class Chat(Struct, tag=True, kw_only=True):
    """Answer the last message, or go on with it where it is the assistant's: the answer's text is then what comes behind it.
    The whole list is sent each time; what the models have already seen is reused."""

    id: int
    messages: list[Message]
    options: Options = msgspec.field(default_factory=Options)


class Cancel(Struct, tag=True):
    """End the answer or the loading under way, whichever it is; an answer's text so far is kept. Never queued behind work."""

    id: int


class Unload(Struct, tag=True):
    id: int


class Shutdown(Struct, tag=True):
    id: int


Request = Union[Load, Chat, Cancel, Unload, Shutdown]

# --- events -----------------------------------------------------------------------------------------------------------


class Ready(Struct, tag=True, kw_only=True):
    """The engine process listens. First event on every connection; sent before torch is imported."""

    engine_version: str
    pid: int


class LoadProgress(Struct, tag=True, kw_only=True):
    request: int
    stage: LoadStage
    done: int  # bytes of weights made ready in this stage; 0 of 0 where a stage has no bytes
    total: int
    layer: int = 0  # layers that are whole, of those that are loaded now
    layers: int = 0


class ModelInfo(Struct, kw_only=True):
    name: str
    path: str
    architecture: str
    parameters: int
    nbytes: int  # weights in memory
    packed: bool  # kept as stored, unpacked at each product
    layers: int
    vocabulary: int


class MemoryPart(Struct, kw_only=True):
    what: Literal["target", "target_ring", "target_cache", "draft", "draft_cache", "heads"]
    tier: Literal["vram", "ram", "ssd"]  # ssd: weights read in each pass, which take no memory
    nbytes: int


class Memory(Struct, kw_only=True):
    """Bytes of weights, workspaces and KV cache held in each tier."""

    vram: int
    ram: int
    peak: int  # the most RAM the engine's process ever held, its program and libraries included
    parts: list[MemoryPart] = []


class Link(Struct, kw_only=True):
    """Where streamed weights come from in each pass."""

    kind: Literal["disk", "PCIe"]
    limit_gb_per_s: float | None  # what it carried at most when last measured; None: never measured here


class Loaded(Struct, tag=True, kw_only=True):
    request: int
    target: ModelInfo
    draft: ModelInfo | None
    drafter: str  # what "auto" stands for with this pair
    drafters: list[str]  # what this pair can run
    dtype: str
    device: str
    context: int  # tokens
    memory: Memory | None = None
    link: Link | None = None  # None where nothing is streamed
    note: str = ""  # what was done otherwise than first planned, for a person


class Unloaded(Struct, tag=True):
    request: int


class PrefillProgress(Struct, tag=True, kw_only=True):
    """Tokens of the prompt: those reused from before are counted in neither number."""

    request: int
    done: int
    total: int


class TreeNodes(Struct, kw_only=True):
    """A token tree as flat lists, one entry per node; ids are positions, parents come before children, -1 is the root."""

    root_text: str
    tokens: list[int]
    parents: list[int]
    log_probs: list[float]  # the drafter's log p(token | path)
    sources: list[
        int
    ]  # bit set, engine.tree.SOURCE_*: 1 draft model, 2 recycling, 4 n-grams, 8 lookahead, 16 heads
    texts: list[str]


class TreeGrown(Struct, tag=True, kw_only=True):
    """The tree of the iteration under way as it stands now (before the target has seen it). Only for who watches; may be dropped when slow."""

    request: int
    iteration: int
    tree: TreeNodes


class PassProgress(Struct, tag=True, kw_only=True):
    """How far the target's pass over a tree has come. Only for who watches; may be dropped when slow."""

    request: int
    iteration: int
    done: int  # layers
    total: int


class TextDelta(Struct, tag=True, kw_only=True):
    """New text of the answer. Never a broken character; what might be the start of a stop string is held back."""

    request: int
    text: str
    tokens: int  # tokens of the answer so far


class Seconds(Struct, kw_only=True):
    """Where time went, in seconds, after the prefill. Mutable: the engine adds to it."""

    draft: float = 0.0
    target: float = 0.0
    stream_wait: float = 0.0
    other: float = 0.0


class TokenLogProbs(Struct, kw_only=True):
    """The target's log-probability of a token before any processor; `top`: (token id, log-probability), best first."""

    log_prob: float
    top: list[tuple[int, float]]


class Judged(Struct, kw_only=True):
    """What the target thinks of the accepted nodes and the best others, as flat lists, one entry per node judged."""

    nodes: list[int]  # ids
    log_probs: list[float]  # the target's log p(token | path), before any processor
    ranks: list[int]  # 1: its likeliest token there


class Committed(Struct, kw_only=True):
    """The tokens an iteration gave the answer: accepted ones, then the bonus token; one entry per token."""

    start: int  # characters of the answer before them
    pieces: list[str]  # what each added, with what a stop string cuts off; "" where it completes no character
    log_probs: list[TokenLogProbs]
    top_texts: list[list[str]]  # of the tokens of each `top`


class IterationDone(Struct, tag=True, kw_only=True):
    """One iteration: the tree the target checked, the path it accepted, the bonus token. May be dropped when slow."""

    request: int
    iteration: int
    tree: TreeNodes
    accepted: list[int]  # node ids from the root down
    bonus_token: int | None  # None where the answer ended before it
    bonus_text: str
    seconds: Seconds  # of this iteration
    tokens: int  # tokens of the answer so far
    target_passes: int  # so far, after the prefill
    tokens_per_pass: float  # so far
    tokens_per_second: float  # so far
    bytes_streamed: int = 0  # in this iteration
    judged: Judged | None = None  # these two for who watches
    committed: Committed | None = None


class Answer(Struct, tag=True, kw_only=True):
    """The whole answer; the last event of a Chat that did not fail. Counting as in DESIGN section 3."""

    request: int
    text: str
    token_ids: list[int]
    log_probs: list[TokenLogProbs] | None  # of each token, where they were asked for
    stop_reason: StopReason
    seed: int
    prompt_tokens: int
    reused_tokens: int  # prompt tokens whose KV rows the target still had
    tokens: int
    target_passes: int  # after the prefill
    tokens_per_pass: float | None  # None where no pass followed the prefill
    tokens_per_second: float | None
    time_to_first_token_s: float | None  # None where none came
    seconds: Seconds
    bytes_streamed: int
    link_gb_per_s: float | None
    memory: Memory
    drafter: str
    budget: int  # the largest
    budgets: list[int]  # of each iteration
    note: str = ""  # what was done otherwise than first planned, for a person


class Failed(Struct, tag=True, kw_only=True):
    """The last event of a request that failed. The engine stays usable. Kinds: engine.errors."""

    request: int
    kind: str
    message: str
    hint: str


class EngineLost(Struct, tag=True, kw_only=True):
    """Made by EngineConnection itself when the engine process ended without being asked to; the last event."""

    exit_code: int | None
    message: str
    hint: str
    log_path: str


Event = Union[
    Ready,
    LoadProgress,
    Loaded,
    Unloaded,
    PrefillProgress,
    TreeGrown,
    PassProgress,
    TextDelta,
    IterationDone,
    Answer,
    Failed,
    EngineLost,
]

_encoder = msgspec.msgpack.Encoder()


def encode(message: Request | Event) -> bytes:
    """Half characters (a file name that is no text may hold them) are replaced: they cannot be sent."""
    try:
        return _encoder.encode(message)
    except UnicodeEncodeError:
        return _encoder.encode(_well_formed(msgspec.to_builtins(message)))


def _well_formed(value: object) -> object:
    match value:
        case str():
            return value.encode("utf-8", "replace").decode()
        case list():
            return [_well_formed(item) for item in value]
        case dict():
            return {key: _well_formed(item) for key, item in value.items()}
        case _:
            return value


class _Identified(Struct):
    id: int = 0


def id_of(data: bytes) -> int:
    """The id of a request that is not valid otherwise; 0 where it has none."""
    try:
        return msgspec.msgpack.decode(data, type=_Identified).id
    except ValueError:
        return 0


decode_request = msgspec.msgpack.Decoder(Request).decode
decode_event = msgspec.msgpack.Decoder(Event).decode
