"""A conversation with one model of an engine elsewhere: load, answer, count."""

from collections.abc import Callable
from contextlib import suppress

import httpx2
import msgspec

from engine.calls import hermes
from engine.documents import json_of
from engine.errors import BadOption, ModelNotFound, NotLoaded, SpecExecError
from engine.hub.stop import Stop, Stopped
from engine.protocol import Answer, Chat, Count, Counted, Event, Load, Loaded, ModelInfo, Speculation
from engine.remote import figures
from engine.remote.engines import AddedEngine, key_of
from engine.remote.errors import AnswerBroken, CountUnknown
from engine.remote.exchange import Exchange
from engine.remote.fields import chat_fields, messages_of
from engine.remote.models import RemoteModel, details, served
from engine.remote.reply import chunk_of
from engine.remote.transcript import ReplyTranscript

Emit = Callable[[Event], None]
# Stands for the chat template of every model elsewhere: `written_calls` tells its calls in Hermes' format.
CALLS_TEMPLATE = f"{{{{ tools }}}} {hermes.OPENING}"
_SPECIAL = {"add_special": True, "parse_special": True}  # as in a prompt that llama-server reads


class RemoteSession:
    """One model of `engine`, once it is loaded. Each method may wait, until the stop that it is given is
    asked; it raises the errors in `engine.remote.errors`, too.

    Attributes: `loaded`, the model as the protocol describes it, or None.
    """

    def __init__(self, engine: AddedEngine) -> None:
        self.loaded: Loaded | None = None
        self._engine = engine
        self._model: RemoteModel | None = None
        self._key: str | None = None
        self._counts: figures.ServerCounts | None = None  # None: the server tells none

    def load(self, request: Load, stop: Stop) -> Loaded:
        """Choose a model; the server keeps it in memory. Without a target, the first one is taken.

        Raises BadOption if a draft is named; ModelNotFound; Stopped.
        """
        if request.draft not in ("auto", "none"):
            raise BadOption(
                "A draft cannot be chosen for a model of another engine.",
                "Leave it out: whoever started that server has chosen how it drafts.",
            )
        key = key_of(self._engine.name)
        with Exchange(self._engine, key) as exchange:
            found = served(exchange, self._engine, stop)
            model = next((each for each in found if request.target in (None, each.id)), None)
            if model is None:
                names = ", ".join(each.id for each in found[:5])
                raise ModelNotFound(
                    f"{self._engine.place} serves no model {str(request.target)[:200]!r}.",
                    f"It serves: {names}."
                    if len(found) <= 5
                    else f"It serves {len(found)} models: {names}, …",
                )
            model = details(model, exchange, stop)
            self._key, self._model = key, model
            self._counts = self._server_counts(exchange, stop)
        self.loaded = self._described(request, model)
        return self.loaded

    def unload(self) -> None:
        self.loaded = self._model = None

    def answer(self, chat: Chat, emit: Emit, stop: Stop) -> Answer:
        """Stream an answer, whose text so far is kept if it is stopped. Raises NotLoaded if no model is
        loaded; OptionRefused; BadOption."""
        model = self._expected(chat.target)
        fields = chat_fields(chat, model, self._is_openai_itself)
        transcript = ReplyTranscript(chat.id, chat.options, fields.get("seed"))
        counted: Speculation | None = None
        try:
            with Exchange(self._engine, self._key) as exchange:
                if self._counts is not None:
                    self._counts = self._server_counts(exchange, stop) or self._counts
                self._receive(exchange, fields, transcript, emit, stop)
                if self._counts is not None and transcript.figures is None:
                    counted = self._counted(exchange, transcript.answer().tokens, stop)
        except Stopped:
            for event in transcript.close():
                emit(event)
            return transcript.answer(is_cancelled=True)
        return transcript.answer(counted=counted)

    def count(self, request: Count, stop: Stop) -> Counted:
        """Return the number of tokens of a prompt. Raises CountUnknown if the server does not count them, or
        refuses to; NotLoaded; Stopped."""
        model = self._expected("")
        try:
            with Exchange(self._engine, self._key) as exchange:
                tokens = self._count(exchange, model, request, stop)
        except (ValueError, SpecExecError) as error:
            raise CountUnknown(
                "The engine does not count the tokens.", "Nothing needs to be done."
            ) from error
        return Counted(request.id, tokens)

    # -- how it is done --------------------------------------------------------------------------------------

    @property
    def _is_openai_itself(self) -> bool:
        host: str = httpx2.URL(self._engine.address).host
        return host == "api.openai.com"

    def _receive(
        self,
        exchange: Exchange,
        fields: dict[str, object],
        transcript: ReplyTranscript,
        emit: Emit,
        stop: Stop,
    ) -> None:
        """Read the answer to its end. Raises AnswerBroken if it has none."""
        url = exchange.base.copy_with(path=f"{exchange.base.path}/chat/completions")
        with exchange.stream(url, fields, stop) as data:
            for piece in data:
                if piece == b"[DONE]":
                    break
                for event in transcript.add(chunk_of(piece)):
                    emit(event)
        for event in transcript.close():
            emit(event)
        stop.check()
        if not transcript.is_finished:
            raise AnswerBroken(
                "The engine broke off in the middle of the answer.", "Ask again; what it wrote is kept."
            )

    def _server_counts(self, exchange: Exchange, stop: Stop) -> figures.ServerCounts | None:
        """Return vLLM's counters; None if it does not speculate, or tells nobody."""
        if self._model is None or self._model.server != "vllm":
            return None
        with suppress(SpecExecError):
            return figures.server_counts(exchange.get(exchange.root.join("metrics"), stop), self._model.id)
        return None

    def _counted(self, exchange: Exchange, tokens: int, stop: Stop) -> Speculation | None:
        before, after = self._counts, self._server_counts(exchange, stop)
        return figures.difference(before, after, tokens) if before and after else None

    def _count(self, exchange: Exchange, model: RemoteModel, request: Count, stop: Stop) -> int:
        root, messages = exchange.root, messages_of(request.messages)
        match model.server:
            case "vllm":
                text = {"messages": messages} if request.prompt is None else {"prompt": request.prompt}
                body = exchange.post(root.join("tokenize"), {"model": model.id, **text}, stop)
                return json_of(body, _VllmCount).count
            case "llama-server":
                prompt = request.prompt
                if prompt is None:
                    body = exchange.post(root.join("apply-template"), {"messages": messages}, stop)
                    prompt = json_of(body, _Prompt).prompt
                body = exchange.post(root.join("tokenize"), {"content": prompt, **_SPECIAL}, stop)
                return len(json_of(body, _Tokens).tokens)
            case "specexec" if request.prompt is None:
                path = f"{exchange.base.path}/messages/count_tokens"
                url = exchange.base.copy_with(path=path)
                body = exchange.post(url, _anthropic(model.id, messages), stop)
                return json_of(body, _AnthropicCount).input_tokens
            case _:
                raise ValueError("this kind of server does not count")

    def _expected(self, target: str) -> RemoteModel:
        if self._model is None:
            raise NotLoaded("No model is loaded.", "Load one first.")
        if target and target != self._model.id:
            raise NotLoaded(
                f"Another model is loaded, {self._model.id}.", "Load the model again, or ask the one that is."
            )
        return self._model

    def _described(self, request: Load, model: RemoteModel) -> Loaded:
        return Loaded(
            request=request.id,
            target=ModelInfo(
                name=model.id,
                path=model.id,
                architecture=model.architecture or "",
                parameters=model.parameters or 0,
                nbytes=model.nbytes or 0,
                packed=False,
                layers=0,
                vocabulary=model.vocabulary or 0,
            ),
            draft=None,
            drafter="",
            drafters=[],
            dtype="",
            device=model.server,
            context=model.context or 0,
            place=self._engine.place,
            tells_trees=False,
            chat_template=CALLS_TEMPLATE,
        )


class _VllmCount(msgspec.Struct):
    count: int


class _Prompt(msgspec.Struct):
    prompt: str


class _Tokens(msgspec.Struct):
    tokens: list[int]


class _AnthropicCount(msgspec.Struct):
    input_tokens: int


def _anthropic(model: str, messages: list[dict[str, object]]) -> dict[str, object]:
    system = [str(each["content"]) for each in messages if each["role"] == "system"]
    others = [each for each in messages if each["role"] != "system"]
    return {"model": model, "messages": others, **({"system": "\n".join(system)} if system else {})}
