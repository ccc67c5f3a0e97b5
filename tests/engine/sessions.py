"""Random passes of two models with the same weights."""

import random

import numpy as np
import torch

from tests.engine.models import VOCABULARY


def assert_same(plain, replayed):
    torch.testing.assert_close(replayed, plain, rtol=1e-5, atol=2e-5)


class Session:
    """Runs both sequences through the same random passes."""

    def __init__(self, plain, replayed, seed):
        self.both = (plain, replayed)
        self.random = random.Random(seed)
        self.held = []  # logits and hidden states of both, compared at the end: no pass may overwrite them

    def tokens(self, count):
        return [self.random.randrange(3, VOCABULARY) for _ in range(count)]

    def extend(self, count):
        tokens = self.tokens(count)
        self.held.append([each.extend(tokens) for each in self.both])

    def grow(self, passes, most):
        """Run a random tree in several passes, deeper than the windows, and keep a random path of it."""
        root = len(self.both[0].ids)
        last = self.both[0].model.layers
        visible = np.zeros((0, 0), np.bool_)
        tokens, paths = [], []
        for _ in range(passes):
            before, count = len(tokens), self.random.randint(1, most)
            visible = np.pad(visible, (0, count))
            for node in range(before, before + count):
                parent = self.random.choice([node - 1, node - 1, node - 1, self.random.randrange(-1, node)])
                if parent >= 0:
                    visible[node] = visible[parent]
                visible[node, node] = True
                paths.append([*(paths[parent] if parent >= 0 else []), node])
            tokens += self.tokens(count)
            positions = [root - 1 + len(path) for path in paths[before:]]
            outputs = [
                each.consider(tokens[before:], positions, visible[before:], hidden_layers=(0, last))
                for each in self.both
            ]
            self.held.append([output.logits for output in outputs])
            for layer in (0, last):
                self.held.append([output.hidden[layer] for output in outputs])
        path = self.random.choice(paths)
        kept = path[: self.random.randint(0, len(path))]
        for each in self.both:
            each.keep(kept, [tokens[node] for node in kept])

    def check(self):
        for plain, replayed in self.held:
            assert plain.shape == replayed.shape
            assert_same(plain, replayed)
        caches = [each.cache for each in self.both]
        for layer in range(self.both[0].model.layers):
            assert_same(*(cache.rows(layer) for cache in caches))
