"""How the objects of this room report that the store cannot be read or written."""

from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import SignalInstance

from app.store import StoreError


@contextmanager
def reporting(signal: SignalInstance) -> Iterator[None]:
    """Emit a StoreError by a signal instead of raising it."""
    try:
        yield
    except StoreError as error:
        signal.emit(error)
