"""Requests to the engine, and what they consist of. Plain data (msgspec).

Every request has an `id`, which its sender chooses.
"""

from typing import Annotated, Literal, Union

import msgspec
from msgspec import Meta, Struct

__all__ = [
    "MAX_BUDGET", "AnswerRecording", "Cancel", "Chat", "Constraint", "Count", "Forget", "GrownTree", "Helps",
    "Hindrance", "Leave", "Load", "Message", "Options", "Overlap", "Request", "Shutdown", "TemplateInput", "TemplateOption", "Tool",
    "ToolCall", "Unload", "begun_in",
]  # fmt: skip

MAX_BUDGET = 4096

Overlap = Literal["auto", "on", "off"]
# Why a draft cannot go on while its target verifies: it keeps no tree beyond the verdict; the target's passes on a
# graphics card run beside no others; or the whole target is in memory, and leaves the processor to no one.
Hindrance = Literal["drafter", "card", "memory"]
# Whether the processor multiplies by weights in RAM where they lie, beside a graphics card, so that these need not
# cross the link in each pass. "auto": by experts of a mixture, if that is predicted to be faster; "measured": by any
# weights, if passes measured at loading are faster so. It rounds activations to 8 bits.
Helps = Literal["never", "auto", "measured"]


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


class GrownTree(Struct, frozen=True, array_like=True):
    """How a tree was grown. `worth`: tokens that a round had to promise; `ahead`: number of nodes that could be expanded while the tree was verified, in `rounds` rounds."""

    budget: Annotated[int, Meta(ge=0, le=MAX_BUDGET)]
    beams: Annotated[int, Meta(ge=0)]
    depth: Annotated[int, Meta(ge=0)]
    worth: Annotated[float, Meta(ge=0)]
    ahead: Annotated[int, Meta(ge=0, le=MAX_BUDGET)]
    rounds: Annotated[int, Meta(ge=0)]


class AnswerRecording(Struct, frozen=True, kw_only=True):
    """What measured times and earlier texts have decided in an answer, beside the budgets. In arithmetic where a row's bits depend on the other rows of its pass, the answer is reproduced only with the same rows in every pass."""

    reused_tokens: Annotated[int, Meta(ge=0)]  # prompt tokens that were not read anew
    trees: list[GrownTree]  # first those that grew while the prompt was read, then that of each iteration


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
    # to reproduce an answer that has one, copy it here; it takes the place of `budgets` and `overlap`
    recording: AnswerRecording | None = None
    # whether the draft goes on while the target verifies; "auto": where measuring shows that it pays
    overlap: Overlap = "auto"
    telemetry: bool = False  # whether to send data for the panel: growing trees, the progress of each pass, the target's judgement of the nodes


class Load(Struct, tag=True, kw_only=True):
    """Load a target and optionally a draft, in place of the loaded pair. `draft`: an id, a path, "auto", "none", or "self": the target in fewer bits."""

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
    processor_helps: Helps = "auto"
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
