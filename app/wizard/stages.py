"""How far something long is, whatever it is: what `ProgressView` shows. Plain data; knows no Qt."""

from dataclasses import dataclass
from typing import Literal

from engine import hub

State = Literal["waiting", "running", "paused", "done", "failed", "cancelled"]
StageState = Literal["waiting", "running", "trouble", "done"]


@dataclass(frozen=True, slots=True)
class Stage:
    """A part of it, say one file. `done` of `total` are bytes; total 0: nobody knows how many. `note`: what
    is going on in it, in words."""

    name: str
    state: StageState
    done: int = 0
    total: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class Shown:
    """All of it. `bytes_per_s`: 0 where it does not advance; `seconds_left`: None where nobody knows;
    `trouble` and `hint`: what is wrong, and the next step; `can_pause`: else it can only be cancelled;
    `deletes`: cancelling deletes what is done."""

    title: str
    state: State
    done: int
    total: int
    bytes_per_s: float = 0.0
    seconds_left: float | None = None
    trouble: str = ""
    hint: str = ""
    stages: tuple[Stage, ...] = ()
    can_pause: bool = True
    deletes: bool = False


def of_download(download: hub.Download) -> Shown:
    seen = download.progress()
    return Shown(
        title=download.item.name,
        state=seen.state,
        done=seen.done_nbytes,
        total=seen.nbytes,
        bytes_per_s=seen.bytes_per_s,
        seconds_left=seen.seconds_left,
        trouble=seen.trouble,
        hint=download.error.hint if download.error else "",
        stages=tuple(_of_file(file) for file in seen.files),
        deletes=True,
    )


def _of_file(file: hub.FileProgress) -> Stage:
    states: dict[str, StageState] = {
        "waiting": "waiting",
        "checking": "running",
        "downloading": "running",
        "retrying": "trouble",
        "done": "done",
    }
    note = file.trouble or file.state if file.state in ("checking", "retrying") else ""
    return Stage(file.name.rpartition("/")[2], states[file.state], file.done_nbytes, file.nbytes, note)
