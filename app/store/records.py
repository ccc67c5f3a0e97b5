"""The plain data of the store, as the window sees it and as it is exported. Times are Unix seconds."""

import json
from typing import Annotated, Literal, Self

import msgspec
from msgspec import Meta, Struct

from engine.protocol.messages import Answer, Loaded, Options, Seconds, StopReason

Role = Literal["user", "assistant"]
State = Literal["complete", "streaming", "interrupted"]
Timestamp = Annotated[float, Meta(ge=0, le=32_503_680_000)]  # to the year 3000, the last that Windows knows


class SavedOptions(Options, forbid_unknown_fields=False):
    """The engine's options as they are kept: one that only another version knows is passed over."""


class ChatSettings(Struct, frozen=True, kw_only=True):
    """How the answers of a chat are made, and what a preset holds. target, draft, context: as in `Load`."""

    system: str = ""
    target: str | None = None
    draft: str = "auto"
    context: Annotated[int, Meta(ge=16)] | None = None
    options: SavedOptions = msgspec.field(default_factory=SavedOptions)


class ModelPair(Struct, frozen=True, kw_only=True):
    """What answered."""

    target: str
    draft: str | None
    dtype: str
    device: str
    context: int

    @classmethod
    def of(cls, loaded: Loaded) -> Self:
        return cls(
            target=loaded.target.name,
            draft=loaded.draft.name if loaded.draft else None,
            dtype=loaded.dtype,
            device=loaded.device,
            context=loaded.context,
        )


class Report(Struct, frozen=True, kw_only=True):
    """What stands under an answer, and what it takes to replay it: the settings, the seed, the drafter that
    "auto" stood for, and the budget of each iteration. Fields after `pair` are `Answer`'s."""

    settings: ChatSettings
    pair: ModelPair
    seed: int
    drafter: str
    budgets: list[int]
    stop_reason: StopReason
    prompt_tokens: int
    tokens: int
    target_passes: int
    tokens_per_pass: float | None
    tokens_per_second: float | None
    time_to_first_token_s: float | None
    seconds: Seconds
    bytes_streamed: int

    @classmethod
    def of(cls, answer: Answer, settings: ChatSettings, pair: ModelPair) -> Self:
        figures = {name: getattr(answer, name) for name in cls.__struct_fields__[2:]}
        return cls(settings=settings, pair=pair, **figures)


class Message(Struct, frozen=True, kw_only=True):
    """One node of a chat's tree. Messages with one parent are versions of each other; one of them is shown.

    reports: one for each time the engine wrote at it, more than one where an answer was continued; none where
    a person wrote it, or it was interrupted or imported.
    """

    id: int
    parent: int | None  # None: the first message
    role: Role
    text: str
    created_at: Timestamp
    state: State = "complete"
    shown: bool = True
    reports: list[Report] = []


class Chat(Struct, frozen=True, kw_only=True):
    """A whole chat with all its versions: what is copied, exported and imported. Parents come before
    children; message ids mean nothing outside."""

    title: str
    named: bool  # a person chose the title
    created_at: Timestamp
    updated_at: Timestamp
    pinned: bool = False
    folder: str | None = None
    settings: ChatSettings = msgspec.field(default_factory=ChatSettings)
    messages: list[Message] = []


class ChatLine(Struct, frozen=True):
    """A chat as the sidebar shows it. `title` is empty until there is something to name."""

    id: int
    title: str
    pinned: bool
    folder: int | None
    updated_at: float  # when something was said last


class Folder(Struct, frozen=True):
    id: int
    name: str


class Hit(Struct, frozen=True):
    """A message found. ranges: (start, end) of what was found in `excerpt`, in code points."""

    message: int
    chat: int
    title: str
    role: Role
    created_at: float
    excerpt: str
    ranges: list[tuple[int, int]]


class Preset(Struct, frozen=True):
    name: str
    settings: ChatSettings


def to_json(value: object) -> str:
    return well_formed(json.dumps(msgspec.to_builtins(value, str_keys=True), ensure_ascii=False))


def well_formed(text: str) -> str:
    """Half characters (pasted text may hold them) are replaced: they cannot be kept."""
    return text.encode("utf-8", "replace").decode()
