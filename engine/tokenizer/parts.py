"""What a tokenizer is made of, whatever file it was read from."""

from dataclasses import dataclass

import tokenizers


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
