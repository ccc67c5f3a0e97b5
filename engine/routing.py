"""How the mixtures of a model have routed so far: counts that are kept for each model in the user's data
folder, and the hit rate of a cache of experts that follows from them."""

import hashlib
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec
import platformdirs

from engine import reads
from engine.checkpoints.limits import EXPERTS_LIMIT
from engine.documents import read_json
from engine.files import identity, write_whole

FEW_ROWS = 64  # rows on their own that are added to those counted
MOST_MODELS = 64  # whose counts are kept, two numbers for each expert: those used last


@dataclass(frozen=True, slots=True)
class RoutingCounts:
    """Decayed counts of passes, for each expert in the order of use.

    Attributes: `drawn`: passes that used the expert although the pass before had not; `fresh`: passes before
    which it was not used; `stayed`: experts, of all mixtures together, that a pass used after the pass
    before; `stays`: experts that the pass before had used; `passes`; of passes of more than one row:
    `others`: their rows behind the first ones; `apart`: how many rows that choose on their own use as many
    experts as these.
    """

    drawn: tuple[float, ...]
    fresh: tuple[float, ...]
    stayed: float
    stays: float
    passes: float
    others: float = 0.0
    apart: float = 0.0

    def __post_init__(self) -> None:
        """Raises ValueError if these cannot be counts."""
        pairs = [*zip(self.drawn, self.fresh, strict=True), (self.stayed, self.stays)]
        pairs.append((self.apart, self.others))
        pairs += [(each, self.passes + 1) for each in self.fresh]
        known = all(0 <= part <= whole < 1e9 for part, whole in pairs)
        if not 0 < len(self.drawn) <= EXPERTS_LIMIT or not known:
            raise ValueError("they are no counts")

    def rows_apart(self, rows: int) -> float:
        """Return how many rows that choose on their own use as many experts as `rows` rows of a tree, which
        share them. Until passes tell, each is on its own."""
        return 1 + (rows - 1) * (self.apart + FEW_ROWS) / (self.others + FEW_ROWS)

    def hit_rate(self, share: float) -> float:
        """Return the share of the experts chosen by a pass, of as many rows as those counted, that a cache of
        a `share` of all experts has in it: the most that a policy can reach that sees no future.

        An expert can be kept for one turn of all mixtures when it was used last, or always. Each takes a
        share of a slot and saves a number of misses; those that save most for a slot come first.
        """
        offers: list[tuple[float, float]] = []  # (misses saved for each slot, slots)
        mean = (sum(self.drawn) + 1) / (sum(self.fresh) + 20)
        again = (self.stayed + 0.5) / (self.stays + 1)
        for drawn, fresh in zip(self.drawn, self.fresh, strict=True):
            chance = (drawn + mean) / (fresh + 1)
            used_last = 1 - (fresh + 1) / (self.passes + 1 + mean)
            offers += [(max(again, chance), used_last), (chance, 1 - used_last)]
        room, hits = share * len(offers) / 2, 0.0
        for saved, slots in sorted(offers, reverse=True):
            taken = min(slots, room)
            room, hits = room - taken, hits + saved * taken
        return min(1.0, hits / sum(saved * slots for saved, slots in offers))


class RoutingFile:
    """The file with the counts kept for a model. Only making this touches the model's own files, whose disk
    may not answer later.

    Attribute: `path`: None if the model has no files; then nothing is kept.
    """

    def __init__(self, model: Path) -> None:
        """model: a GGUF file, which may be any part of several, or a folder or a file in it."""
        self.path: Path | None = None
        with suppress(OSError):
            self.path = _place(model)

    def read(self) -> RoutingCounts | None:
        """Return the counts; None if there are none, or if they are damaged."""
        if self.path is not None:
            with suppress(OSError, ValueError):
                return read_json(self.path, RoutingCounts)
        return None

    def keep(self, counts: RoutingCounts) -> None:
        """Replace the counts, and delete those of models that were not used for longest, if there are more
        than MOST_MODELS. Does nothing if their folder is not writable."""
        if self.path is not None:
            with suppress(OSError):
                self.path.parent.mkdir(parents=True, exist_ok=True)
                write_whole(self.path, msgspec.json.encode(counts))
                kept = sorted(self.path.parent.glob("*.json"), key=lambda file: file.stat().st_mtime_ns)
                for file in kept[:-MOST_MODELS]:
                    file.unlink()

    def delete(self) -> None:
        """Delete the counts. Does nothing if there are none, or if their folder is not writable."""
        if self.path is not None:
            with suppress(OSError):
                self.path.unlink()


def _place(model: Path) -> Path:
    """Return where the counts of a model are: it is known by the identity of its files. Raises OSError if it
    has none."""

    def files() -> list[Path]:
        with reads.noted():
            return _files(model)

    known = hashlib.blake2b(repr(identity(reads.aside(files))).encode(), digest_size=16).hexdigest()
    folder = platformdirs.user_data_path("specexec-desktop", appauthor=False) / "routing"
    return folder / f"{known}.json"


def _files(model: Path) -> list[Path]:
    """Return the files with a model's weights. Raises OSError if there are none."""
    if model.suffix.lower() != ".gguf":
        folder = model.parent if model.suffix == ".safetensors" else model
        files = list(folder.glob("*.safetensors"))
    elif part := re.fullmatch(r"(.+)-\d{5}(-of-\d{5})", model.stem):
        name = re.compile(rf"{re.escape(part[1])}-\d{{5}}{part[2]}{re.escape(model.suffix)}")
        files = [each for each in model.parent.iterdir() if name.fullmatch(each.name)]
    else:
        files = [model]
    if not files:
        raise FileNotFoundError(model)
    return files
