"""The parts that a tokenizer is built from, the same for every file format, and its library's errors."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import tokenizers

from engine.errors import BadCheckpoint, SpecExecError

DAMAGED = "The file is damaged; download it again or choose another file of this model."


@dataclass(frozen=True, slots=True)
class TokenizerParts:
    """The parts of a tokenizer.

    Attributes: `backend`: the tokenizer of the tokenizers library; `bos_id`: None if there is no BOS token;
    `add_bos`: whether text without a chat template starts with `bos_id`; `eos_ids`: the end tokens that the
    files name; `template_tokens`: the texts of bos_token, eos_token, ... for the chat template.
    """

    backend: tokenizers.Tokenizer
    chat_template: str | None
    bos_id: int | None
    add_bos: bool
    eos_ids: frozenset[int]
    template_tokens: dict[str, str]


@contextmanager
def named_errors(what: str, hint: str) -> Iterator[None]:
    """Turn errors from the tokenizers library into BadCheckpoint. The library raises bare Exceptions, and
    Rust panics, which are not Exceptions and have no class to import."""
    try:
        yield
    except SpecExecError:
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise BadCheckpoint(f"{what}: {str(error)[:200]}.", hint) from error
