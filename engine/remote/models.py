"""What an engine elsewhere serves, and which kind of server it is.

A list of models in OpenAI's form says little; each kind of server tells more in a place of its own:
vLLM and SGLang in the list, llama-server there and at /props, LM Studio at /api/v0/models, Ollama at /api.
"""

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from engine.documents import json_of
from engine.errors import ModelNotFound
from engine.hub.stop import Stop
from engine.remote.engines import AddedEngine
from engine.remote.errors import (
    AnswerBroken,
    EngineBusy,
    EngineUnreachable,
    KeyRefused,
    NoModels,
    NotAnEngine,
    RequestRefused,
)
from engine.remote.exchange import Exchange

ServerKind = Literal["vllm", "sglang", "llama-server", "lm-studio", "ollama", "specexec", "openai"]
MOST_MODELS = 2000
MOST_ID = 500  # characters
_OWNERS: dict[str, ServerKind] = {
    "vllm": "vllm", "sglang": "sglang", "llamacpp": "llama-server",
    "specexec-desktop": "specexec",
}  # fmt: skip
_OTHERWISE = (
    AnswerBroken,
    EngineBusy,
    EngineUnreachable,
    KeyRefused,
    ModelNotFound,
    NotAnEngine,
    RequestRefused,
)
Count = Annotated[int, Meta(ge=0, le=2**53)]


@dataclass(frozen=True, slots=True)
class RemoteModel:
    """A model that an engine elsewhere serves.

    id: its name there. server: the kind of server; "openai" stands for every other that speaks OpenAI's
    interface. context: tokens; parameters, nbytes, vocabulary, architecture: as in `ModelInfo`; None: not
    told.
    """

    id: str
    server: ServerKind
    context: int | None = None
    parameters: int | None = None
    nbytes: int | None = None
    vocabulary: int | None = None
    architecture: str | None = None


class _Meta(Struct, frozen=True):
    """What llama-server says of a model."""

    n_ctx: Count | None = None
    n_ctx_train: Count | None = None
    n_params: Count | None = None
    n_vocab: Count | None = None
    size: Count | None = None


class _Listed(Struct, frozen=True):
    id: Annotated[str, Meta(min_length=1, max_length=MOST_ID)]
    owned_by: str | None = None
    max_model_len: Count | None = None
    meta: _Meta | None = None
    context_length: Count | None = None  # of services such as OpenRouter
    context_window: Count | None = None


class _List(Struct, frozen=True):
    data: list[_Listed] | None


class _Studio(Struct, frozen=True):
    """What LM Studio says of a model."""

    id: str
    type: str  # "llm", "vlm" or "embeddings"
    arch: str | None = None
    max_context_length: Count | None = None
    loaded_context_length: Count | None = None


class _StudioList(Struct, frozen=True):
    data: list[_Studio]


class _GenerationSettings(Struct, frozen=True):
    n_ctx: Count | None = None


class _Props(Struct, frozen=True):
    """What llama-server says at /props."""

    default_generation_settings: _GenerationSettings


class _OllamaVersion(Struct, frozen=True):
    version: str


class _OllamaModel(Struct, frozen=True):
    """What Ollama says of a model."""

    model_info: dict[str, Any] = {}


def models(engine: AddedEngine, key: str | None = None, stop: Stop | None = None) -> list[RemoteModel]:
    """Return the models that an engine serves. May wait for a minute; a stop ends that.

    Raises EngineUnreachable, CertificateRefused, KeyInClear, KeyRefused, EngineBusy, NotAnEngine, NoModels;
    Stopped.
    """
    with Exchange(engine, key) as exchange:
        return served(exchange, engine, stop or Stop())


def served(exchange: Exchange, engine: AddedEngine, stop: Stop) -> list[RemoteModel]:
    body = exchange.get(exchange.base.copy_with(path=f"{exchange.base.path}/models"), stop)
    try:
        listed = (json_of(body, _List).data or [])[:MOST_MODELS]
    except ValueError as error:
        raise NotAnEngine(
            f"{engine.place} does not list its models as OpenAI's interface does.",
            "Check the address: most end with /v1.",
        ) from error
    if not listed:
        raise NoModels(f"{engine.place} serves no model at the moment.", "Load one there, then try again.")
    server = _OWNERS.get(listed[0].owned_by or "")
    found = [_model(item, server or "openai") for item in listed]
    if server == "llama-server":
        return _with_props(found, exchange, stop)
    return found if server else _recognised(found, exchange, stop)


def details(model: RemoteModel, exchange: Exchange, stop: Stop) -> RemoteModel:
    """Return the model with what takes a request of its own: what Ollama says of it."""
    if model.server != "ollama":
        return model
    with suppress(*_OTHERWISE, ValueError):
        body = exchange.post(exchange.root.join("api/show"), {"model": model.id}, stop)
        told = json_of(body, _OllamaModel).model_info
        architecture = told.get("general.architecture")
        context = told.get(f"{architecture}.context_length")
        parameters = told.get("general.parameter_count")
        return replace(
            model,
            architecture=architecture if isinstance(architecture, str) else None,
            context=context if isinstance(context, int) and context > 0 else None,
            parameters=parameters if isinstance(parameters, int) and parameters > 0 else None,
        )
    return model


def _model(item: _Listed, server: ServerKind) -> RemoteModel:
    told = item.meta or _Meta()
    context = item.max_model_len or told.n_ctx or told.n_ctx_train or item.context_length
    return RemoteModel(
        id=item.id,
        server=server,
        context=context or item.context_window,
        parameters=told.n_params,
        nbytes=told.size,
        vocabulary=told.n_vocab,
    )


def _with_props(found: list[RemoteModel], exchange: Exchange, stop: Stop) -> list[RemoteModel]:
    """Return the models with the context that one answer of llama-server has, if it tells."""
    with suppress(*_OTHERWISE, ValueError):
        told = json_of(exchange.get(exchange.root.join("props"), stop), _Props)
        if context := told.default_generation_settings.n_ctx:
            return [replace(model, context=context) for model in found]
    return found


def _recognised(found: list[RemoteModel], exchange: Exchange, stop: Stop) -> list[RemoteModel]:
    """Return the models of LM Studio or Ollama as such, and of other servers as they are."""
    with suppress(*_OTHERWISE, ValueError):
        studio = json_of(exchange.get(exchange.root.join("api/v0/models"), stop), _StudioList)
        told = {model.id: model for model in studio.data}
        chats = [model for model in found if model.id not in told or told[model.id].type != "embeddings"]
        return [_of_studio(model, told.get(model.id)) for model in chats]
    with suppress(*_OTHERWISE, ValueError):
        json_of(exchange.get(exchange.root.join("api/version"), stop), _OllamaVersion)
        return [replace(model, server="ollama") for model in found]
    return found


def _of_studio(model: RemoteModel, told: _Studio | None) -> RemoteModel:
    if told is None:
        return replace(model, server="lm-studio")
    return replace(
        model,
        server="lm-studio",
        context=told.loaded_context_length or told.max_context_length,
        architecture=told.arch,
    )
