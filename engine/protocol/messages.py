"""The messages of the protocol: requests to the engine and events from it. Plain data (msgspec).

Every request has an `id`, which its sender chooses; every event that answers it repeats the id in `request`.
An engine that drafts no trees, such as a remote server, never sends `TreeGrown`.
"""

from typing import Annotated, Literal, Union

import msgspec
from msgspec import Meta, Struct

__all__ = [
    "CARD_FAILED_STATUS", "MAX_BUDGET", "Answer", "AnswerBegun", "Cancel", "Chat", "Committed", "Constraint", "Count", "Counted", "EngineLost", "Event", "Failed", "Forget", "Forgotten",
    "IterationDone", "Judged", "Leave", "Left", "Link", "Load", "LoadProgress", "LoadStage", "Loaded", "Memory", "MemoryPart", "Message", "ModelInfo",
    "NowLoaded", "Options", "Overlap", "PassProgress", "PrefillProgress", "Ready", "Request", "Seconds", "Shutdown", "Speculation", "Step", "StopReason", "Task", "Tasks",
    "TemplateInput", "TemplateOption", "TextDelta", "TokenLogProbs", "Tool", "ToolCall", "TreeGrown", "TreeNodes", "Unload", "Unloaded",
    "begun_in", "decode_event", "decode_request", "encode", "id_of",
]  # fmt: skip

MAX_BUDGET = 4096
LogProb = Annotated[float, Meta(le=1.0)]  # rounding may take a certain token's a little above 0

Overlap = Literal["auto", "on", "off"]
LoadStage = Literal["libraries", "reading", "tokenizer", "kernels", "draft", "target"]
StopReason = Literal[
    "end_of_sequence", "stop_string", "max_new_tokens", "context_full", "repetition", "cancelled"
]


class ToolCall(Struct, forbid_unknown_fields=True, kw_only=True):
    """A call of a function, as an answer made it."""

    id: str
    name: str
    arguments: str  # a JSON object, if the model wrote one


class Message(Struct, forbid_unknown_fields=True, omit_defaults=True):
    role: Literal["system", "user", "assistant", "tool"]
    content: str
    thought: str = ""  # the thought before this answer; the chat template decides whether the model reads it
    calls: list[ToolCall] = []  # the functions that this answer calls
    call_id: str = ""  # the call whose result a tool's message is
    name: str = ""  # the name of the function that gave the result


def begun_in(messages: list[Message]) -> str:
    """Return the beginning of the answer: the last message if it is a text of the assistant's, or else ""."""
    last = messages[-1] if messages else None
    return last.content if last and last.role == "assistant" and not last.calls else ""


class Tool(Struct, forbid_unknown_fields=True, kw_only=True):
    """A function that an answer may call."""

    name: str
    description: str = ""
    parameters: str = "{}"  # the JSON schema of its arguments


TemplateOption = bool | int | float | str


class TemplateInput(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """What the model's chat template reads besides the messages."""

    tools: list[Tool] = []
    options: dict[
        str, TemplateOption
    ] = {}  # variables such as enable_thinking; templates ignore unknown ones


class Constraint(Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """What the text of an answer must be. A thought before the answer is not constrained."""

    kind: Literal["json_schema", "json_object", "regex", "grammar", "choice"]
    text: str = ""  # the schema as JSON, the regular expression, or the grammar in Lark or GBNF
    choices: tuple[str, ...] = ()  # the texts to choose from, for "choice"


class Options(Struct, forbid_unknown_fields=True, kw_only=True):
    """The options for one answer. None leaves the choice to the engine, unless a comment says otherwise."""

    temperature: Annotated[float, Meta(ge=0.0, le=100.0)] = 0.0
    top_p: Annotated[float, Meta(gt=0.0, le=1.0)] = 1.0
    top_k: Annotated[int, Meta(ge=0)] = 0  # 0: off
    min_p: Annotated[float, Meta(ge=0.0, le=1.0)] = 0.0
    repetition_penalty: Annotated[float, Meta(ge=0.1, le=10.0)] = 1.0
    presence_penalty: Annotated[float, Meta(ge=-100.0, le=100.0)] = 0.0
    frequency_penalty: Annotated[float, Meta(ge=-100.0, le=100.0)] = 0.0
    # DRY: lowers the logit of a token that would continue a repetition of n tokens by multiplier * base ** (n - allowed_length); 0: off
    dry_multiplier: Annotated[float, Meta(ge=0.0, le=100.0)] = 0.0
    dry_base: Annotated[float, Meta(ge=1.0, le=10.0)] = 1.75
    dry_allowed_length: Annotated[int, Meta(ge=1, le=1000)] = 2
    # number of tokens at the end of the text that are searched for repetitions; 0: all
    dry_range: Annotated[int, Meta(ge=0)] = 0
    # a repetition ends at a token that contains one of these texts
    dry_breakers: list[str] = msgspec.field(default_factory=lambda: ["\n", ":", '"', "*"])
    # XTC: with this probability, of the tokens that reach the threshold all but the least probable are excluded; 0: off
    xtc_probability: Annotated[float, Meta(ge=0.0, le=1.0)] = 0.0
    xtc_threshold: Annotated[float, Meta(gt=0.0, le=0.5)] = 0.1
    # maps token ids to numbers that are added to their logits
    logit_bias: dict[Annotated[int, Meta(ge=0)], Annotated[float, Meta(ge=-1000.0, le=1000.0)]] = {}
    # number of most probable tokens to report with their log-probabilities at the place of each token of the
    # answer, whose own log-probability is reported too; None: report no log-probabilities
    log_probs: Annotated[int, Meta(ge=0, le=20)] | None = None
    # None: a random seed, which the answer reports
    seed: Annotated[int, Meta(ge=0, le=2**63 - 1)] | None = None
    # None: no limit; the answer ends when the model ends it or the context is full
    max_new_tokens: Annotated[int, Meta(ge=1)] | None = None
    stop: list[str] = []
    stop_loops: bool = True  # whether to stop an answer that repeats itself over and over
    constraint: Constraint | None = None  # None: any text
    # maximum number of tokens of the thought with which an answer begins; then it is closed. None: no limit
    thinking_budget: Annotated[int, Meta(ge=0)] | None = None
    # special tokens whose names are part of the answer's text, such as the marks of a thought; others have no text
    shown: list[str] = []
    drafter: str = "auto"
    budget: Annotated[int, Meta(ge=1, le=MAX_BUDGET)] | None = None  # maximum number of nodes in a tree
    beams: Annotated[int, Meta(ge=1, le=1024)] | None = None  # nodes that the draft expands in each round
    depth: Annotated[int, Meta(ge=1, le=1024)] | None = None  # maximum depth of a node
    # the budget of each of the first iterations; to reproduce an answer, copy its `budgets` here
    budgets: list[Annotated[int, Meta(ge=0, le=MAX_BUDGET)]] = []
    # whether the draft goes on while the target verifies: only on the processor; "auto" is off for now
    overlap: Overlap = "auto"
    telemetry: bool = False  # whether to send data for the panel: growing trees, the progress of each pass, the target's judgement of the nodes


# --- requests ---------------------------------------------------------------------------------------------------------


class Load(Struct, tag=True, kw_only=True):
    """Load a target and optionally a draft, in place of the loaded pair. `draft`: an id, a path, "auto" or "none"."""

    id: int
    target: str | None = None  # an id or path; None: the embedded model
    draft: str = "auto"
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    device: Literal["auto", "cuda", "cpu"] = "auto"
    context: Annotated[int, Meta(ge=16)] | None = None  # tokens; None: the engine chooses
    drafter: str = "auto"  # the drafter the pair will use; the load fails if the pair cannot run it
    # "packed": keep weights in memory as stored; "unpacked": unpack them once; "auto": whichever the planner predicts to be faster
    weights: Literal["auto", "packed", "unpacked"] = "auto"
    # the format of keys and values in compiled passes on the processor; what runs through torch refuses "q8_0", and keeps them in `dtype`
    kv_cache: Literal["f16", "q8_0"] = "f16"
    # the GiB that the target's weights may take in VRAM and in RAM, including the ring; None: as much as they need
    vram_limit: Annotated[float, Meta(gt=0)] | None = None
    ram_limit: Annotated[float, Meta(gt=0)] | None = None
    # number of threads of passes on the processor, at most one for each physical core; None: as many
    threads: Annotated[int, Meta(ge=1)] | None = None
    # GiB of RAM for rows of texts that were read before another conversation came in between, and GiB on the disk for
    # rows that outlast the engine; 0: none; None: the engine chooses
    prompt_cache: Annotated[float, Meta(ge=0)] | None = None
    prompt_cache_disk: Annotated[float, Meta(ge=0)] = 0.0
    # how many times to take the next smaller plan: as often as the system has killed the engine with this pair
    smaller: Annotated[int, Meta(ge=0)] = 0
    asker: str = ""  # who asks, as the engine's other clients show it
    # the name of an added engine (`engine.remote`), for which `target` is the id of one of its models; "": this machine.
    # An engine elsewhere decides itself how it loads: what else this request says is about this machine
    engine: str = ""


class Chat(Struct, tag=True, kw_only=True):
    """Answer the last message, or continue it if it is the assistant's; the answer's text is then only the continuation.

    `messages` is always the whole chat; KV rows that the models have already computed for it are reused. With `prompt`,
    continue that text instead, without the model's chat template.
    """

    id: int
    messages: list[Message]
    prompt: str | None = None
    options: Options = msgspec.field(default_factory=Options)
    asker: str = ""  # who asks, as the engine's other clients show it
    # the path of the target that must answer; the request fails if another one is loaded; "": any
    target: str = ""
    # whether drafters forget what they have learnt from earlier answers, so that a measurement does not depend on them
    fresh: bool = False
    # the client's own name for the chat, with which `Forget` deletes what the prompt cache keeps of it; "": it has none
    conversation: str = ""
    template: TemplateInput = msgspec.field(default_factory=TemplateInput)


class Count(Struct, tag=True, kw_only=True):
    """Count the tokens of a prompt, given as in `Chat`. Never waits behind work."""

    id: int
    messages: list[Message]
    prompt: str | None = None
    template: TemplateInput = msgspec.field(default_factory=TemplateInput)


class Cancel(Struct, tag=True):
    """Cancel requests of this client; an answer keeps its text so far. Takes effect at once, before queued requests."""

    id: int
    request: int | None = None  # the request to cancel; None: all


class Unload(Struct, tag=True):
    id: int


class Forget(Struct, tag=True):
    """Delete what the prompt cache keeps of a conversation, and what it has written of it to the disk."""

    id: int
    conversation: str | None  # None: of all, also of those without a name


class Leave(Struct, tag=True):
    """End the connection and cancel its requests. The engine ends with its last client."""

    id: int


class Shutdown(Struct, tag=True):
    """End the engine, whichever clients it still has."""

    id: int


Request = Union[Load, Chat, Count, Cancel, Unload, Forget, Leave, Shutdown]

# --- events -----------------------------------------------------------------------------------------------------------


class Ready(Struct, tag=True, kw_only=True):
    """The engine process accepts requests. The first event on every connection; sent before torch is imported."""

    engine_version: str
    pid: int
    client: int = 1  # this client's number
    now: "NowLoaded | None" = None  # None if nothing is loaded


class LoadProgress(Struct, tag=True, kw_only=True):
    request: int
    stage: LoadStage
    done: int  # bytes of weights that are ready in this stage, out of `total`; both are 0 if the stage reads no weights
    total: int
    layer: int = 0  # number of complete layers, out of the `layers` that this stage loads
    layers: int = 0


class ModelInfo(Struct, kw_only=True):
    """A model. Of one elsewhere, `path` is its id there; what its engine does not tell is "" or 0."""

    name: str
    path: str
    architecture: str
    parameters: int
    nbytes: int  # size of the weights in memory
    packed: bool  # whether the weights are kept as stored and unpacked for each matrix product
    layers: int
    vocabulary: int


class MemoryPart(Struct, kw_only=True):
    what: Literal["target", "target_ring", "target_cache", "draft", "draft_cache", "heads", "prompt_cache"]
    tier: Literal["vram", "ram", "ssd"]  # "ssd": weights that are read in each pass and occupy no memory
    nbytes: int


class Memory(Struct, kw_only=True):
    """The bytes that weights, workspaces and KV caches occupy in VRAM and in RAM."""

    vram: int
    ram: int
    peak: int  # peak RAM of the engine process, including its program and libraries
    parts: list[MemoryPart] = []


class Link(Struct, kw_only=True):
    """The link that carries the streamed weights in each pass."""

    kind: Literal["disk", "PCIe"]
    limit_gb_per_s: float | None  # the bandwidth last measured; None: never measured on this machine


class Loaded(Struct, tag=True, kw_only=True):
    request: int
    target: ModelInfo
    draft: ModelInfo | None
    drafter: str  # the drafter that "auto" selects for this pair
    drafters: list[str]  # the drafters that this pair can run
    dtype: str  # the arithmetic of products, such as "bfloat16" or "int8 avx512"
    device: str
    context: int  # tokens; 0: an engine elsewhere does not tell
    memory: Memory | None = None
    link: Link | None = None  # None if nothing is streamed
    threads: int | None = (
        None  # number of threads that compute; None if another device than the processor does
    )
    note: str = ""  # text for the user: how the load differs from the first plan, and how the draft differs from the target
    warning: str = ""  # text for the user: why the model's files are probably damaged
    place: str = ""  # host and port of the engine elsewhere to which the chat's text is sent; "": it stays on this machine
    tells_trees: bool = True  # whether answers come with the token tree of each iteration
    chat_template: str = ""  # the target's chat template; "": it has none


class Unloaded(Struct, tag=True):
    request: int


class Forgotten(Struct, tag=True):
    """`ram`, `disk`: the bytes that this has freed; counted only if all conversations were to be forgotten."""

    request: int
    ram: int = 0
    disk: int = 0


class Counted(Struct, tag=True):
    request: int
    tokens: int


class NowLoaded(Struct, tag=True, kw_only=True):
    """What the engine has loaded, for clients that did not ask for it: another client has loaded or unloaded models."""

    loaded: Loaded | None  # None: nothing
    by: Load | None  # the request that loaded it


class Task(Struct, kw_only=True):
    """A request that the engine executes, or that waits for it."""

    client: int  # the client's number
    request: int
    kind: Literal["load", "chat", "unload", "forget"]
    asker: str


class Tasks(Struct, tag=True, kw_only=True):
    """The requests of all clients, the one in progress first. Sent to every client of an engine that has several, after each change."""

    tasks: list[Task]


class AnswerBegun(Struct, tag=True, kw_only=True):
    """The engine begins to read the prompt. Sent again if the answer is started over."""

    request: int
    prompt_tokens: int
    reused_tokens: int
    thought: str  # the opening mark of a thought that the prompt ends with, so that the answer begins within it; or ""


class PrefillProgress(Struct, tag=True, kw_only=True):
    """The progress of the prefill: `done` prompt tokens out of `total`; tokens with reused KV rows count in neither number."""

    request: int
    done: int
    total: int


class TreeNodes(Struct, kw_only=True):
    """A token tree as flat lists with one entry per node. A node's id is its index; -1 is the root; parents come before children."""

    root_text: str
    tokens: list[int]
    parents: list[int]
    log_probs: list[LogProb]  # the drafter's log p(token | path)
    # who proposed each node, as a bit set (engine.tree.SOURCE_*): 1 draft model, 2 recycling, 4 n-grams, 8 lookahead, 16 heads
    sources: list[int]
    texts: list[str]

    def __post_init__(self) -> None:
        """Raise ValueError if the lists are no tree; events are also read from files."""
        columns = self.parents, self.log_probs, self.sources, self.texts
        if any(len(column) != len(self.tokens) for column in columns):
            raise ValueError("the columns of a tree have different lengths")
        if not all(-1 <= parent < node for node, parent in enumerate(self.parents)):
            raise ValueError("a node of a tree comes before its parent")


class TreeGrown(Struct, tag=True, kw_only=True):
    """The tree of the current iteration while it grows, before the target pass. Telemetry; may be dropped if the receiver is slow."""

    request: int
    iteration: int
    tree: TreeNodes


class PassProgress(Struct, tag=True, kw_only=True):
    """The progress of the target pass over a tree. Telemetry; may be dropped if the receiver is slow."""

    request: int
    iteration: int
    done: int  # layers passed, out of `total`
    total: int


class TextDelta(Struct, tag=True, kw_only=True):
    """Text that was added to the answer, in whole characters; text that may be the start of a stop string is held back."""

    request: int
    text: str
    tokens: int  # tokens of the answer so far
    committed: "Committed | None" = (
        None  # the tokens since the last such event, if log-probabilities are requested
    )


class Seconds(Struct, kw_only=True):
    """The seconds spent on each activity after the prefill. Mutable, because the engine adds to them."""

    draft: float = 0.0
    target: float = 0.0
    stream_wait: float = 0.0
    other: float = 0.0


class TokenLogProbs(Struct, kw_only=True):
    """The target's log-probabilities at one place, before any logit processor: of the chosen token, and of the most probable ones."""

    log_prob: LogProb
    # (token id, log-probability), the most probable first; the id is -1 if an engine elsewhere tells only the text
    top: list[tuple[int, LogProb]]


class Judged(Struct, kw_only=True):
    """The target's probabilities of the accepted nodes and the best other nodes, as flat lists with one entry per judged node."""

    nodes: list[int]  # the nodes' ids
    log_probs: list[LogProb]  # the target's log p(token | path), before any logit processor
    ranks: list[int]  # rank of the node's token in the target's distribution; 1: the most probable

    def __post_init__(self) -> None:
        if not len(self.nodes) == len(self.log_probs) == len(self.ranks):
            raise ValueError("the columns of the judged nodes have different lengths")


class Committed(Struct, kw_only=True):
    """The tokens that an iteration added to the answer, one list entry each: the accepted tokens, then the bonus token."""

    start: int  # length of the answer before these tokens, in characters
    # the text that each token added, including text that a stop string cut off; "" if the token completes no character
    pieces: list[str]
    log_probs: list[TokenLogProbs]
    top_texts: list[list[str]]  # the texts of the tokens in each `top`

    def __post_init__(self) -> None:
        if not len(self.pieces) == len(self.log_probs) == len(self.top_texts):
            raise ValueError("the columns of the committed tokens have different lengths")
        if any(
            len(best.top) != len(texts) for best, texts in zip(self.log_probs, self.top_texts, strict=True)
        ):
            raise ValueError("a committed token has not one text for each alternative")


class Step(Struct, kw_only=True):
    """An iteration of an engine that does not tell its tree, as counts."""

    drafted: int  # tokens that were drafted
    accepted: int  # tokens of these that were accepted


class IterationDone(Struct, tag=True, kw_only=True):
    """A finished iteration, with its tree, accepted path and bonus token. May be dropped if the receiver is slow.

    The tree is empty, and `step` is set, if the engine tells counts only.
    """

    request: int
    iteration: int
    tree: TreeNodes
    accepted: list[int]  # ids of the accepted nodes, from the root down
    bonus_token: int | None  # None if the answer ended before the bonus token
    bonus_text: str
    seconds: Seconds  # of this iteration
    tokens: int  # tokens of the answer so far
    target_passes: int  # target passes so far, without the prefill
    tokens_per_pass: float  # in the answer so far
    tokens_per_second: float  # in the answer so far
    bytes_streamed: int = 0  # in this iteration
    survivors: int = (
        0  # number of nodes that the tree had from the start, from growth during the last iteration
    )
    grown_ahead: int = 0  # number of nodes that the draft found beyond the tree while the target verified it
    judged: Judged | None = None  # telemetry, and so is `committed`
    committed: Committed | None = None
    step: Step | None = None

    def __post_init__(self) -> None:
        """Raise ValueError if an accepted node is not one of the tree."""
        size = len(self.tree.tokens)
        if not all(0 <= node < size for node in self.accepted):
            raise ValueError("an accepted node is not in the tree")


class Speculation(Struct, kw_only=True):
    """What an engine that does not tell its trees says about the speculation of an answer."""

    steps: int | None  # iterations with drafted tokens; None: not told
    drafted: int  # tokens that were drafted
    accepted: int  # tokens of these that were accepted
    per_position: list[int] = []  # how often the first, second, … drafted token was accepted; empty: not told
    # whether the counts are the server's for all its clients, and may contain answers to others
    with_others: bool = False


class Answer(Struct, tag=True, kw_only=True):
    """The whole answer, as the last event of a Chat that did not fail. docs/design.md, section 3, defines how its numbers are counted."""

    request: int
    text: str
    token_ids: list[int]
    log_probs: list[TokenLogProbs] | None  # one entry per token; None if not requested
    stop_reason: StopReason
    stop_string: str = ""  # the stop string that ended the answer
    seed: int | None  # None: an engine elsewhere chose it, and does not tell
    prompt_tokens: int
    reused_tokens: int  # prompt tokens whose KV rows were still in the target's cache
    tokens: int
    target_passes: int  # without the prefill
    tokens_per_pass: float | None  # None if no pass followed the prefill
    tokens_per_second: float | None
    time_to_first_token_s: float | None  # None if there were no tokens
    seconds: Seconds
    bytes_streamed: int
    link_gb_per_s: float | None
    memory: Memory  # zeros for an engine elsewhere
    drafter: str  # "" for an engine elsewhere
    budget: int  # the largest budget of all iterations
    budgets: list[int]  # the budget of each iteration
    drafted: list[int] = []  # the number of nodes in the tree of each iteration
    accepted: list[int] = []  # the number of accepted nodes in each iteration
    speculation: Speculation | None = None  # what an engine says that does not tell its trees
    note: str = ""  # text for the user: how the engine's memory plan changed during the answer
    thought_tokens: int = (
        0  # the number of tokens of the thought with which the answer begins, with its marks
    )


class Failed(Struct, tag=True, kw_only=True):
    """The last event of a request that failed; the engine stays usable. `kind`: the kind of the error, as in engine.errors."""

    request: int
    kind: str
    message: str
    hint: str
    loaded: bool = False  # whether the models that were loaded before still are


CARD_FAILED_STATUS = 86  # the engine's exit status if the graphics card has stopped


class EngineLost(Struct, tag=True, kw_only=True):
    """The last event if the engine process ends unexpectedly; created by EngineConnection, not by the engine."""

    exit_code: int | None
    message: str
    hint: str
    log_path: str

    @property
    def card_failed(self) -> bool:
        """Whether the engine ended because the graphics card had stopped."""
        return self.exit_code == CARD_FAILED_STATUS

    @property
    def killed(self) -> bool:
        """Whether the system killed the engine, as Linux and macOS do if memory runs out."""
        return self.exit_code == -9  # SIGKILL


class Left(Struct, tag=True):
    """The answer to Leave, and the last event of the connection."""

    ends: bool  # whether the engine ends


Event = Union[
    Ready,
    LoadProgress,
    Loaded,
    Unloaded,
    Forgotten,
    Counted,
    NowLoaded,
    Tasks,
    Left,
    AnswerBegun,
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
    """Encode a message. Replaces lone surrogates, which cannot be sent; they come from file names that are not valid text."""
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
    """Return the id of an encoded request, even if the rest of it is invalid; 0 if it has no id."""
    try:
        return msgspec.msgpack.decode(data, type=_Identified).id
    except ValueError:
        return 0


decode_request = msgspec.msgpack.Decoder(Request).decode
decode_event = msgspec.msgpack.Decoder(Event).decode
