"""The records of the store, which the window reads and which are exported. Times are Unix seconds."""

import json
from typing import Annotated, Literal, Self, cast, get_args

import msgspec
from msgspec import Meta, Struct

from app.documents.records import Kind
from engine.protocol.messages import Answer, AnswerRecording, Loaded, Options, Seconds, StopReason
from engine.protocol.thought_control import ThoughtChoice

Role = Literal["user", "assistant"]
State = Literal["complete", "streaming", "interrupted"]
CallState = Literal["open", "done", "failed", "refused"]
Timestamp = Annotated[float, Meta(ge=0, le=32_503_680_000)]  # up to the year 3000, the limit of Windows


class SavedOptions(Options, forbid_unknown_fields=False):
    """The engine's options as they are stored; options unknown to this version are ignored."""


class ChatSettings(Struct, frozen=True, kw_only=True):
    """The settings for a chat's answers; a preset contains them too. target, draft, engine, context: as in
    `Load`.

    thinks: whether, or how hard, the model thinks before it answers; None leaves that to its chat template.
    tools: whether answers may call the tools that the preferences allow.
    left_out: number of turns at the beginning of the chat that are not sent; always 0 in a preset.
    """

    system: str = ""
    target: str | None = None
    draft: str = "auto"
    engine: str = ""
    context: Annotated[int, Meta(ge=16)] | None = None
    options: SavedOptions = msgspec.field(default_factory=SavedOptions)
    thinks: ThoughtChoice = None
    tools: bool = True
    left_out: Annotated[int, Meta(ge=0)] = 0


class ModelPair(Struct, frozen=True, kw_only=True):
    """The models that gave an answer, and how they were loaded. place: as in `Loaded`."""

    target: str
    draft: str | None
    dtype: str
    device: str
    context: int
    place: str = ""

    @classmethod
    def of(cls, loaded: Loaded) -> Self:
        return cls(
            target=loaded.target.name,
            draft=loaded.draft.name if loaded.draft else None,
            dtype=loaded.dtype,
            device=loaded.device,
            context=loaded.context,
            place=loaded.place,
        )


class AnswerReport(Struct, frozen=True, kw_only=True):
    """The figures shown below an answer, and everything needed to replay it: the settings, the seed, the
    drafter that "auto" stood for, the budget of each iteration, and a recording where budgets do not suffice.
    The fields after `pair` are as in `Answer`."""

    settings: ChatSettings
    pair: ModelPair
    seed: int | None
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
    recording: AnswerRecording | None = None
    thought: str = ""
    thought_tokens: int = 0
    thought_s: float = 0.0

    @classmethod
    def of(cls, answer: Answer, settings: ChatSettings, pair: ModelPair) -> Self:
        figures = {name: getattr(answer, name) for name in cls.__struct_fields__[2:]}
        return cls(settings=settings, pair=pair, **figures)


NBYTES_PER_TOKEN = 4  # of UTF-8, in English and about right elsewhere


def about_tokens(text: str) -> int:
    """Return about how many tokens a text has."""
    return -(-len(text.encode("utf-8", "replace")) // NBYTES_PER_TOKEN)


Way = Literal["whole", "searched"]


class AttachedFile(Struct, frozen=True, kw_only=True):
    """A file that a message brings along.

    id: a digest of its name and content. pages: number of its pages, sheets or sections; 0 for kinds without
    them. tokens: about how many its text has; 0 for a picture in which no text was read. way: whether the
    model reads all of its text, or the passages that a search finds for each question.
    """

    id: str
    name: str
    kind: Kind
    pages: Annotated[int, Meta(ge=0)] = 0
    tokens: Annotated[int, Meta(ge=0)] = 0
    way: Way = "whole"

    @property
    def has_text(self) -> bool:
        return self.kind != "picture" or self.tokens > 0


class Passage(Struct, frozen=True, kw_only=True):
    """A piece of a file's text that a search found for a question. file, name, kind: the file's. page: number
    of its page, sheet or section, counted from 1; 0 in a file without them."""

    file: str
    name: str
    kind: Kind
    page: Annotated[int, Meta(ge=0)]
    text: str


class WholeFile(Struct, frozen=True, kw_only=True):
    """A file with its content, as it is exported and imported. pages, picture: as in `Document`."""

    file: AttachedFile
    pages: list[str] = []
    picture: bytes = b""


LATEST = 253_402_300_799  # Unix seconds of the end of the year 9999, the last that dates can show


class StoredCall(Struct, frozen=True, kw_only=True):
    """A call of a tool that an answer has made, and what came of it.

    arguments: a JSON object, if the model wrote one. server: the name of the tool server, "" for a tool of
    the program. result: what the tool gave, or why there is nothing; "" while the call is open.
    """

    id: str
    name: str
    arguments: str
    server: str = ""
    state: CallState = "open"
    result: str = ""


class StoredMessage(Struct, frozen=True, kw_only=True):
    """A node in the tree of a chat's messages. Messages with the same parent are versions of each other; one
    of them is shown.

    reports: one for each finished run of the engine, so several if the answer was continued. Empty if the
    user wrote the message, if its only run was interrupted, or if it was imported without reports.
    files: those that a question brings along. passages: what a search found for it in these files and in
    those of the questions before; the model reads them with the question. calls: those with which an answer
    ends; the answer that follows from their results is below it.
    """

    id: int
    parent: int | None  # None: the first message
    role: Role
    text: str
    created_at: Timestamp
    state: State = "complete"
    shown: bool = True
    reports: list[AnswerReport] = []
    files: list[AttachedFile] = []
    passages: list[Passage] = []
    calls: list[StoredCall] = []

    @property
    def opened(self) -> str:
        """The mark of the thought that the prompt has opened before the text, or ""."""
        return self.reports[0].thought if self.reports else ""


class WholeChat(Struct, frozen=True, kw_only=True):
    """A chat with all versions of its messages, as it is copied, exported and imported. Parents precede their
    children; message ids are valid only within the chat."""

    title: str
    named: bool  # whether the user chose the title
    created_at: Timestamp
    updated_at: Timestamp
    pinned: bool = False
    folder: str | None = None
    settings: ChatSettings = msgspec.field(default_factory=ChatSettings)
    messages: list[StoredMessage] = []
    files: list[WholeFile] = []  # those that the messages name


class ChatLine(Struct, frozen=True):
    """What the sidebar needs to show a chat. `title` is empty until the first question."""

    id: int
    title: str
    pinned: bool
    folder: int | None
    updated_at: float  # when the chat last got a message


class Folder(Struct, frozen=True):
    id: int
    name: str


class Hit(Struct, frozen=True):
    """A message found by a search. ranges: (start, end) of each match in `excerpt`, in code points."""

    message: int
    chat: int
    title: str
    role: Role
    created_at: float
    excerpt: str
    ranges: list[tuple[int, int]]


class UnsentMessage(Struct, frozen=True, kw_only=True):
    """A message that the user has not sent. pasted: long pasted texts, which follow the typed text."""

    typed: str = ""
    pasted: list[str] = []
    files: list[AttachedFile] = []

    def __bool__(self) -> bool:
        return bool(self.typed or self.pasted or self.files)

    @property
    def content(self) -> tuple[str, list[str], list[str]]:
        """What the user has put in it. How its files would be read is not part of that."""
        return self.typed, self.pasted, [file.id for file in self.files]


class Preset(Struct, frozen=True):
    name: str
    settings: ChatSettings


_settings = msgspec.json.Decoder(ChatSettings)
_reports = msgspec.json.Decoder(list[AnswerReport])
_files = msgspec.json.Decoder(list[AttachedFile])
_passages = msgspec.json.Decoder(list[Passage])
_calls = msgspec.json.Decoder(list[StoredCall])


def settings_of(text: str) -> ChatSettings:
    """Return settings stored as JSON; the defaults if the text is damaged."""
    try:
        return _settings.decode(text)
    except (msgspec.MsgspecError, TypeError):
        return ChatSettings()


def reports_of(text: str) -> list[AnswerReport]:
    """Return reports stored as JSON; none if the text is damaged."""
    try:
        return _reports.decode(text)
    except (msgspec.MsgspecError, TypeError):
        return []


def files_of(text: str) -> list[AttachedFile]:
    """Return files stored as JSON; none if the text is damaged."""
    try:
        return _files.decode(text)
    except (msgspec.MsgspecError, TypeError):
        return []


def kind_named(name: object) -> Kind:
    """Return a stored kind; "text" for one that this version does not know."""
    return cast(Kind, name) if name in get_args(Kind) else "text"


def passages_of(text: str) -> list[Passage]:
    """Return passages stored as JSON; none if the text is damaged."""
    try:
        return _passages.decode(text)
    except (msgspec.MsgspecError, TypeError):
        return []


def calls_of(text: str) -> list[StoredCall]:
    """Return calls stored as JSON; none if the text is damaged."""
    try:
        return _calls.decode(text)
    except (msgspec.MsgspecError, TypeError):
        return []


def to_json(value: object) -> str:
    """Return a record as JSON text, for storing."""
    return well_formed(json.dumps(msgspec.to_builtins(value, str_keys=True), ensure_ascii=False))


def well_formed(text: str) -> str:
    """Replace lone surrogates in `text`: pasted text may contain them, but UTF-8 cannot encode them."""
    return text.encode("utf-8", "replace").decode()
