"""What is to be served, where and how: everything that an engine's command says."""

from dataclasses import dataclass

from engine.scale.cluster import Cluster
from engine.scale.layout import CardLayout
from engine.scale.source import ModelSource
from engine.scale.speculation import ChosenSpeculation


@dataclass(frozen=True, slots=True)
class ServerOrder:
    """One server.

    Attributes: `target`; `served`, the name that its clients give; `cluster`, on which `layout` fits; None if
    there are no cards (llama-server on a processor); `speculation`; `context`, the maximum number of tokens
    of prompt and answer together; `host` and `port`, where it listens.
    """

    target: ModelSource
    served: str
    cluster: Cluster | None
    layout: CardLayout
    speculation: ChosenSpeculation
    context: int
    host: str = "127.0.0.1"
    port: int = 8000
