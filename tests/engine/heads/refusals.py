"""Loading of heads that should be refused."""

from contextlib import contextmanager

import pytest

from engine.errors import BadCheckpoint, SpecExecError
from engine.heads import open_heads
from engine.torch_model.heads import load_heads


def load(folder, target):
    return load_heads(open_heads(folder), target, 64)


@contextmanager
def refused(kind=BadCheckpoint, saying=None):
    """Check that the block raises exactly this kind of named error, of bounded length, with a hint."""
    with pytest.raises(kind, match=saying) as caught:
        yield
    assert caught.type is kind
    assert caught.value.hint
    assert len(caught.value.message) < 600


def refusal(folder, target):
    """Return the named error that opening and loading raises, or None."""
    try:
        if (file := open_heads(folder)) is not None:
            load_heads(file, target, 64)
    except SpecExecError as error:
        return error
    return None
