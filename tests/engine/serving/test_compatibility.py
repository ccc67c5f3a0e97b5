"""Each way in which a draft does not fit is explained, and refused where the pair cannot run."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.checkpoints import Checkpoint, Generation, GgufVocabulary, open_checkpoint
from engine.errors import BadCheckpoint
from engine.serving.compatibility import Remark, check_choice, check_pair
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


def check(target: Checkpoint, draft: Checkpoint) -> list[Remark]:
    rows = target.config["vocab_size"], draft.config["vocab_size"]
    remarks = check_pair(load_tokenizer(target), load_tokenizer(draft), *rows)
    assert all(remark.message.endswith(".") and remark.hint for remark in remarks)
    return remarks


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
    (found,) = check(model(), model(tokens=swapped, merges=["b a", "t e"]))
    assert (found.kind, found.refused) == ("vocabulary", True)
    assert (
        "258 of 260 tokens differently: token 0 is '!' in the target and 'ba' in the draft" in found.message
    )
    assert "family" in found.hint


def test_special_tokens_of_other_names_make_drafting_slower_and_not_impossible() -> None:
    names = [*USUAL[:-1], "<|other|>"]
    found = check(model(), model(tokens=names))
    assert not any(remark.refused for remark in found)
    assert "Special tokens differ: token 259 is <|stop|> in the target and <|other|> in the draft." in [
        remark.message for remark in found if remark.kind == "special_tokens"
    ]


def test_tokens_that_only_one_model_has_are_counted() -> None:
    larger = model(rows=300, more=("word", "other", "[PAD262]"))
    (found,) = check(model(), larger)
    assert "The draft has 2 tokens that the target does not have" in found.message
    assert "token 260, 'word'" in found.message
    (found,) = check(larger, model())
    assert "The target has 2 tokens that the draft does not have" in found.message


def test_a_table_with_too_few_rows_is_refused() -> None:
    (found,) = check(model(), model(rows=259))
    assert (found.kind, found.refused) == ("rows", True)
    assert "holds 259 tokens, the target's 260" in found.message
    assert check(model(rows=259), model(rows=259)) == []


def test_different_end_tokens_are_remarked_but_not_refused() -> None:
    found = check(model(), model(eos_id=258))
    assert [(remark.kind, remark.refused) for remark in found] == [("special_tokens", False)]
    assert "ends with <|stop|> in the target and <|start|> in the draft" in found[0].message


def test_a_special_token_that_is_text_to_the_other_model_is_remarked() -> None:
    text = model(types=types_with(NORMAL, 258))
    for found in (check(model(), text), check(text, model())):
        assert found[0].kind == "special_tokens"
        assert "treats 1 token as special" in found[0].message
        assert "the first is <|start|>" in found[0].message
        assert not any(remark.refused for remark in found)


def test_special_tokens_that_only_one_model_has_are_named_by_it() -> None:
    types = np.array([NORMAL] * 258 + [CONTROL] * 5, np.int32)
    larger = model(rows=300, more=("<|call|>", "<unused1>", "<|image|>"), types=types)
    for pair in ((model(rows=300), larger), (larger, model(rows=300))):
        assert [remark.message for remark in check(*pair)] == [
            "Only one model has 2 special tokens; the first is <|call|>."
        ]
    other = model(rows=300, more=("<unused0>", "<unused1>", "<|image|>"))
    assert [remark.message for remark in check(other, larger)] == [
        "One model treats 1 token as special and the other as plain text; the first is <|image|>.",
        "Only one model has 1 special token; the first is <|call|>.",
    ]


def test_text_split_into_different_tokens_is_remarked() -> None:
    (found,) = check(model(), model(merges=["a b"]))
    assert (found.kind, found.refused) == ("spelling", False)


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        (None, "The draft has no chat template"),
        (TEMPLATE.replace(": ", "\n"), "a different chat template"),
        ("{{ raise_exception('no') }}", "a different chat template"),
    ],
)
def test_a_different_chat_template_is_remarked(template: str | None, reason: str) -> None:
    (found,) = check(model(), model(chat_template=template))
    assert (found.kind, found.refused) == ("chat_template", False)
    assert reason in found.message
    assert "Answers stay right" in found.hint


def test_a_draft_trained_on_conversations_does_not_suit_a_base_model() -> None:
    (found,) = check(model(chat_template=None), model())
    assert "The target has no chat template" in found.message


def test_templates_that_render_the_same_are_equal() -> None:
    assert check(model(), model(chat_template="{# no change #}" + TEMPLATE)) == []


def test_real_models_fit_within_their_family_only() -> None:
    target, draft, other = (open_checkpoint(real_file(id)) for id in ("coder", "coder-draft", "smollm2"))
    assert check(target, draft) == []
    (found,) = check(target, other)
    assert "token 0 is '!' in the target and '<|endoftext|>' in the draft" in found.message
