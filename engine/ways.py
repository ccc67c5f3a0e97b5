"""Ways of computing on a graphics card: for each kind of kernel, the fastest way and the safer ones.

The one table of them, and the ways that this process takes. The fastest way is taken until a check of the
card (`engine.proof`) has found that it does not work there. Plain data, independent of torch.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Way:
    """One way of running a kernel. name: an identifier. words: what happens then, as the end of a sentence
    for the user."""

    name: str
    words: str


@dataclass(frozen=True, slots=True)
class Ladder:
    """The ways of one kind of kernel, the fastest first.

    Attributes: `task`: what the kernel does, as the beginning of a sentence; `limit_s`: seconds that a check
    of one way may take, compiling included.
    """

    task: str
    limit_s: float
    ways: tuple[Way, ...]

    def after(self, way: str) -> Way | None:
        """Return the next safer way; None if `way` is the last."""
        names = [each.name for each in self.ways]
        place = names.index(way) + 1
        return self.ways[place] if place < len(names) else None


# In the order of checking: each kind may rely on those before it.
LADDERS: dict[str, Ladder] = {
    "memory": Ladder("Copying within the card's memory", 30.0, (Way("card", ""),)),
    "dense": Ladder("Multiplying matrices", 60.0, (Way("card", ""),)),
    "halves": Ladder(
        "Multiplying in float16",
        60.0,
        (
            Way("card", ""),
            Way("float32", "matrices are multiplied in float32"),
        ),
    ),
    "unpack": Ladder(
        "Unpacking weights",
        60.0,
        (
            Way("triton", ""),
            Way("torch", "plain torch unpacks them, which is several times slower"),
            Way("processor", "the processor unpacks them, which is much slower"),
        ),
    ),
    "product": Ladder(
        "Multiplying by packed weights",
        120.0,
        (Way("triton", ""), Way("unpack", "the weights are unpacked first, which is slower for few tokens")),
    ),
    "attention": Ladder(
        "Attention", 30.0, (Way("fused", ""), Way("math", "it is computed step by step, which is slower"))
    ),
    "scores": Ladder(
        "Attention with sinks or capped scores",
        30.0,
        (Way("card", ""), Way("float32", "it is computed in float32, which is slower")),
    ),
    "states": Ladder(
        "Layers with states",
        60.0,
        (Way("solver", ""), Way("rows", "systems of equations are solved row by row, which is slower")),
    ),
    "copies": Ladder(
        "Copying from pinned memory",
        30.0,
        (
            Way("pinned", ""),
            Way("staging", "the driver copies weights through its own buffer, which is slower"),
        ),
    ),
    "streams": Ladder(
        "Copying while computing",
        30.0,
        (Way("two", ""), Way("one", "copying and computing take turns, which is slower")),
    ),
    "noise": Ladder(
        "The noise for sampling", 30.0, (Way("card", ""), Way("processor", "the processor computes it"))
    ),
    "graphs": Ladder(
        "Replaying a CUDA graph",
        60.0,
        (Way("replay", ""), Way("launches", "kernels are launched one by one, which is slower")),
    ),
}

_taken: dict[str, str] = {}  # the way of each kernel that does not take the fastest one


def name_of(kind: str, *subject: object) -> str:
    """Return a kernel's name: its kind and what it works on, such as "unpack Q4_K bfloat16"."""
    return " ".join([kind, *(str(part).removeprefix("torch.") for part in subject)])


def kind_of(kernel: str) -> str:
    return kernel.partition(" ")[0]


def taken(kind: str, *subject: object) -> str:
    """Return the name of the way that this process takes for a kernel."""
    fastest = LADDERS[kind].ways[0].name
    return _taken.get(name_of(kind, *subject), fastest) if _taken else fastest


def take(ways: Mapping[str, str]) -> None:
    """Take these ways from now on, given as kernel -> way; for all other kernels, the fastest."""
    for kernel, way in ways.items():
        if way not in (each.name for each in LADDERS[kind_of(kernel)].ways):
            raise ValueError(f"{kernel} has no way {way}")
    _taken.clear()
    _taken.update(ways)


@contextmanager
def taking(ways: Mapping[str, str]) -> Iterator[None]:
    """Take these ways inside the `with` block, and those before it afterwards."""
    before = dict(_taken)
    take(ways)
    try:
        yield
    finally:
        take(before)
