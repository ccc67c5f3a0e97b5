"""What a tokenizer is made of, whatever file it was read from, and what may go wrong in it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import tokenizers

from engine.errors import BadCheckpoint, SpecExecError


@dataclass(frozen=True, slots=True)
class Parts:
    """`template_tokens`: what a chat template calls bos_token, eos_token, ...; `add_bos`: text without a
    chat template begins with `bos_id`; `eos_ids`: the end tokens the tokenizer's own files name."""

    backend: tokenizers.Tokenizer
    chat_template: str | None
    bos_id: int | None
    add_bos: bool
    eos_ids: frozenset[int]
    template_tokens: dict[str, str]


@contextmanager
def named_errors(what: str, hint: str) -> Iterator[None]:
    """What tokenizers raises becomes a BadCheckpoint: bare Exceptions, and Rust's panics, which are none and
    have no class that could be imported."""
    try:
        yield
    except SpecExecError:
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise BadCheckpoint(f"{what}: {str(error)[:200]}.", hint) from error
