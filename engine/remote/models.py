"""What an engine elsewhere serves, and which kind of server it is."""

from dataclasses import dataclass
from typing import Literal

from engine.hub.stop import Stop
from engine.remote.engines import AddedEngine

ServerKind = Literal["vllm", "sglang", "llama-server", "lm-studio", "ollama", "specexec", "openai"]


@dataclass(frozen=True, slots=True)
class RemoteModel:
    """A model that an engine elsewhere serves.

    id: its name there. server: the kind of server; "openai" stands for every other that speaks OpenAI's
    interface. context: tokens; parameters, nbytes, vocabulary: as in `ModelInfo`; None: not told.
    """

    id: str
    server: ServerKind
    context: int | None = None
    parameters: int | None = None
    nbytes: int | None = None
    vocabulary: int | None = None


def models(engine: AddedEngine, key: str | None = None, stop: Stop | None = None) -> list[RemoteModel]:
    """Return the models that an engine serves. May wait for half a minute.

    Raises EngineUnreachable, CertificateRefused, KeyInClear, KeyRefused, EngineBusy, NotAnEngine, NoModels;
    Stopped.
    """
    raise NotImplementedError
