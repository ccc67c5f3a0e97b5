"""Graphics cards, machines and published measurements by name, from resources/machines.toml."""

import tomllib
from dataclasses import dataclass
from functools import cache
from typing import Any

from engine.catalog import RESOURCES
from engine.planner.machines import Compute, Machine, described, graphics_card, processor


@dataclass(frozen=True, slots=True)
class Published:
    """A measurement of the paper's. `tokens_per_pass` and `speed_up` over plain decoding: None where they
    were not published. `vram`: GiB; `link`: bytes a second; `link_from` says where that comes from; `note`:
    for a person, where the two do not agree."""

    name: str
    card: str
    vram: float
    target: str
    draft: str
    budget: int
    tokens_per_second: float
    link: float
    link_from: str
    tokens_per_pass: float | None
    speed_up: float | None
    note: str


@cache
def cards() -> dict[str, Compute]:
    """By a part of their names; "" is any other."""
    return {name: graphics_card(**said) for name, said in _said()["cards"].items()}


def usual_card(vram_gib: float) -> Compute:
    """What a card of that size can do at least: the largest of the machines' cards that is no larger."""
    sizes = {said["vram"]: said["card"] for said in _said()["machines"].values() if "card" in said}
    fitting = [size for size in sizes if size <= vram_gib] or [min(sizes)]
    return cards()[sizes[max(fitting)]]


def named_machines() -> dict[str, tuple[str, Machine]]:
    """(name for a person, machine) by id."""
    return {id: (said["name"], _machine(said)) for id, said in _said()["machines"].items()}


def published() -> list[Published]:
    found = []
    for said in _said()["published"]:
        link = said.pop("link_gb_per_s") * 1e9
        found.append(
            Published(**{"tokens_per_pass": None, "speed_up": None, "note": "", **said, "link": link})
        )
    return found


def _machine(said: dict[str, Any]) -> Machine:
    return described(
        said.get("vram", 0),
        said["ram"],
        said.get("link_gb_per_s", 1) * 1e9,
        said["disk_gb_per_s"] * 1e9,
        cards()[said.get("card", "")],
        processor(said["cores"], set(said["features"])),
    )


def _said() -> dict[str, Any]:
    return tomllib.loads((RESOURCES / "machines.toml").read_text(encoding="utf-8"))
