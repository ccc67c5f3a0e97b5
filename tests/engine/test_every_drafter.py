"""Every drafter, with every sampling setting, a stop string and a context that fills up: an answer equals
that of plain decoding or, with verification by rejection, is one that plain decoding could give."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.drafting import available
from engine.heads import open_heads
from engine.model.sequence import Sequence
from engine.protocol import Chat, Message, Options, Seconds, TextDelta
from engine.repetition import loops
from engine.sampling import Sampler
from engine.serving.answer_figures import BegunAnswer
from engine.serving.pair import LoadedPair
from engine.serving.samplers import sampler_of
from engine.serving.session import Session
from engine.torch_model.heads import load_heads
from tests.engine.decoding.test_iteration import assert_same
from tests.engine.heads import made
from tests.engine.models import VOCABULARY, disturbed, ours, reference

CAPACITY = 40
ALPHABET = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ .,;!?012"[:VOCABULARY]
END = 2


class Letters:
    """A tokenizer whose tokens are letters."""

    eos_ids = frozenset({END})
    suppressed_ids = first_suppressed_ids = frozenset[int]()

    def encode_chat(self, messages, begun="", tools=(), options=None, shown=()):
        return [ALPHABET.index(letter) for message in messages for letter in message["content"]]

    def encode(self, text):
        return []

    def decode_all(self, ids):
        return "".join(map(self.token_text, ids))

    def token_text(self, token):
        return ALPHABET[token]

    def tokens_containing(self, text):
        return frozenset(token for token, letter in enumerate(ALPHABET) if text in letter)

    def stream(self, shown=()):
        return self

    def step(self, token):
        return "" if token == END else ALPHABET[token]

    def flush(self):
        return ""


@cache
def models(kind="llama"):
    states = dict(layer_types=None) if kind == "qwen3_5_text" else {}
    target = reference(kind, num_hidden_layers=4, **states)
    return ours(target), ours(disturbed(target, 0.05))


@cache
def heads(method, kind="llama", capacity=CAPACITY):
    form = {"eagle": "eagle3"}.get(method, method)
    with TemporaryDirectory() as folder:
        saved = made.save(Path(folder), form, made.random_weights(form))
        return load_heads(open_heads(saved), models(kind)[0], capacity)


def session(method=None, capacity=CAPACITY, kind="llama"):
    target, draft = models(kind)
    loaded = heads(method, kind, capacity) if method in HEADS else None
    return Session(LoadedPair(Sequence(target, capacity), Sequence(draft, capacity), Letters(), loaded))


def answered(session, messages, options, emit=lambda _: None, begun=None):
    return session.answer(Chat(id=0, messages=messages, options=options), emit, lambda: False, begun)


HEADS = ["eagle", "medusa", "p-eagle", "dflash"]
DRAFTERS = [*available(True), *HEADS, "specexec+lookahead", "specexec-uncoupled"]


@pytest.mark.parametrize("name", [name for name in DRAFTERS if name != "none"])
@settings(max_examples=15, deadline=None)
@given(
    options=st.fixed_dictionaries(
        dict(
            temperature=st.sampled_from([0.0, 0.7, 1.3]),
            top_k=st.sampled_from([0, 7]),
            top_p=st.sampled_from([1.0, 0.85]),
            min_p=st.sampled_from([0.0, 0.1]),
            repetition_penalty=st.sampled_from([1.0, 1.4]),
            presence_penalty=st.sampled_from([0.0, 0.6]),
            frequency_penalty=st.sampled_from([0.0, 0.3]),
            dry_multiplier=st.sampled_from([0.0, 0.0, 1.5]),
            dry_allowed_length=st.sampled_from([1, 2]),
            dry_range=st.sampled_from([0, 12]),
            dry_breakers=st.sampled_from([[], ["e", "T"]]),
            xtc_probability=st.sampled_from([0.0, 0.0, 0.5, 1.0]),
            xtc_threshold=st.sampled_from([0.02, 0.1]),
            logit_bias=st.sampled_from([{}, {END: -30.0}, {5: 2.0, 9: -4.0}]),
            seed=st.integers(0, 99),
            budget=st.sampled_from([None, 1, 5, 40, 200]),
            stop=st.sampled_from([[], ["e"], ["Zq", "ab"]]),
            max_new_tokens=st.sampled_from([None, 1, 9]),
            log_probs=st.sampled_from([None, 2]),
        )
    ),
    turns=st.lists(st.text(ALPHABET[3:], max_size=9).map("x".__add__), min_size=1, max_size=2),
)
def test_the_answer_equals_plain_decoding(name, options, turns):
    plain, drafted = session(), session(name)
    messages = []
    for turn in turns:
        messages = [*messages, Message("user", turn)]
        expected = answered(plain, messages, Options(**options, drafter="none"))
        found = answered(drafted, messages, Options(**options, drafter=name))
        prompt = Letters().encode_chat([{"content": message.content} for message in messages])
        check_by_itself(found, prompt, options)
        exact = not drafted.drafter(name).needs.rejection or options["temperature"] == 0
        if exact and found.token_ids != expected.token_ids:
            sampler = sampler_of(Options(**options), options["seed"], Letters())
            assert_same(found.token_ids, expected.token_ids, models()[0], sampler, prompt)
        elif exact:
            assert (found.text, found.stop_reason) == (expected.text, expected.stop_reason)
            check_log_probs(found, expected)
        messages = [*messages, Message("assistant", expected.text or "x")]
        if sum(len(message.content) for message in messages) > CAPACITY - 20:
            break


@pytest.fixture
def short_loops(monkeypatch):
    """Let loops be found after fewer tokens than usual: a token takes these models a while."""
    monkeypatch.setattr(loops, "LOOPED", 40)
    monkeypatch.setattr(loops, "LOOPED_SHORT", 40)


def ask(session, **options):
    deltas = []
    message = Message("user", "xabc")
    options = Options(temperature=0.0, logit_bias={END: -100.0}, **options)
    answer = answered(session, [message], options, deltas.append)
    assert "".join(delta.text for delta in deltas if isinstance(delta, TextDelta)) == answer.text
    return answer


@cache
def plain_until_it_repeats_itself():
    return ask(session(capacity=160), drafter="none")


@pytest.mark.parametrize("name", [name for name in DRAFTERS if name != "none" and name not in HEADS])
def test_an_answer_that_repeats_itself_stops_where_plain_decoding_stops(name, short_loops):
    """A random model repeats itself soon."""
    plain = plain_until_it_repeats_itself()
    drafted = ask(session(capacity=160), drafter=name, budget=24)
    assert plain.stop_reason == drafted.stop_reason == "repetition"
    assert (drafted.token_ids, drafted.text) == (plain.token_ids, plain.text)


@pytest.mark.parametrize("name", [name for name in DRAFTERS if name != "none" and name not in HEADS])
def test_no_answer_has_a_token_that_the_checkpoint_suppresses(name, monkeypatch):
    plain, drafted = session(), session(name)
    free = ask(plain, drafter="none", max_new_tokens=12)
    never = frozenset(free.token_ids[:6])
    monkeypatch.setattr(Letters, "suppressed_ids", never | {len(ALPHABET) + 1000})
    expected = ask(plain, drafter="none", max_new_tokens=12)
    found = ask(drafted, drafter=name, max_new_tokens=12, budget=24)
    assert found.token_ids == expected.token_ids
    assert not never.intersection(found.token_ids)


@pytest.mark.parametrize("name", [name for name in DRAFTERS if name != "none"])
def test_no_answer_begins_with_a_token_that_is_suppressed_there(name, monkeypatch):
    """Such a token may follow later."""
    plain, drafted = session(), session(name)
    first = ask(plain, drafter="none", max_new_tokens=12).token_ids[0]
    monkeypatch.setattr(Letters, "first_suppressed_ids", frozenset({first, len(ALPHABET) + 1000}))
    second = ask(plain, drafter="none", max_new_tokens=12).token_ids[1]
    monkeypatch.setattr(Letters, "first_suppressed_ids", frozenset({first, second}))
    expected = ask(plain, drafter="none", max_new_tokens=12).token_ids
    assert expected[0] not in (first, second)
    assert expected[1] == second
    found = ask(drafted, drafter=name, max_new_tokens=12, budget=24)
    assert found.token_ids == expected


@pytest.mark.parametrize("name", ["none", "specexec"])
def test_only_the_first_token_pays_for_what_is_suppressed_there(name, monkeypatch):
    """Later ones are chosen from logits that nobody copies, and drafted by the best of them."""
    altered = []
    penalised = Sampler.penalised

    def recorded(sampler, logits, history):
        if sampler.alters:
            altered.append(len(history.context) + len(history.tails[0]))
        return penalised(sampler, logits, history)

    monkeypatch.setattr(Sampler, "penalised", recorded)
    monkeypatch.setattr(Letters, "first_suppressed_ids", frozenset({END}))
    options = Options(drafter=name, temperature=0.0, max_new_tokens=12, budget=24)
    prompt = Message("user", "xabc")
    assert answered(session(name), [prompt], options).tokens > 4
    assert altered == [len(prompt.content)]


def test_an_answer_that_another_pair_goes_on_with_begins_where_it_began(monkeypatch):
    options = Options(drafter="none", temperature=0.0, logit_bias={END: -100.0}, max_new_tokens=6)

    def resumed(tokens):
        begun = BegunAnswer(tokens, [], [], [], [], Seconds(), 0.0, 0.0, 0, None)
        return answered(session(), [Message("user", "xabc")], options, begun=begun).token_ids

    free = resumed([])
    monkeypatch.setattr(Letters, "first_suppressed_ids", frozenset(free))
    assert resumed([])[0] not in free
    assert resumed(free[:1]) == free


def test_an_answer_that_is_continued_may_go_on_with_any_token(monkeypatch):
    plain = session()
    free = ask(plain, drafter="none", max_new_tokens=12)
    others = frozenset(range(len(ALPHABET))) - {free.token_ids[0]}
    monkeypatch.setattr(Letters, "first_suppressed_ids", others)
    options = Options(drafter="none", temperature=0.0, logit_bias={END: -100.0}, max_new_tokens=11)
    begun = Message("assistant", free.text[0])
    rest = answered(plain, [Message("user", "xabc"), begun], options)
    assert [free.token_ids[0], *rest.token_ids] == free.token_ids


def test_an_answer_that_may_repeat_itself_goes_on_to_the_end_of_the_context(short_loops):
    stopped = ask(session(capacity=160), drafter="pld", budget=24)
    whole = ask(session(capacity=160), drafter="pld", budget=24, stop_loops=False)
    assert whole.stop_reason == "context_full"
    assert whole.token_ids[: stopped.tokens] == stopped.token_ids
    varied = ask(session(capacity=160), drafter="pld", budget=24, dry_multiplier=1.0, dry_breakers=[])
    assert varied.stop_reason == "context_full", "DRY leaves no loop"


def check_by_itself(answer, prompt, options):
    """Check what is true of any answer."""
    tokens = answer.token_ids
    assert len(prompt) + len(tokens) <= CAPACITY
    assert len(tokens) <= (options["max_new_tokens"] or CAPACITY)
    assert END not in tokens[:-1]
    written = "".join(Letters().step(token) for token in tokens)
    cut = [written.index(stop) for stop in options["stop"] if stop in written]
    assert answer.text == (written[: min(cut)] if cut else written)
    reasons = {
        "stop_string": bool(cut),
        "end_of_sequence": tokens[-1] == END,
        "context_full": len(prompt) + len(tokens) == CAPACITY,
        "max_new_tokens": len(tokens) == options["max_new_tokens"],
    }
    assert reasons[answer.stop_reason]
    assert answer.tokens == len(tokens) == 1 + round((answer.tokens_per_pass or 0) * answer.target_passes)


def check_log_probs(found, expected):
    assert (found.log_probs is None) == (expected.log_probs is None)
    if found.log_probs is not None:
        assert len(found.log_probs) == found.tokens
        for ours, theirs in zip(found.log_probs, expected.log_probs, strict=True):
            assert ours.log_prob == pytest.approx(theirs.log_prob, abs=1e-3)
            assert [p for _, p in ours.top] == pytest.approx([p for _, p in theirs.top], abs=1e-3)


STATES = "qwen3_5_text"
STATE_TURNS = [("abcabcabc", 0.0), ("abcabcabc" * 8, 0.8), ("abd" + "abc" * 20, 0.0)]


def answers_with_states(asked, name):
    """Return the text, the options and the answer of each prompt. The third is edited at its beginning."""
    answers = []
    for turn, temperature in STATE_TURNS:
        settings = dict(temperature=temperature, seed=3, max_new_tokens=20, logit_bias={END: -30.0})
        options = Options(drafter=name, **settings)
        answer = answered(asked, [Message("user", turn)], options)
        answers.append((turn, options, answer))
    return answers


@cache
def plain_with_states():
    return answers_with_states(session(None, 160, STATES), "none")


@pytest.mark.parametrize("name", [name for name in DRAFTERS if name != "none"])
def test_a_model_with_states_answers_as_in_plain_decoding(name):
    asked = session(name, 160, STATES)
    drafted = answers_with_states(asked, name)
    for (_, _, expected), (turn, options, found) in zip(plain_with_states(), drafted, strict=True):
        if asked.drafter(name).needs.rejection and options.temperature:
            assert found.tokens == 20
        else:
            sampler = sampler_of(options, 3, Letters())
            prompt = [ALPHABET.index(letter) for letter in turn]
            assert_same(found.token_ids, expected.token_ids, models(STATES)[0], sampler, prompt)
