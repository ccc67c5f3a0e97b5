"""The official clients of the two interfaces, each imported when something of it is first used: their types
take 4 s of processor time, also in a process whose tests use neither."""

from importlib import import_module
from typing import Any


class OnUse:
    """A module that is imported when an attribute of it is first read."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # pytest asks everything in a file of tests whether it is one
            raise AttributeError(name)
        return getattr(import_module(self._name), name)


anthropic: Any = OnUse("anthropic")
openai: Any = OnUse("openai")
