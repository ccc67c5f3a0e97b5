"""The results of a card's checks, kept in a file of the user's data folder until card, driver, torch or
program change."""

from contextlib import suppress
from importlib import metadata
from pathlib import Path

import msgspec
import platformdirs

from engine import machine
from engine.documents import read_json
from engine.files import write_whole
from engine.proof.trial import TriedWay

CHECKS = 5  # raised whenever checks ask more: what they have shown before is forgotten
_TRITON = ("triton", "triton-windows", "pytorch-triton", "pytorch-triton-rocm")  # names of its packages


class CardIdentity(msgspec.Struct, frozen=True):
    """The hardware and software on which the results depend. capability: such as "8.9"; triton: "" if it is
    missing; problem: why Triton cannot compile kernels (`TorchBuild.kernel_problem`), "" if it can; checks:
    `CHECKS`, which older files do not tell."""

    card: str
    uuid: str
    capability: str
    driver: str
    torch: str
    triton: str
    problem: str
    program: str
    checks: int = 1


class CardRecord(msgspec.Struct, frozen=True):
    """The content of the file."""

    identity: CardIdentity
    tried: list[TriedWay]


def identity_of(gpu: machine.Gpu) -> CardIdentity:
    torch = machine.installed_torch()
    capability = "{}.{}".format(*gpu.compute_capability) if gpu.compute_capability else gpu.architecture
    return CardIdentity(
        card=gpu.name,
        uuid=gpu.uuid,
        capability=capability,
        driver=gpu.driver or "",
        torch=torch.version if torch else "",
        triton=next(filter(None, map(_version, _TRITON)), ""),
        problem=(torch and torch.kernel_problem) or "",
        program=_version("specexec-desktop"),
        checks=CHECKS,
    )


def read(identity: CardIdentity) -> list[TriedWay]:
    """Return the results for this card; none if the file is about another one, missing or damaged."""
    try:
        kept = read_json(_file(), CardRecord)
    except (OSError, ValueError):
        return []
    return kept.tried if kept.identity == identity else []


def write(identity: CardIdentity, tried: list[TriedWay]) -> None:
    """Replace the file. Does nothing, and raises no error, if it cannot be written."""
    content = msgspec.json.format(msgspec.json.encode(CardRecord(identity, tried)))
    with suppress(OSError):
        _file().parent.mkdir(parents=True, exist_ok=True)
        write_whole(_file(), content)


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _file() -> Path:
    return platformdirs.user_data_path("specexec-desktop", appauthor=False) / "card.json"
