"""How the mixtures of a model have routed so far: counts that are kept for each model in the user's data
folder, and the hit rate of a cache of experts that follows from them."""

import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec
import platformdirs

from engine.documents import read_json
from engine.files import write_whole

EXPERTS_LIMIT = 1 << 15  # the same as in engine.checkpoints
FEW_ROWS = 64  # rows on their own that are added to those counted


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


def kept_counts(file: Path) -> RoutingCounts | None:
    """Return the counts kept for the model that `file` belongs to; None if there are none, or if they are
    damaged."""
    with suppress(OSError, ValueError):
        return read_json(_place(file), RoutingCounts)
    return None


def keep_counts(file: Path, counts: RoutingCounts) -> None:
    """Keep the counts of the model that `file` belongs to. Does nothing if the folder is not writable."""
    place = _place(file)
    with suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        write_whole(place, msgspec.json.encode(counts))


def _place(file: Path) -> Path:
    """Return where the counts of a model are: it is known by the name of its GGUF file, without its part's
    number, or of its folder."""
    name = re.sub(r"-\d{5}-of-\d{5}", "", file.stem) if file.suffix == ".gguf" else file.name
    return platformdirs.user_data_path("specexec-desktop", appauthor=False) / "routing" / f"{name}.json"
