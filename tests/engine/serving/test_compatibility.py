"""Each way in which a draft does not fit is explained, and refused where the pair cannot run."""

from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from engine.checkpoints import Checkpoint, Generation, GgufVocabulary, open_checkpoint
from engine.errors import BadCheckpoint, VocabularyMismatch
from engine.protocol import (
    DraftRemark,
    OtherEnds,
    OtherSplitting,
    OtherTemplate,
    RenamedToken,
    SpecialInOne,
)
from engine.serving.compatibility import check_choice, check_pair
from engine.tokenizer import load_tokenizer
from engine.tokenizer.decoder import BYTE_OF
from tests.engine.checkpoints.files import real_file

TEMPLATE = "{% for m in messages %}<|start|>{{ m.role }}: {{ m.content }}<|stop|>{% endfor %}"
USUAL = [*sorted(BYTE_OF), "ab", "et", "<|start|>", "<|stop|>"]  # 256 bytes, two merges, two special tokens
NORMAL, CONTROL = 1, 3


def model(rows: int | None = None, more: tuple[str, ...] = (), **changes: Any) -> Checkpoint:
    """Return a model with the usual tokens and `more`, and a table of `rows` rows."""
    types = [NORMAL] * 258 + [CONTROL] * 2 + [NORMAL] * len(more)
    vocabulary = GgufVocabulary(
        *("gpt2", "gpt-2", [*USUAL, *more], None, np.array(types, np.int32), ["a b", "e t"]),
        **{"bos_id": 258, "eos_id": 259, "unknown_id": None, "add_bos": False, "add_eos": None},
        **{"add_space_prefix": None, "chat_template": TEMPLATE},
    )
    vocabulary = replace(vocabulary, **changes)
    config = {"vocab_size": rows or len(vocabulary.tokens)}
    return Checkpoint(Path("m"), "gguf", "llama", config, {}, vocabulary, Generation())


def check(target: Checkpoint, draft: Checkpoint) -> list[DraftRemark]:
    rows = target.config["vocab_size"], draft.config["vocab_size"]
    return check_pair(load_tokenizer(target), load_tokenizer(draft), *rows)


def refusal(target: Checkpoint, draft: Checkpoint) -> VocabularyMismatch:
    with pytest.raises(VocabularyMismatch) as refused:
        check(target, draft)
    assert refused.value.message.endswith(".")
    assert "family" in refused.value.hint
    return refused.value


def types_with(kind: int, token: int) -> Any:
    types = np.array([NORMAL] * 258 + [CONTROL] * 2, np.int32)
    types[token] = kind
    return types


def test_models_of_one_family_fit() -> None:
    assert check(model(), model()) == []
    padded = model(rows=300, more=("[PAD260]", "<unused1>"))
    assert check(model(rows=300), padded) == check(padded, model(rows=300)) == []
    assert check(padded, model(rows=300, more=("<unused0>", "<unused1>"))) == []


def test_a_model_that_may_choose_none_of_its_tokens_is_refused() -> None:
    settings = Generation(suppress_tokens=tuple(range(200)), begin_suppress_tokens=tuple(range(150, 259)))
    tokenizer = load_tokenizer(replace(model(), generation=settings))
    check_choice(tokenizer, 300)  # the last of 260 tokens is left
    with pytest.raises(BadCheckpoint, match="allow none of its tokens"):
        check_choice(tokenizer, 259)
    settings = replace(settings, begin_suppress_tokens=tuple(range(200, 260)))
    with pytest.raises(BadCheckpoint, match="begin_suppress_tokens"):
        check_choice(load_tokenizer(replace(model(), generation=settings)), 300)


def test_tokens_with_different_ids_are_counted() -> None:
    swapped = ["ba", "te", *USUAL[:256], *USUAL[258:]]
    found = refusal(model(), model(tokens=swapped, merges=["b a", "t e"]))
    assert (
        "258 of 260 tokens differently: token 0 is '!' in the target and 'ba' in the draft" in found.message
    )


def test_special_tokens_of_other_names_make_drafting_slower_and_not_impossible() -> None:
    names = [*USUAL[:-1], "<|other|>"]
    renamed = RenamedToken(token=259, target="<|stop|>", draft="<|other|>")
    assert renamed in check(model(), model(tokens=names))


def test_tokens_that_only_one_model_has_are_counted() -> None:
    larger = model(rows=300, more=("word", "other", "[PAD262]"))
    found = refusal(model(), larger)
    assert "The draft has 2 tokens that the target does not have" in found.message
    assert "token 260, 'word'" in found.message
    found = refusal(larger, model())
    assert "The target has 2 tokens that the draft does not have" in found.message


def test_a_table_with_too_few_rows_is_refused() -> None:
    assert "holds 259 tokens, the target's 260" in refusal(model(), model(rows=259)).message
    assert check(model(rows=259), model(rows=259)) == []


def test_different_end_tokens_are_remarked_but_not_refused() -> None:
    assert check(model(), model(eos_id=258)) == [OtherEnds(target=("<|stop|>",), draft=("<|start|>",))]


def test_a_special_token_that_is_text_to_the_other_model_is_remarked() -> None:
    text = model(types=types_with(NORMAL, 258))
    for found in (check(model(), text), check(text, model())):
        assert found[0] == SpecialInOne(other="text", tokens=1, first="<|start|>")


def test_special_tokens_that_only_one_model_has_are_named_by_it() -> None:
    types = np.array([NORMAL] * 258 + [CONTROL] * 5, np.int32)
    larger = model(rows=300, more=("<|call|>", "<unused1>", "<|image|>"), types=types)
    for pair in ((model(rows=300), larger), (larger, model(rows=300))):
        assert check(*pair) == [SpecialInOne(other="missing", tokens=2, first="<|call|>")]
    other = model(rows=300, more=("<unused0>", "<unused1>", "<|image|>"))
    assert check(other, larger) == [
        SpecialInOne(other="text", tokens=1, first="<|image|>"),
        SpecialInOne(other="missing", tokens=1, first="<|call|>"),
    ]


def test_text_split_into_different_tokens_is_remarked() -> None:
    assert check(model(), model(merges=["a b"])) == [OtherSplitting()]


@pytest.mark.parametrize(
    ("template", "lacks"),
    [
        (None, "draft"),
        (TEMPLATE.replace(": ", "\n"), None),
        ("{{ raise_exception('no') }}", None),
    ],
)
def test_a_different_chat_template_is_remarked(template: str | None, lacks: Literal["draft"] | None) -> None:
    assert check(model(), model(chat_template=template)) == [OtherTemplate(lacks=lacks)]


def test_a_draft_trained_on_conversations_does_not_suit_a_base_model() -> None:
    assert check(model(chat_template=None), model()) == [OtherTemplate(lacks="target")]


def test_templates_that_render_the_same_are_equal() -> None:
    assert check(model(), model(chat_template="{# no change #}" + TEMPLATE)) == []


def test_real_models_fit_within_their_family_only() -> None:
    target, draft, other = (open_checkpoint(real_file(id)) for id in ("coder", "coder-draft", "smollm2"))
    assert check(target, draft) == []
    found = refusal(target, other)
    assert "token 0 is '!' in the target and '<|endoftext|>' in the draft" in found.message
