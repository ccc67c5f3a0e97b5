"""Loads heads that ought to be refused."""

from contextlib import contextmanager

import pytest

from engine.errors import BadCheckpoint, SpecExecError
from engine.heads import load_heads, open_heads


def load(folder, target):
    return load_heads(open_heads(folder), target, 64)


@contextmanager
def refused(kind=BadCheckpoint, saying=None):
    """The block ends in a named error of exactly this kind, of bounded length, with a hint."""
    with pytest.raises(kind, match=saying) as caught:
        yield
    assert caught.type is kind
    assert caught.value.hint
    assert len(caught.value.message) < 600


def refusal(folder, target):
    """The named error that opening and loading ends in, if any."""
    try:
        if (found := open_heads(folder)) is not None:
            load_heads(found, target, 64)
    except SpecExecError as error:
        return error
    return None
