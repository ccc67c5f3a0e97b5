"""Tells how well a draft fits a target, or why it does not: by vocabulary, special tokens and chat template.

Compares tokenizers and the number of rows in the models' tables, not weights. Does not import torch.
"""

from dataclasses import dataclass
from typing import Literal

from engine.checkpoints.vocabulary import ANOTHER_DRAFT, counted, is_unused, vocabulary_difference
from engine.errors import BadCheckpoint, SpecExecError
from engine.tokenizer import Tokenizer, vocabulary_of

SLOWER = "Answers stay right; more of the draft's guesses will be wrong. Another draft may be faster."
CONVERSATION = (
    {"role": "user", "content": "Why is the sky blue?"},
    {"role": "assistant", "content": "Air scatters blue light more than red."},
    {"role": "user", "content": "And at sunset?"},
)
TEXT = "The café's 2nd bill: $1,234.56.\n\n    def f(x):\n        return x ** 2  # 你好"


@dataclass(frozen=True, slots=True)
class Remark:
    """One way in which a draft does not fit.

    kind: what does not fit; message: one sentence for the user; hint: what the user can do about it; refused:
    True if the pair cannot run, False if it runs, but more guesses are wrong.
    """

    kind: Literal["vocabulary", "rows", "special_tokens", "spelling", "chat_template"]
    message: str
    hint: str
    refused: bool


def check_pair(target: Tokenizer, draft: Tokenizer, target_rows: int, draft_rows: int) -> list[Remark]:
    """Return everything that speaks against the pair, the worst first; an empty list if the draft fits.

    target_rows, draft_rows: number of rows in the models' tables, one per token, padding included.
    """
    if refused := _vocabulary(target, draft) or _rows(target, target_rows, draft_rows):
        return refused
    return _special_tokens(target, draft) + _spelling(target, draft) + _chat_template(target, draft)


def check_choice(tokenizer: Tokenizer, rows: int) -> None:
    """Raise BadCheckpoint if the checkpoint suppresses every token with which an answer could begin.

    rows: number of rows in the model's table, padding included.
    """
    count = min(tokenizer.vocabulary_size, rows)
    if (tokenizer.suppressed_ids | tokenizer.first_suppressed_ids).issuperset(range(count)):
        raise BadCheckpoint(
            "The model's settings allow none of its tokens (suppress_tokens, begin_suppress_tokens).",
            "Correct generation_config.json, or download the model again.",
        )


def _vocabulary(target: Tokenizer, draft: Tokenizer) -> list[Remark]:
    difference = vocabulary_difference(vocabulary_of(target), vocabulary_of(draft))
    return [_refused("vocabulary", difference)] if difference else []


def _rows(target: Tokenizer, target_rows: int, draft_rows: int) -> list[Remark]:
    """Refuse a draft whose table lacks rows: it could never guess the tokens whose rows are missing."""
    needed = min(target.vocabulary_size, target_rows)
    if draft_rows >= needed:
        return []
    return [_refused("rows", f"The draft's table holds {counted(draft_rows)}, the target's {needed:,}.")]


def _special_tokens(target: Tokenizer, draft: Tokenizer) -> list[Remark]:
    remarks = []
    if target.eos_ids != draft.eos_ids:
        ends = (
            f"{_named(target, target.eos_ids)} in the target and {_named(draft, draft.eos_ids)} in the draft"
        )
        remarks.append(_slower("special_tokens", f"An answer ends with {ends}."))
    both = target.special_ids & draft.special_ids
    if renamed := {index for index in both if target.token_text(index) != draft.token_text(index)}:
        first = min(renamed)
        ours, theirs = target.token_text(first), draft.token_text(first)
        message = f"Special tokens differ: token {first:,} is {ours} in the target and {theirs} in the draft."
        remarks.append(_slower("special_tokens", message))
    return remarks + _lone_special_tokens(target, draft)


def _lone_special_tokens(target: Tokenizer, draft: Tokenizer) -> list[Remark]:
    """Return remarks about the tokens that are special in one model only: text in the other, or missing. A
    token that no text uses is ignored."""
    if target.special_ids == draft.special_ids:
        return []
    remarks: list[Remark] = []
    text: dict[int, str] = {}
    missing: dict[int, str] = {}
    for owner, other in ((target, draft), (draft, target)):
        own, others = vocabulary_of(owner), vocabulary_of(other)
        for index in owner.special_ids - other.special_ids:
            if others.has_text(index):
                text[index] = owner.token_text(index)
            elif not is_unused(own.tokens.get(index)):
                missing[index] = owner.token_text(index)
    if text:
        message = (
            f"One model treats {counted(len(text))} as special and the other as plain text; "
            f"the first is {text[min(text)]}."
        )
        remarks.append(_slower("special_tokens", message))
    if missing:
        message = (
            f"Only one model has {counted(len(missing), 'special token')}; "
            f"the first is {missing[min(missing)]}."
        )
        remarks.append(_slower("special_tokens", message))
    return remarks


def _spelling(target: Tokenizer, draft: Tokenizer) -> list[Remark]:
    """Return a remark if the two split text differently: equal tokens may be merged by different rules."""
    if _encoded(target) == _encoded(draft):
        return []
    return [_slower("spelling", "The draft splits text into different tokens than the target.")]


def _chat_template(target: Tokenizer, draft: Tokenizer) -> list[Remark]:
    if target.chat_template == draft.chat_template:
        return []
    if draft.chat_template is None:
        return [
            _slower("chat_template", "The draft has no chat template: it was not trained on conversations.")
        ]
    if target.chat_template is None:
        return [_slower("chat_template", "The target has no chat template; the draft was trained with one.")]
    conversation = _conversation(target)
    if conversation is not None and conversation == _conversation(draft):
        return []
    return [_slower("chat_template", "The draft was trained with a different chat template than the target.")]


def _encoded(tokenizer: Tokenizer) -> list[int] | None:
    """Return the ids of TEXT; None if the tokenizer cannot read it."""
    try:
        return tokenizer.encode(TEXT)
    except SpecExecError:
        return None


def _conversation(tokenizer: Tokenizer) -> list[int] | None:
    """Return the ids of CONVERSATION; None if the chat template refuses it or does not run."""
    try:
        return tokenizer.encode_chat(CONVERSATION)
    except SpecExecError:
        return None


def _refused(kind: Literal["vocabulary", "rows"], message: str) -> Remark:
    return Remark(kind, message, ANOTHER_DRAFT, refused=True)


def _slower(kind: Literal["special_tokens", "spelling", "chat_template"], message: str) -> Remark:
    return Remark(kind, message, SLOWER, refused=False)


def _named(tokenizer: Tokenizer, ids: frozenset[int] | set[int]) -> str:
    return ", ".join(tokenizer.token_text(index) for index in sorted(ids)) or "no token"
