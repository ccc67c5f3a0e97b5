"""Every drafter under every kind of constraint: the answer equals constrained plain decoding, satisfies the
constraint, and the trees propose only what it allows."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import DeadEnd
from engine.model.sequence import Sequence
from engine.protocol import Chat, Constraint, IterationDone, Message, Options
from engine.serving.pair import LoadedPair
from engine.serving.session import Session
from tests.engine.constraint.letters import SpellingLetters, masks
from tests.engine.test_every_drafter import ALPHABET, CAPACITY, DRAFTERS, END, HEADS, heads, models

PATTERNS = [
    "[a-m]*z?",
    "(ab|c)*d{2,5}",
    "[^aeiou]{3,20}",
    "(hello|help|[A-Z]{3})( [a-f]+)*",
    "x+",
    "[a-z .]*",
]
CONSTRAINTS = {Constraint(kind="regex", text=pattern): pattern for pattern in PATTERNS} | {
    Constraint(kind="choice", choices=("yes", "yes please", "no")): "yes( please)?|no",
    Constraint(kind="grammar", text='start: a\na: "Q" a "Z" | "x" a | "y"'): None,
}


def session(method=None):
    target, draft = models()
    loaded = heads(method) if method in HEADS else None
    pair = LoadedPair(Sequence(target, CAPACITY), Sequence(draft, CAPACITY), SpellingLetters(), loaded)
    return Session(pair)


def answered(answering, options, events=None):
    emit = (lambda event: None) if events is None else events.append
    chat = Chat(id=0, messages=[Message("user", "xaQ")], options=options)
    return answering.answer(chat, emit, lambda: False)


@pytest.mark.parametrize("name", [name for name in DRAFTERS if name != "none"])
@settings(max_examples=5, deadline=None)
@given(
    constraint=st.sampled_from(list(CONSTRAINTS)),
    options=st.fixed_dictionaries(
        dict(
            temperature=st.sampled_from([0.0, 1.0]),
            top_k=st.sampled_from([0, 7]),
            top_p=st.sampled_from([1.0, 0.85]),
            min_p=st.sampled_from([0.0, 0.1]),
            repetition_penalty=st.sampled_from([1.0, 1.4]),
            logit_bias=st.sampled_from([{}, {END: -30.0}, {5: 20.0}]),
            seed=st.integers(0, 99),
            budget=st.sampled_from([None, 1, 40]),
            max_new_tokens=st.sampled_from([None, 9]),
        )
    ),
)
def test_a_constrained_answer_equals_constrained_plain_decoding(name, constraint, options):
    plain, drafted, events = session(), session(name), []
    expected = answered(plain, Options(**options, drafter="none", constraint=constraint))
    found = answered(drafted, Options(**options, drafter=name, constraint=constraint), events)
    if not drafted.drafter(name).needs.rejection or options["temperature"] == 0:
        assert (found.token_ids, found.stop_reason) == (expected.token_ids, expected.stop_reason)
    for answer in (expected, found):
        check_satisfied(answer, constraint)
    check_proposals([event for event in events if isinstance(event, IterationDone)], found, constraint)


@pytest.mark.parametrize("name", ["none", "specexec", "merged", "sps"])
def test_a_dead_end_is_named_and_leaves_the_session_usable(name):
    """The vocabulary has no token for the last letter."""
    answering = session(name)
    with pytest.raises(DeadEnd):
        answered(answering, Options(drafter=name, constraint=Constraint(kind="choice", choices=("helpé",))))
    assert answered(answering, Options(drafter=name, max_new_tokens=3)).tokens <= 3


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("name", ["none", "specexec", "merged", "sps", "specinfer"])
def test_a_dead_end_is_named_where_all_that_may_follow_is_suppressed(name, temperature, monkeypatch):
    monkeypatch.setattr(SpellingLetters, "first_suppressed_ids", frozenset({ALPHABET.index("x"), 10_000}))
    monkeypatch.setattr(SpellingLetters, "suppressed_ids", frozenset({ALPHABET.index("Z")}))
    answering = session(name)

    def matching(text):
        constraint = Constraint(kind="regex", text=text)
        return answered(answering, Options(drafter=name, temperature=temperature, constraint=constraint)).text

    for text in ("x+", "[ab]{2}Z"):
        with pytest.raises(DeadEnd):
            matching(text)
    assert matching("yx{3}") == "yxxx"


def check_satisfied(answer, constraint):
    masks(constraint).commit(answer.token_ids)  # raises DeadEnd at a token that is not allowed
    if answer.stop_reason == "end_of_sequence" and CONSTRAINTS[constraint]:
        assert re.fullmatch(CONSTRAINTS[constraint], answer.text)


def check_proposals(iterations, answer, constraint):
    """Check that each node of each tree may follow its parent, unless the text has ended there."""
    done = 1
    for iteration in iterations:
        allowed = masks(constraint)
        allowed.commit(answer.token_ids[:done])
        paths = []
        for token, parent in zip(iteration.tree.tokens, iteration.tree.parents, strict=True):
            path = [] if parent == -1 else paths[parent]
            paths.append([*path, token])
            if END not in path:
                assert allowed.among(path, np.array([token])).all(), (ALPHABET[token], path)
        done = iteration.tokens
