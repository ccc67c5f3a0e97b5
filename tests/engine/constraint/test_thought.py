"""The thought before an answer: its budget, and where the constraint begins."""

from typing import ClassVar

import numpy as np
import pytest
from tokenizers import Regex, decoders, models, pre_tokenizers
from tokenizers import Tokenizer as BackendTokenizer

from engine.constraint.constraints import Constraints
from engine.errors import BadOption, DeadEnd
from engine.protocol import Constraint
from engine.tokenizer import Tokenizer
from engine.tokenizer.parts import TokenizerParts

TEXTS = [
    b"<end>", b"<think>", b"</think>", b"<", b"a", b"b", b"\n", b"{", b"}", b"/", b"think", b">",
    b"<seed:cot_budget_reflect>",
]  # fmt: skip
ENDED, OPEN, CLOSE, LESS, A, B, LINE, BRACE, UNBRACE, SLASH, THINK, MORE, NOTE = range(len(TEXTS))
BRACES = Constraint(kind="grammar", text='start: "{" "a"+ "}"')
ALL = set(range(len(TEXTS)))


class Words:
    """A tokenizer with marks of thoughts as tokens of their own."""

    eos_ids = special_ids = frozenset({ENDED})
    special_names: ClassVar[dict[str, int]] = {}
    vocabulary_size = len(TEXTS)

    def token_bytes(self):
        return TEXTS

    def encode(self, text):
        found = []
        while text:
            token = max(
                (t for t in ALL if text.encode().startswith(TEXTS[t])), key=lambda t: len(TEXTS[t]), default=A
            )
            found.append(token)
            text = text[len(TEXTS[token]) :]
        return found

    encode_plain = encode


def masks(constraint=None, budget=None, prompt=(A, LINE), begun=""):
    return Constraints(Words(), len(TEXTS)).masks(constraint, budget, prompt, begun)


def following(found, path=()):
    flags = found.allowed(list(path), len(TEXTS))
    return ALL if flags is None else set(np.flatnonzero(flags).tolist())


def test_at_the_budget_the_thought_is_closed_and_the_answer_goes_on():
    found = masks(budget=3)
    assert following(found) == ALL
    assert following(found, [OPEN, A, B]) == ALL
    assert following(found, [OPEN, A, B, A]) == {CLOSE}
    assert following(found, [OPEN, A, B, A, CLOSE]) == ALL
    with pytest.raises(DeadEnd):
        found.commit([OPEN, A, B, A, A])


def test_a_thought_that_ends_by_itself_is_not_closed_again():
    found = masks(budget=3)
    assert following(found, [OPEN, A, CLOSE, A, A, A, A, A]) == ALL


def test_a_budget_of_nothing_closes_a_thought_at_once():
    assert following(masks(budget=0), [OPEN]) == {CLOSE}
    assert following(masks(budget=0, prompt=[A, OPEN, LINE])) == {CLOSE}
    assert following(masks(budget=0, prompt=[A, OPEN, NOTE, LINE])) == {CLOSE}, "as Seed-OSS's prompt ends"


def test_an_answer_without_a_thought_has_no_budget():
    found = masks(budget=1)
    assert all(following(found, [A] * count) == ALL for count in range(6))
    assert following(found, [A, OPEN, A, A, A]) == ALL, "a mark within the answer opens no thought"


def test_a_mark_may_be_spelled_by_several_tokens():
    found = masks(budget=2)
    assert following(found, [LESS, THINK, MORE, A, B]) == {CLOSE}
    assert following(found, [LESS, THINK, MORE, LESS]) == ALL
    found = masks(budget=9)
    spelled = [OPEN, A, LESS, SLASH, THINK, MORE]
    assert following(found, [*spelled, *[A] * 20]) == ALL


def test_a_constraint_begins_after_the_thought():
    found = masks(BRACES, budget=2)
    assert following(found) == {BRACE, OPEN}
    assert following(found, [BRACE]) == {A}
    assert following(found, [OPEN]) == ALL - {ENDED}
    assert following(found, [OPEN, A, A]) == {CLOSE}
    assert following(found, [OPEN, A, A, CLOSE]) == {BRACE}
    assert following(found, [OPEN, CLOSE, BRACE, A, UNBRACE]) == {ENDED}


def test_a_thought_that_the_template_opened_is_known():
    found = masks(BRACES, prompt=[A, OPEN, LINE])
    assert following(found) == ALL - {ENDED}
    assert following(found, [B, CLOSE]) == {BRACE}
    assert following(masks(BRACES, prompt=[A, OPEN, LINE, CLOSE])) == {BRACE, OPEN}


def test_an_answer_is_continued_where_it_stopped():
    assert following(masks(BRACES, begun="{a")) == {A, UNBRACE}
    assert following(masks(BRACES, begun="<think>ab")) == ALL - {ENDED}
    assert following(masks(BRACES, budget=3, begun="<think>aba")) == {CLOSE}
    assert following(masks(BRACES, begun="<think>ab</think>{")) == {A}


def test_a_beginning_that_does_not_fit_is_refused():
    with pytest.raises(BadOption, match="beginning of the answer"):
        masks(BRACES, begun="ab")


# -- answers in channels -------------------------------------------------------------------------------------

# The ends of a rendered conversation as in the template that comes with gpt-oss.
TEMPLATE = (
    "{% for message in messages %}<|start|>{{ message.role }}<|message|>{{ message.content }}<|end|>"
    "{% endfor %}{% if add_generation_prompt %}<|start|>assistant{% endif %}"
)
SPECIAL = ("<|return|>", "<|call|>", "<|start|>", "<|channel|>", "<|message|>", "<|end|>")
WORDS = ("analysis", "final", "commentary", "assistant", "user", *'abcdefghijklmnopqrstuvwxyz{}":. =<|>')


@pytest.fixture(scope="module")
def channels():
    """A tokenizer with the special tokens of gpt-oss, and words of several letters."""
    vocabulary = {word: index for index, word in enumerate(WORDS)}
    backend = BackendTokenizer(models.WordLevel(vocabulary, unk_token="a"))
    pattern = Regex("analysis|final|commentary|assistant|user|.")
    backend.pre_tokenizer = pre_tokenizers.Split(pattern, "isolated")
    backend.decoder = decoders.Fuse()
    backend.add_special_tokens(list(SPECIAL))
    end = backend.token_to_id("<|return|>")
    return Tokenizer(TokenizerParts(backend, TEMPLATE, None, False, frozenset({end}), {}))


def names_after(tokenizer, constraint, written, budget=None, begun=""):
    """The names of the tokens that may follow in an answer of which so much is written."""
    prompt = tokenizer.encode_chat([{"role": "user", "content": "a"}])
    found = Constraints(tokenizer, tokenizer.vocabulary_size).masks(constraint, budget, prompt, begun)
    flags = found.allowed(tokenizer.encode(written), tokenizer.vocabulary_size)
    assert flags is not None
    return {tokenizer.token_text(token) for token in np.flatnonzero(flags)}


SCHEMA = Constraint(kind="json_schema", text='{"type": "object", "properties": {"a": {"type": "boolean"}}}')
THOUGHT = "<|channel|>analysis<|message|>a b<|end|>"


def test_a_schema_constrains_the_final_channel_only(channels):
    def after(written, **how):
        return names_after(channels, SCHEMA, written, **how)

    assert after("") == {"<|channel|>"}
    assert after("<|channel|>") == {"analysis", "final"}
    assert after("<|channel|>final") == after("<|channel|>analysis") == {"<|message|>"}
    assert after("<|channel|>final<|message|>") == {"{"}
    assert after("<|channel|>analysis<|message|>a") >= {"b", "<|end|>", "{"}
    assert "<|return|>" not in after("<|channel|>analysis<|message|>a")
    for count, name in enumerate(("<|start|>", "assistant", "<|channel|>", "final", "<|message|>")):
        header = "<|start|>assistant<|channel|>final<|message|>"
        written = channels.decode_all(channels.encode(header)[:count])
        assert after(THOUGHT + written) == {name}
    assert after(f"{THOUGHT}{header}{{}}") == {"<|return|>", "<|call|>"}
    assert after("<|channel|>analysis<|message|>a b", budget=3) == {"<|end|>"}


def test_the_end_of_a_message_in_channels_is_no_end_of_the_answer(channels):
    assert {channels.token_text(token) for token in channels.eos_ids} == {"<|return|>", "<|call|>"}


def test_an_answer_in_channels_is_continued_where_it_stopped(channels):
    assert names_after(channels, SCHEMA, "", begun="{") >= {'"', "}"}
    assert names_after(channels, SCHEMA, "", begun="<|channel|>final<|message|>{") >= {'"', "}"}


def test_a_grammar_that_names_channels_is_left_as_it_is(channels):
    text = 'start: "<|channel|>commentary<|message|>" /[a-z]+/'
    grammar = Constraint(kind="grammar", text=text)
    prompt = channels.encode_chat([{"role": "user", "content": "a"}])
    made = Constraints(channels, channels.vocabulary_size)
    found = made.masks(grammar, None, prompt, "", frozenset(SPECIAL))
    flags = found.allowed(channels.encode("<|channel|>"), channels.vocabulary_size)
    assert channels.encode("commentary")[0] in np.flatnonzero(flags)
    assert channels.encode("final")[0] not in np.flatnonzero(flags)
