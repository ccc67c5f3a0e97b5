"""Events from the engine. Plain data (msgspec).

Every event that answers a request repeats its id in `request`. An engine that drafts no trees, such as a
remote server, never sends `TreeGrown`.
"""

from typing import Annotated, Literal, Union

from msgspec import Meta, Struct

from engine.protocol.remarks import AnswerRemark, DamagedWeights, LoadRemark, Shortage, SmallerPlan
from engine.protocol.requests import AnswerRecording, Load

__all__ = [
    "CARD_FAILED_STATUS", "CARD_FAULT_STATUS", "Answer", "AnswerBegun", "Committed", "Counted", "DiskSilence", "EngineLost", "Event", "ExpertFigures", "Failed",
    "Forgotten", "IterationDone", "Judged", "Left", "Link", "LoadProgress", "LoadStage", "Loaded",
    "Memory", "MemoryPart", "ModelInfo", "NowLoaded", "OwnDraft", "PassProgress", "PrefillProgress",
    "Ready", "Seconds", "Speculation", "Step", "StopReason", "Task", "Tasks", "TextDelta", "TokenLogProbs",
    "TreeGrown", "TreeNodes", "Unloaded",
]  # fmt: skip

LogProb = Annotated[float, Meta(le=1.0)]  # rounding may take a certain token's a little above 0

LoadStage = Literal[
    "libraries", "reading", "tokenizer", "planning", "kernels", "draft", "target", "compiling"
]
StopReason = Literal[
    "end_of_sequence", "stop_string", "max_new_tokens", "context_full", "repetition", "cancelled"
]


class Ready(Struct, tag=True, kw_only=True):
    """The engine process accepts requests. The first event on every connection; sent before torch is imported."""

    engine_version: str
    pid: int
    client: int = 1  # this client's number
    now: "NowLoaded | None" = None  # None if nothing is loaded


class LoadProgress(Struct, tag=True, kw_only=True):
    request: int
    stage: LoadStage
    # What is ready in this stage, out of `total`: bytes of weights; in "kernels", kernels that a card has tried; in
    # "compiling", kernels and passes that it has made ready. Both are 0 where nothing is counted, as in "kernels" while
    # the processor's are compiled, which may be needed once the weights are here.
    done: int
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
    # "target_experts": of a streamed mixture, those in memory, and in tier "ssd" all that are read when needed
    what: Literal[
        "target", "target_experts", "target_ring", "target_cache",
        "draft", "draft_cache", "heads", "prompt_cache",
    ]  # fmt: skip
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


class OwnDraft(Struct, kw_only=True):
    """The gain of a target if it drafts for itself (`Load.draft` = "self")."""

    # predicted factor of tokens/s over the draft model, or over drafts from text alone; of heads nothing is predicted
    speedup: float
    nbytes: int  # of the copies in fewer bits that would be made and kept on the disk, which lacks them


class Loaded(Struct, tag=True, kw_only=True):
    request: int
    target: ModelInfo
    draft: ModelInfo | None
    drafter: str  # the drafter that "auto" selects for this pair
    drafters: list[str]  # the drafters that this pair can run
    dtype: str  # the arithmetic of products, such as "bfloat16" or "int8 avx512"
    device: str
    context: int  # tokens; 0: an engine elsewhere does not tell
    longest_context: int = 0  # tokens that the target allows; 0: not told
    token_nbytes: int = 0  # bytes that each further token of context takes; 0: not told
    memory: Memory | None = None
    link: Link | None = None  # None if nothing is streamed
    threads: int | None = (
        None  # number of threads that compute; None if another device than the processor does
    )
    # how the load differs from what was asked for, and the draft from the target
    remarks: list[LoadRemark] = []
    place: str = ""  # host and port of the engine elsewhere to which the chat's text is sent; "": it stays on this machine
    tells_trees: bool = True  # whether answers come with the token tree of each iteration
    own_draft: OwnDraft | None = None  # None: it is not worthwhile, not possible, or not left to the engine
    chat_template: str = ""  # the target's chat template; "": it has none

    @property
    def damage(self) -> list[DamagedWeights]:
        """The remarks on files that are probably damaged."""
        return [remark for remark in self.remarks if isinstance(remark, DamagedWeights)]

    @property
    def shortages(self) -> list[Shortage]:
        """The remarks on what was given up because memory ran out."""
        return [remark for remark in self.remarks if isinstance(remark, Shortage)]

    @property
    def smaller_plan(self) -> SmallerPlan | None:
        """The plan that was taken because memory ran out; None: the full one."""
        return next((remark for remark in self.shortages if isinstance(remark, SmallerPlan)), None)


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
    """What the engine has loaded now: another client has loaded or unloaded models, or an answer, whoever asked for it, had to load them again by a smaller plan."""

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
    # who proposed each node, as a bit set (engine.tree.SOURCE_*): 1 draft model, 2 recycling, 4 n-grams, 8 lookahead, 16 heads;
    # 32: while the target verified the tree before
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


class DiskSilence(Struct, tag=True, kw_only=True):
    """The disk with the model does not answer, while a load or an answer waits for it, which goes on as soon as the disk does."""

    request: int
    seconds: float  # for which it has not answered, sent again every few seconds; 0: nothing is waited for any more


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


class ExpertFigures(Struct, kw_only=True):
    """Counts of the cache of a streamed mixture's experts."""

    hits: int  # experts that were in the cache when their layer chose them, once for all rows of a pass
    misses: int  # experts that were neither there nor on their way
    bytes_read: int  # of experts, into the cache; they are part of the streamed bytes
    predicted: int  # experts brought before their layer had chosen
    right: int  # experts of these that it then chose
    tier: Literal["vram", "ram"] = "ram"  # where the cache is
    bytes_from_disk: int = 0  # of experts: on the processor all of bytes_read, with a card those not in RAM
    late: int = 0  # experts that were on their way to the cache when their layer chose them
    near: int = 0  # experts that the card lacked, and by which the processor multiplied in RAM: no misses
    # where it multiplied by some, for each layer: its number, the experts that it chose, and of these those near
    near_by_layer: list[tuple[int, int, int]] = []
    # those of the cache in RAM through which a card's gets its experts; None if there is none
    ram: "ExpertFigures | None" = None


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
    experts: ExpertFigures | None = None  # in this iteration; None if no experts are cached
    survivors: int = (
        0  # number of nodes that the tree had from the start, from growth during the last iteration
    )
    grown_ahead: int = 0  # number of nodes that the draft found beyond the tree while the target verified it
    ahead_s: float = 0.0  # seconds that this took, beside the target's pass and so not part of `seconds`
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
    experts: ExpertFigures | None = None  # None if no experts are cached
    link_gb_per_s: float | None
    memory: Memory  # zeros for an engine elsewhere
    drafter: str  # "" for an engine elsewhere
    budget: int  # the largest budget of all iterations; 0 if there were none
    budgets: list[int]  # the budget of each iteration
    drafted: list[int] = []  # the number of nodes in the tree of each iteration
    accepted: list[int] = []  # the number of accepted nodes in each iteration
    # None: `budgets` suffice to reproduce the answer, or nothing does: another engine or another memory plan went on with it
    recording: AnswerRecording | None = None
    speculation: Speculation | None = None  # what an engine says that does not tell its trees
    remarks: list[AnswerRemark] = []
    thought: str = ""  # as in AnswerBegun
    thought_tokens: int = 0  # number of tokens of the thought with which the answer begins, with its marks
    thought_s: float = 0.0  # seconds from the first token of the answer to the last one of the thought


class Failed(Struct, tag=True, kw_only=True):
    """The last event of a request that failed; the engine stays usable. `kind`: the kind of the error, as in engine.errors."""

    request: int
    kind: str
    message: str
    hint: str
    loaded: bool = False  # whether the models that were loaded before still are


# The engine's exit statuses if the graphics card has stopped: because of a kernel perhaps, and because of a fault that no kernel causes.
CARD_FAILED_STATUS = 86
CARD_FAULT_STATUS = 87


class EngineLost(Struct, tag=True, kw_only=True):
    """The last event if the engine process ends unexpectedly; created by EngineConnection, not by the engine."""

    exit_code: int | None
    message: str
    hint: str
    log_path: str

    @property
    def kind(self) -> str:
        """The kind of the error, as in engine.errors."""
        return "card_failed" if self.card_failed else "engine_gone"

    @property
    def card_failed(self) -> bool:
        """Whether the engine ended because the graphics card had stopped."""
        return self.exit_code in (CARD_FAILED_STATUS, CARD_FAULT_STATUS)

    @property
    def next_is_safer(self) -> bool:
        """Whether the next engine takes a safer way on the card."""
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
    DiskSilence,
    TextDelta,
    IterationDone,
    Answer,
    Failed,
    EngineLost,
]
