"""Where one machine is outgrown: the commands and files by which other engines serve the same target.

The planner's arithmetic says whether a target fits so many cards and how it is split among them; one file per
engine writes the command. Plain data in, text out: nothing is started, downloaded or asked.
"""

from engine.scale.cluster import Cluster, cluster_of
from engine.scale.emission import EMITTERS, Emission, emit
from engine.scale.layout import Forced, Layout, Load, layouts_for
from engine.scale.order import Order
from engine.scale.source import Source, gguf_source, hub_source
from engine.scale.speculation import METHODS, Speculation, Wish, choice_for

__all__ = [
    "EMITTERS",
    "METHODS",
    "Cluster",
    "Emission",
    "Forced",
    "Layout",
    "Load",
    "Order",
    "Source",
    "Speculation",
    "Wish",
    "choice_for",
    "cluster_of",
    "emit",
    "gguf_source",
    "hub_source",
    "layouts_for",
]
