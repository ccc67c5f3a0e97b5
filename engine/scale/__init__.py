"""Where one machine is outgrown: the commands and files by which other engines serve the same target.

The planner's arithmetic says whether a target fits so many cards and how it is split among them; one file per
engine writes the command. Plain data in, text out: nothing is started, downloaded or asked.
"""

from engine.scale.cluster import Cluster, cluster_of
from engine.scale.emission import EMITTERS, Emission, emit
from engine.scale.layout import CardLayout, CardLoad, Forced, layouts_for
from engine.scale.order import ServerOrder
from engine.scale.source import ModelSource, gguf_source, hub_source
from engine.scale.speculation import METHODS, ChosenSpeculation, Wish, choice_for

__all__ = [
    "EMITTERS",
    "METHODS",
    "CardLayout",
    "CardLoad",
    "ChosenSpeculation",
    "Cluster",
    "Emission",
    "Forced",
    "ModelSource",
    "ServerOrder",
    "Wish",
    "choice_for",
    "cluster_of",
    "emit",
    "gguf_source",
    "hub_source",
    "layouts_for",
]
