"""A real draft and target of one family, Qwen2.5-Coder 0.5B and 1.5B. Skipped if their files are not
installed."""

import pytest

from engine import catalog, protocol
from engine.protocol import Chat, Message, Options
from engine.serving.service import EngineService
from tests.engine.conftest import model_file
from tests.engine.models import counted

PROMPTS = [
    "Write a Python function that checks whether a string is a palindrome.",
    "Explain how a hash table works, in simple words.",
    "Describe a vivid and unique character, using strong imagery and creative language.",
    "Translate German to English: Er wurde vorläufig festgenommen und kam gegen Kaution frei.",
]


def loaded(dtype: str) -> EngineService:
    model_file("coder")
    model_file("coder-draft")
    engine = EngineService()
    done = engine.load(
        protocol.Load(id=1, target="coder", dtype=dtype, device="cpu", context=512),
        lambda event: None,
        lambda: False,
    )
    assert done is not None
    assert done.draft is not None, "the catalogue has the pair"
    assert done.drafter == "specexec"
    return engine


def ask(engine, messages, **options):
    events = []
    messages = [Message("user", messages)] if isinstance(messages, str) else messages
    chat = Chat(id=0, messages=messages, options=Options(seed=7, **options))
    return engine.session.answer(chat, events.append, lambda: False)


@pytest.fixture(scope="module")
def pair():
    """The pair as users run it on the processor."""
    return loaded("auto")


@pytest.mark.timeout(600)
def test_tokens_per_pass_at_budget_64_are_near_the_reference(pair):
    """docs/design.md, section 6: an independent implementation measured 5.7 (greedy, 64 tokens, four
    prompts)."""
    answers = [ask(pair, prompt, budget=64, max_new_tokens=32) for prompt in PROMPTS]
    tokens_per_pass = sum(a.tokens - 1 for a in answers) / sum(a.target_passes for a in answers)
    print(f"tokens per pass {tokens_per_pass:.2f}")
    assert 4.5 < tokens_per_pass < 8.0


@pytest.mark.timeout(600)
def test_a_second_turn_and_an_edit_reuse_rows_in_both_models(pair):
    models = pair.session.pair
    conversation = [Message("user", PROMPTS[0])]
    first = ask(pair, conversation, max_new_tokens=16)
    conversation += [Message("assistant", first.text), Message("user", "Now in Rust.")]
    rows = []
    for model in (models.target.model, models.draft.model):
        rows.append(counted(model))
    second = ask(pair, conversation, max_new_tokens=1)
    assert second.reused_tokens >= first.prompt_tokens + first.tokens - 2
    assert rows[0] == [second.prompt_tokens - second.reused_tokens]

    conversation[0] = Message("user", PROMPTS[0].replace("a palindrome", "an anagram"))
    for counts in rows:
        counts.clear()
    edited = ask(pair, conversation, max_new_tokens=8)
    assert 20 < edited.reused_tokens < first.prompt_tokens
    assert rows[0][0] == edited.prompt_tokens - edited.reused_tokens
    assert rows[1][0] <= edited.prompt_tokens - edited.reused_tokens, "the draft reuses as much as the target"


@pytest.mark.timeout(900)
def test_float32_tree_output_equals_plain_decoding():
    engine = loaded("float32")
    for setting in (dict(), dict(temperature=0.6, top_p=0.9)):
        plain = ask(engine, PROMPTS[0], drafter="none", max_new_tokens=8, **setting)
        tree = ask(engine, PROMPTS[0], drafter="specexec", budget=32, max_new_tokens=8, **setting)
        assert tree.token_ids == plain.token_ids
        assert tree.target_passes < plain.target_passes


def test_the_catalogue_offers_the_draft_only_if_it_is_installed(monkeypatch, tmp_path):
    monkeypatch.setenv(catalog.MODELS_VARIABLE, str(tmp_path))
    assert catalog.draft_for("coder") is None
