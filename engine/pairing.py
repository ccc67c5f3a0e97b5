"""Whether one model can draft for another, and in words why not: vocabulary, special tokens, chat template.

For pairs the catalogue does not know. Looks at tokenizers and configurations, not at weights; free of torch.
"""

from dataclasses import dataclass

from engine.checkpoints import Checkpoint
from engine.errors import SpecExecError
from engine.tokenizer import Tokenizer, load_tokenizer, vocabulary_of
from engine.tokenizer.vocabulary import is_unused

FAMILY = "Choose a draft of the target's model family, or run without a draft model."
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

    Attributes: `kind` ("vocabulary", "rows", "special_tokens", "chat_template" or "spelling"), `message` (one
    sentence for a person), `hint` (what to do), `refused`: the pair cannot run; else it runs, but guesses
    worse.
    """

    kind: str
    message: str
    hint: str
    refused: bool


def check_pair(target: Checkpoint, draft: Checkpoint) -> list[Remark]:
    """All that speaks against the pair, the worst first; empty where it fits.

    Raises `BadCheckpoint` or `UnsupportedModel` where a tokenizer cannot be built.
    """
    ours, theirs = load_tokenizer(target), load_tokenizer(draft)
    if refused := _vocabulary(ours, theirs) or _rows(target, ours.vocabulary_size, draft):
        return refused
    return _special_tokens(ours, theirs) + _spelling(ours, theirs) + _chat_template(ours, theirs)


def _vocabulary(target: Tokenizer, draft: Tokenizer) -> list[Remark]:
    """What `check_same_vocabulary` refuses, counted."""
    ours, theirs = vocabulary_of(target), vocabulary_of(draft)
    shared = range(min(len(ours), len(theirs)))
    differing = [index for index in shared if ours[index] != theirs[index]]
    differing = [index for index in differing if not (is_unused(ours[index]) and is_unused(theirs[index]))]
    if differing:
        first = differing[0]
        return [
            _refused(
                "vocabulary",
                f"The draft numbers {len(differing):,} of {len(ours):,} tokens differently: token {first:,} "
                f"is {_shown(ours[first])} in the target and {_shown(theirs[first])} in the draft.",
            )
        ]
    longer, owner, other = (
        (ours, "target", "draft") if len(ours) > len(theirs) else (theirs, "draft", "target")
    )
    rest = [index for index in range(len(shared), len(longer)) if not is_unused(longer[index])]
    if not rest:
        return []
    return [
        _refused(
            "vocabulary",
            f"The {owner} has {len(rest):,} tokens that the {other} does not know, the first of them token "
            f"{rest[0]:,}, {_shown(longer[rest[0]])}.",
        )
    ]


def _rows(target: Checkpoint, tokens: int, draft: Checkpoint) -> list[Remark]:
    """A table without a row for a token cannot guess it. `tokens`: those the target numbers."""
    needed = min(tokens, target.config.get("vocab_size", tokens))
    rows = draft.config.get("vocab_size", needed)
    if rows >= needed:
        return []
    return [_refused("rows", f"The draft's table holds {rows:,} tokens, the target's {needed:,}.")]


def _special_tokens(target: Tokenizer, draft: Tokenizer) -> list[Remark]:
    remarks = []
    if target.eos_ids != draft.eos_ids:
        ends = (
            f"{_named(target, target.eos_ids)} in the target and {_named(draft, draft.eos_ids)} in the draft"
        )
        remarks.append(_slower("special_tokens", f"An answer ends with {ends}."))
    if differing := target.special_ids ^ draft.special_ids:
        first = _named(target, {min(differing)})
        message = (
            f"{len(differing):,} tokens, first {first}, are special in one model and mere text in the other."
        )
        remarks.append(_slower("special_tokens", message))
    return remarks


def _spelling(target: Tokenizer, draft: Tokenizer) -> list[Remark]:
    """The same tokens may be put together by other rules."""
    if target.encode(TEXT) == draft.encode(TEXT):
        return []
    return [_slower("spelling", "The draft cuts the same text into other tokens than the target.")]


def _chat_template(target: Tokenizer, draft: Tokenizer) -> list[Remark]:
    if target.chat_template == draft.chat_template:
        return []
    if draft.chat_template is None:
        return [
            _slower("chat_template", "The draft has no chat template: it was not trained on conversations.")
        ]
    if target.chat_template is None:
        return [_slower("chat_template", "The target has no chat template, the draft was trained with one.")]
    ours, theirs = _conversation(target), _conversation(draft)
    if ours == theirs and ours is not None:
        return []
    return [_slower("chat_template", "The draft was trained with another chat template than the target.")]


def _conversation(tokenizer: Tokenizer) -> list[int] | None:
    """None: the template refuses it, or does not run."""
    try:
        return tokenizer.encode_chat(CONVERSATION)
    except SpecExecError:
        return None


def _refused(kind: str, message: str) -> Remark:
    return Remark(kind, message, FAMILY, refused=True)


def _slower(kind: str, message: str) -> Remark:
    return Remark(kind, message, SLOWER, refused=False)


def _named(tokenizer: Tokenizer, ids: frozenset[int] | set[int]) -> str:
    return ", ".join(tokenizer.token_text(index) for index in sorted(ids)) or "no token"


def _shown(token: str | None) -> str:
    return "missing" if token is None else repr(token)
