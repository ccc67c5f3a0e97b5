import numpy as np
import pytest

from engine.constraint.masks import Free, Masks, packed, united
from engine.errors import DeadEnd
from engine.protocol import Constraint
from engine.sampling import Sampler, TokenHistory
from tests.engine.constraint.letters import masks
from tests.engine.models import VOCABULARY
from tests.engine.test_every_drafter import ALPHABET, END

# The letter at END has no token, so the texts here do without it.
WORDS = Constraint(kind="choice", choices=("help", "hello", "held"))


def ids(text):
    return [ALPHABET.index(letter) for letter in text]


def following(found, path):
    flags = found.allowed(ids(path), VOCABULARY)
    return {"end" if token == END else ALPHABET[token] for token in np.flatnonzero(flags).tolist()}


def test_a_mask_depends_on_the_path():
    found = masks(WORDS)
    assert following(found, "") == {"h"}
    assert following(found, "hel") == {"p", "l", "d"}
    assert following(found, "help") == {"end"}
    assert following(found, "hel") == {"p", "l", "d"}, "looking ahead changes nothing"


def test_paths_begin_at_the_committed_text():
    found = masks(WORDS)
    found.commit(ids("he"))
    assert following(found, "l") == {"p", "l", "d"}
    found.commit(ids("l"))
    assert following(found, "d") == {"end"}


def test_a_token_that_was_not_allowed_is_a_dead_end():
    found = masks(WORDS)
    with pytest.raises(DeadEnd):
        found.commit(ids("hex"))


def test_the_end_is_a_dead_end_where_the_text_is_incomplete():
    found = masks(WORDS)
    with pytest.raises(DeadEnd):
        found.commit([*ids("hel"), END])
    found = masks(WORDS)
    found.commit([*ids("held"), END])


def test_no_mask_is_empty():
    """Rows of a pass that no walk reaches keep all tokens: their numbers must stay finite."""
    found = masks(WORDS)
    assert found.allowed(ids("xyz"), VOCABULARY) is None
    assert found.allowed([*ids("held"), END], VOCABULARY) is None
    assert found.rows([ids("xyz"), ids("hel")], VOCABULARY).sum(axis=1).tolist() == [VOCABULARY, 3]


def test_only_a_single_token_is_forced():
    found = masks(WORDS)
    assert found.forced([]) == ALPHABET.index("h")
    assert found.forced(ids("hel")) is None
    assert found.forced(ids("held")) == END
    assert Masks(Free()).forced([]) is None


def test_tokens_beyond_the_vocabulary_are_not_allowed():
    found = masks(WORDS)
    assert found.allowed([], VOCABULARY + 9)[VOCABULARY:].sum() == 0
    assert found.among([], np.array([VOCABULARY + 3, *ids("hx")])).tolist() == [False, True, False]


def test_sets_of_tokens():
    both = united(packed([3, 60]), packed([9]))
    assert np.flatnonzero(np.unpackbits(both, bitorder="little")).tolist() == [3, 9, 60]
    assert packed([]).tolist() == [0]


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_forbidden_token_is_never_chosen_whatever_its_logit(temperature):
    sampler = Sampler(
        temperature=temperature, top_p=0.5, logit_bias={5: 1000.0}, repetition_penalty=2.0, masks=masks(WORDS)
    )
    logits = np.linspace(-5, 5, 2 * VOCABULARY, dtype=np.float32).reshape(2, VOCABULARY)
    history = TokenHistory([1, 2, 3], [ids("hel"), ids("held")])
    chosen = sampler.choose(logits, [3, 4], history).tolist()
    assert chosen[0] in ids("pld")
    assert chosen[1] == END
    probs = sampler.probabilities(logits, history)
    assert probs.sum(axis=1) == pytest.approx(1)
    assert set(np.flatnonzero(probs[0]).tolist()) <= set(ids("pld"))


def test_masks_are_the_same_for_tensors():
    torch = pytest.importorskip("torch")
    sampler = Sampler(temperature=1.0, masks=masks(WORDS))
    logits = np.random.default_rng(0).normal(size=(1, VOCABULARY)).astype(np.float32)
    history = TokenHistory([1], [ids("hel")])
    expected = sampler.processed(logits, history)
    found = sampler.processed(torch.from_numpy(logits), history)
    np.testing.assert_array_equal(found.numpy(), expected)
