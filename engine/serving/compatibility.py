"""Tells how well a draft fits a target, or why it does not: by vocabulary, special tokens and chat template.

Compares tokenizers and the number of rows in the models' tables, not weights. Does not import torch.
"""

from collections.abc import Iterator

from engine.checkpoints.vocabulary import ANOTHER_DRAFT, counted, is_unused, vocabulary_difference
from engine.errors import BadCheckpoint, SpecExecError, VocabularyMismatch
from engine.protocol import (
    DraftRemark,
    OtherEnds,
    OtherSplitting,
    OtherTemplate,
    RenamedToken,
    SpecialInOne,
)
from engine.tokenizer import Tokenizer, vocabulary_of

CONVERSATION = (
    {"role": "user", "content": "Why is the sky blue?"},
    {"role": "assistant", "content": "Air scatters blue light more than red."},
    {"role": "user", "content": "And at sunset?"},
)
TEXT = "The café's 2nd bill: $1,234.56.\n\n    def f(x):\n        return x ** 2  # 你好"


def check_pair(target: Tokenizer, draft: Tokenizer, target_rows: int, draft_rows: int) -> list[DraftRemark]:
    """Return what makes the draft's guesses worse, the worst first; an empty list if it fits.

    target_rows, draft_rows: number of rows in the models' tables, one per token, padding included.

    Raises VocabularyMismatch if the pair cannot run.
    """
    if difference := vocabulary_difference(vocabulary_of(target), vocabulary_of(draft)):
        raise VocabularyMismatch(difference, ANOTHER_DRAFT)
    needed = min(target.vocabulary_size, target_rows)
    if draft_rows < needed:  # it could never guess the tokens whose rows are missing
        raise VocabularyMismatch(
            f"The draft's table holds {counted(draft_rows)}, the target's {needed:,}.", ANOTHER_DRAFT
        )
    return [*_special_tokens(target, draft), *_splitting(target, draft), *_chat_template(target, draft)]


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


def _special_tokens(target: Tokenizer, draft: Tokenizer) -> Iterator[DraftRemark]:
    if target.eos_ids != draft.eos_ids:
        yield OtherEnds(target=_texts(target, target.eos_ids), draft=_texts(draft, draft.eos_ids))
    both = target.special_ids & draft.special_ids
    if renamed := {index for index in both if target.token_text(index) != draft.token_text(index)}:
        first = min(renamed)
        yield RenamedToken(token=first, target=target.token_text(first), draft=draft.token_text(first))
    yield from _lone_special_tokens(target, draft)


def _lone_special_tokens(target: Tokenizer, draft: Tokenizer) -> Iterator[SpecialInOne]:
    """Yield remarks about the tokens that are special in one model only: text in the other, or missing. A
    token that no text uses is ignored."""
    if target.special_ids == draft.special_ids:
        return
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
        yield SpecialInOne(other="text", tokens=len(text), first=text[min(text)])
    if missing:
        yield SpecialInOne(other="missing", tokens=len(missing), first=missing[min(missing)])


def _splitting(target: Tokenizer, draft: Tokenizer) -> Iterator[OtherSplitting]:
    """Yield a remark if the two split text differently: equal tokens may be merged by different rules."""
    if _encoded(target) != _encoded(draft):
        yield OtherSplitting()


def _chat_template(target: Tokenizer, draft: Tokenizer) -> Iterator[OtherTemplate]:
    if target.chat_template == draft.chat_template:
        return
    if draft.chat_template is None:
        yield OtherTemplate(lacks="draft")
    elif target.chat_template is None:
        yield OtherTemplate(lacks="target")
    elif (conversation := _conversation(target)) is None or conversation != _conversation(draft):
        yield OtherTemplate(lacks=None)


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


def _texts(tokenizer: Tokenizer, ids: frozenset[int]) -> tuple[str, ...]:
    return tuple(tokenizer.token_text(index) for index in sorted(ids))
