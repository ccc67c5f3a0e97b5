"""A model whose logits are a function of the path that a row sees. It notices every row that sees a slot too
many or too few, or a slot that holds another token than it should."""

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from engine.model.interface import Model, no_progress
from engine.model.kv_cache import KVCache, SharedCache
from engine.model.rows import Output

VOCABULARY = 12
LAYERS = 3


class PathCache(KVCache):
    """Holds the position and the token of each row."""

    def __init__(self, capacity, beside=0):
        super().__init__(capacity, beside)
        self.store = np.full((self.slots, 2), -1)

    @property
    def nbytes(self):
        return self.store.nbytes

    @property
    def form(self):
        return "position and token"

    def read_rows(self, first, count):
        return self.store[first : first + count].flatten().view(np.uint8)

    def write_rows(self, first, rows):
        shaped = rows.view(self.store.dtype).reshape(-1, 2)
        self.store[first : first + len(shaped)] = shaped

    def move(self, source, first):
        self.store[first : first + len(source)] = self.store[list(source)]

    def shared(self):
        return SharedPathCache(self)


class PathStateCache(PathCache):
    """Its committed rows stand for a state, which goes back to savepoints only."""

    rows_suffice = False
    record_nbytes = 1

    def __init__(self, capacity, beside=0):
        super().__init__(capacity, beside)
        self.saved = {0}

    def save(self):
        self.saved.add(self.length)

    def keepable(self, length):
        return self.length if length >= self.length else max(each for each in self.saved if each <= length)

    def truncate(self, length):
        assert length == self.keepable(length)
        self.saved = {each for each in self.saved if each <= length}
        super().truncate(length)


class SharedPathCache(SharedCache, PathCache):
    def __init__(self, owner):
        super().__init__(owner.capacity, owner.beside)
        self.store = owner.store


@lru_cache(1 << 16)  # draft, target and plain decoding ask for the same paths
def logits_after(seed, path):
    return np.random.default_rng([seed, *path]).normal(scale=2.0, size=VOCABULARY)


@dataclass
class PathModel(Model):
    """`closeness`: 1: a draft that equals the target; below: its logits differ. `computed`: the path of each
    row of every complete pass. `on_layer`: called before each layer of a pass. `has_states`: whether layers
    have states in place of rows."""

    seed: int = 0
    closeness: float = 1.0
    streamer: object = None
    computed: list = field(default_factory=list)
    on_layer: object = no_progress
    has_states: bool = False

    vocabulary = VOCABULARY
    layers = LAYERS
    width = 1
    device = "cpu"
    packed = True
    arithmetic = "paths"
    nbytes = 0

    def new_cache(self, capacity, beside=0):
        return (PathStateCache if self.has_states else PathCache)(capacity, beside)

    def embed(self, tokens):
        raise NotImplementedError

    def output_head(self):
        raise NotImplementedError

    def forward(
        self, rows, cache, tail_positions=None, logits_for=slice(None), hidden_layers=(), progress=no_progress
    ):
        assert cache.rows_suffice or rows.in_order
        cache.reserve(len(rows))
        first = cache.tail_start + cache.tail
        cache.store[first : first + len(rows)] = np.stack([rows.positions, rows.tokens], axis=1)
        paths, logits = [], []
        for row in range(len(rows)):
            slots = list(range(cache.length))
            if rows.visible is None:
                slots += range(first, first + row + 1)
            else:
                slots += (cache.tail_start + np.flatnonzero(rows.visible[row])).tolist()
            seen = sorted(cache.store[slots].tolist())
            assert [position for position, _ in seen] == list(range(len(seen))), (
                "a row sees one row per position"
            )
            paths.append(tuple(token for _, token in seen))
            own = logits_after(self.seed, paths[-1])
            other = logits_after(self.seed + 1000, paths[-1])
            logits.append(self.closeness * own + (1 - self.closeness) * other)
        for layer in range(LAYERS):
            progress(layer, LAYERS)
            self.on_layer(layer, LAYERS)
        progress(LAYERS, LAYERS)
        self.computed += paths
        cache.extend_tail(len(rows))
        return Output(np.array(logits, np.float32)[logits_for], {})
