"""The server's paths: OpenAI's and Anthropic's interfaces below /v1, and /health and /metrics."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from msgspec import structs
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from engine import protocol
from engine.server import (
    anthropic_messages,
    message_reply,
    openai_chat,
    openai_errors,
    openai_responses,
    openai_text,
    replies,
)
from engine.server.chat_reply import ChatWording
from engine.server.chat_request import chat_of, count_of, parts_of
from engine.server.engine_client import EngineClient
from engine.server.faults import RequestFault
from engine.server.gate import Gate
from engine.server.message_reply import MessageWording
from engine.server.metrics import Metrics
from engine.server.prompt_request import PromptRequest
from engine.server.replies import Wording
from engine.server.response_reply import ResponseWording
from engine.server.served import ServedModel, installed, loaded_model

RETRY_AFTER_S = 5
OTHER_PATHS = "other"  # the label of requests for them in /metrics
ErrorShape = Callable[[RequestFault], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Interface:
    """A path that answers prompts. last: data at the very end of the events."""

    path: str
    read: Callable[[bytes], PromptRequest]
    wording: Callable[[PromptRequest, str], Wording]
    error: ErrorShape = openai_errors.error_of
    last: str = ""


INTERFACES = (
    Interface("/v1/chat/completions", openai_chat.read_chat, ChatWording, last="[DONE]"),
    Interface("/v1/completions", openai_text.read_text, openai_text.TextWording, last="[DONE]"),
    Interface("/v1/responses", openai_responses.read_response, ResponseWording),
    Interface(
        "/v1/messages",
        anthropic_messages.read_messages,
        MessageWording,
        message_reply.error_of,
    ),
)


@dataclass(frozen=True, slots=True)
class SiteOptions:
    """load: the request that loads the first model, if no other client has loaded one. key: None: none is
    asked for. hosts: names under which the server may be addressed. origins: web pages that may
    ask. switches: whether a request that names another installed model loads it. most_waiting: requests that
    may wait for the one in progress.
    """

    load: protocol.Load
    key: str | None = None
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    switches: bool = False
    most_waiting: int = 16


class Site:
    """The server's application: `app`, for an ASGI server."""

    def __init__(self, options: SiteOptions, engine: EngineClient) -> None:
        self._options = options
        self._engine = engine
        self._metrics = Metrics()
        self._choosing = asyncio.Lock()
        routes = [
            Route("/health", self._health),
            Route("/metrics", self._show_metrics),
            Route("/v1/models", self._shaped(self._list_models)),
            Route("/v1/models/{name:path}", self._shaped(self._show_model)),
            Route(
                "/v1/messages/count_tokens",
                self._shaped(self._count, message_reply.error_of),
                methods=["POST"],
            ),
        ]
        for interface in INTERFACES:
            act = self._shaped(self._answering(interface), interface.error)
            routes.append(Route(interface.path, act, methods=["POST"]))
        self._counted = {route.path for route in routes}
        self.app = Gate(
            Starlette(
                routes=routes,
                exception_handlers={HTTPException: _http_error},  # type: ignore[dict-item]
            ),
            key=options.key,
            hosts=options.hosts,
            origins=options.origins,
            refused=self._count_request,
        )

    def _shaped(
        self,
        act: Callable[[Request], Awaitable[Response]],
        shape: ErrorShape = openai_errors.error_of,
    ) -> Callable[[Request], Awaitable[Response]]:
        """Return a handler that counts requests and gives faults the shape of its interface."""

        async def handled(request: Request) -> Response:
            try:
                response = await act(request)
            except RequestFault as fault:
                response = JSONResponse(shape(fault), fault.status, headers=dict(fault.headers))
            self._count_request(request.url.path, response.status_code)
            return response

        return handled

    def _count_request(self, path: str, status: int) -> None:
        """Count a request. Paths that name no page of their own are counted together: there may be any number
        of them."""
        self._metrics.count_request(path if path in self._counted else OTHER_PATHS, status)

    # -- prompts ---------------------------------------------------------------------------------------------

    def _answering(self, interface: Interface) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            asked = interface.read(await request.body())
            model = await self._model(asked.model)
            wording = interface.wording(asked, model.name)
            events = self._events(asked, model, _asker(request))
            parts = parts_of(asked, self._template())
            if asked.streams:
                return await replies.sent_as_events(request, events, wording, parts, interface.last)
            return await replies.sent_whole(request, events, wording, parts)

        return answer

    async def _events(
        self, asked: PromptRequest, model: ServedModel, asker: str
    ) -> AsyncGenerator[protocol.Event, None]:
        """Ask the engine, and yield the answer's events. Raises RequestFault."""
        if self._engine.active > self._options.most_waiting:
            raise RequestFault(
                429,
                "queue_full",
                f"{self._engine.active} requests are waiting already. Try again later.",
                headers={"Retry-After": str(RETRY_AFTER_S)},
            )
        loaded = self._engine.loaded
        target = loaded.target.path if loaded else str(model.path)
        chat = chat_of(asked, self._template(), asker, target)
        async with contextlib.aclosing(self._engine.answer(chat)) as events:
            async for event in events:
                if isinstance(event, protocol.Answer):
                    self._metrics.count_answer(event)
                yield event

    def _template(self) -> str:
        """Return the loaded model's chat template."""
        loaded = self._engine.loaded
        return loaded.chat_template if loaded else ""

    async def _model(self, name: str) -> ServedModel:
        """Return the loaded model if the client means it; otherwise load the one that it names, if that is
        allowed. Raises RequestFault."""
        async with self._choosing:
            await self._load_first()
            models = await asyncio.to_thread(installed)
            loaded = self._engine.loaded
            if loaded is not None:
                served = loaded_model(loaded, models)
                if served.is_called(name) or name == loaded.target.name:
                    return served
            wanted = next((model for model in models if model.is_called(name)), None)
            if wanted is None or not self._options.switches:
                here = loaded_model(loaded, models).name if loaded else "none"
                switch = "" if self._options.switches else " The server does not switch models."
                raise RequestFault(
                    404,
                    "model_not_found",
                    f"The model '{name[:200]}' is not loaded; {here} is.{switch}",
                    "model",
                )
            await self._engine.load(_of(self._options.load, wanted.target))
            return wanted

    async def begin(self) -> ServedModel:
        """Join the engine, load the first model if none is loaded, and return the loaded one. Raises
        RequestFault."""
        await self._load_first()
        loaded = self._engine.loaded
        assert loaded is not None
        return loaded_model(loaded, await asyncio.to_thread(installed))

    async def _load_first(self) -> None:
        """Load a model if none is loaded: what another client, such as the window, has loaded last and
        unloaded since, or else what the options say."""
        await self._engine.joined()
        if self._engine.loaded is None:
            last = self._engine.last
            asked = structs.replace(last, asker=self._options.load.asker) if last else self._options.load
            await self._engine.load(asked)

    # -- other paths -----------------------------------------------------------------------------------------

    async def _count(self, request: Request) -> Response:
        asked = anthropic_messages.read_count(await request.body())
        await self._load_first()
        return JSONResponse({"input_tokens": await self._engine.count(count_of(asked, self._template()))})

    async def _health(self, request: Request) -> Response:
        loaded = self._engine.loaded
        status = {"status": "ok" if loaded else "no model loaded", "waiting": self._engine.active}
        return JSONResponse(status, 200 if loaded else 503)

    async def _show_metrics(self, request: Request) -> Response:
        text = self._metrics.text(self._engine.active)
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4")

    async def _list_models(self, request: Request) -> Response:
        return JSONResponse({"object": "list", "data": [_described(model) for model in await self._models()]})

    async def _show_model(self, request: Request) -> Response:
        name = request.path_params["name"]
        for model in await self._models():
            if model.is_called(name):
                return JSONResponse(_described(model))
        raise RequestFault(404, "model_not_found", f"There is no model '{name[:200]}'.", "model")

    async def _models(self) -> list[ServedModel]:
        """Return the models that a request may name, the loaded one first."""
        models = await asyncio.to_thread(installed)
        loaded = self._engine.loaded
        first = [loaded_model(loaded, models)] if loaded else []
        return first + [model for model in models if self._options.switches and model not in first]


def _of(load: protocol.Load, target: str) -> protocol.Load:
    return protocol.Load(id=0, target=target, device=load.device, dtype=load.dtype, asker=load.asker)


def _described(model: ServedModel) -> dict[str, Any]:
    about = {"id": model.name, "object": "model", "created": 0, "owned_by": "specexec-desktop"}
    return about if model.context is None else {**about, "max_model_len": model.context}  # vLLM's name


def _asker(request: Request) -> str:
    """Return the name of the client's program, as other clients of the engine show it."""
    return request.headers.get("user-agent", "").partition(" ")[0][:80]


async def _http_error(request: Request, error: HTTPException) -> Response:
    """Answer a path that does not exist, or a method that it does not have."""
    fault = RequestFault(
        error.status_code, "not_found", f"{request.method} {request.url.path}: {error.detail}."
    )
    return JSONResponse(openai_errors.error_of(fault), error.status_code)
