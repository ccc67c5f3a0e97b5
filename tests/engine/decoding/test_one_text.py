"""One text: a compiled model's answer is the same, token for token, with every drafter and every budget."""

from functools import cache

import pytest
import torch

from engine import catalog
from engine.checkpoints import open_checkpoint
from engine.decoding.budget import FixedLimits
from engine.decoding.iteration import Iterated, Prefilled, decode
from engine.decoding.verification import TargetVerifier
from engine.drafting import DrafterParts, TreeLimits, make_drafter
from engine.heads import load_compiled_heads, open_heads
from engine.model.compiled import CompiledModel
from engine.model.interface import no_progress
from engine.model.loader import load_compiled
from engine.model.sequence import Sequence
from engine.sampling import Sampler
from engine.tokenizer import load_tokenizer
from engine.torch_model.threads import share_cores
from tests.engine.conftest import model_file

CONTEXT = 512
NEW_TOKENS = 48
DRAFTERS = ["pld", "recycling", "lookahead", "eagle", "merged"]
BUDGETS = [4, 16, 64]
QUESTIONS = {
    "code": "Write a Python function that merges two sorted lists, with a docstring and a test.",
    "copy": "Repeat this list twice, word for word: apples, pears, plums, cherries, quinces, apples, pears.",
    "prose": "Schreib mir bitte ein kurzes Gedicht über den Regen in Venedig — mit Möwen!",
}
SAMPLERS = {"greedy": Sampler(), "sampled": Sampler(seed=11, temperature=0.8, top_p=0.9)}


@pytest.fixture(scope="module", autouse=True)
def threads():
    """As in the engine: compiled programs have the cores to themselves."""
    before = torch.get_num_threads()
    share_cores(True, None)
    yield
    torch.set_num_threads(before)


@cache
def loaded():
    """The embedded model, its heads and its tokenizer."""
    checkpoint = open_checkpoint(model_file("smollm2"))
    model = load_compiled(checkpoint, no_progress, CONTEXT)
    assert isinstance(model, CompiledModel)
    folder = catalog.heads_for("smollm2")
    assert folder is not None
    heads = load_compiled_heads(open_heads(folder), model, CONTEXT)
    return model, heads, load_tokenizer(checkpoint)


def asked(text):
    return list(loaded()[2].encode(f"<|im_start|>user\n{text}<|im_end|>\n<|im_start|>assistant\n"))


def made(drafter):
    model, heads, _ = loaded()
    return make_drafter(drafter, DrafterParts(model.vocabulary, None, heads))


def answer(drafter, prompt, sampler, budget=0, target=None, most=NEW_TOKENS):
    """Return the tokens, and the number of passes that they took."""
    target = target or Sequence(loaded()[0], CONTEXT)
    tokens, passes = [], 0
    rule = FixedLimits(TreeLimits(budget, 8, 12))
    verifier = TargetVerifier(target, sampler)
    for event in decode(verifier, drafter, sampler, prompt, rule, (), most, no_progress):
        if isinstance(event, Prefilled):
            tokens.append(event.token)
        elif isinstance(event, Iterated):
            tokens += event.tokens
            passes += 1
    return tokens, passes


@cache
def plain(question, sampler):
    """The answer of plain decoding."""
    tokens, passes = answer(made("none"), asked(QUESTIONS[question]), SAMPLERS[sampler])
    assert len(tokens) == passes + 1 == NEW_TOKENS
    return tokens


# All of 5 drafters, 3 budgets, 3 questions and 2 samplers together take minutes: each drafter has each budget
# with another question, and both samplers in turn.
TURNS = [
    (drafter, BUDGETS[(number + turn) % 3], question, list(SAMPLERS)[(3 * number + turn) % 2])
    for number, drafter in enumerate(DRAFTERS)
    for turn, question in enumerate(QUESTIONS)
]


@pytest.mark.parametrize(("drafter", "budget", "question", "sampler"), TURNS)
def test_any_tree_gives_the_tokens_of_plain_decoding(drafter, budget, question, sampler):
    tokens, _ = answer(made(drafter), asked(QUESTIONS[question]), SAMPLERS[sampler], budget)
    assert tokens == plain(question, sampler)


@pytest.mark.parametrize("drafter", ["eagle", "merged"])
def test_trees_are_accepted_at_all(drafter):
    """Without accepted nodes the texts above would be the same whatever the rows of a tree computed."""
    _, passes = answer(made(drafter), asked(QUESTIONS["copy"]), SAMPLERS["greedy"], 16)
    assert passes < 0.9 * NEW_TOKENS


@pytest.mark.parametrize(
    ("drafter", "sampler"),
    [("pld", "greedy"), ("recycling", "sampled"), ("lookahead", "greedy"), ("merged", "sampled")],
)
def test_a_second_turn_that_reuses_rows_gives_the_tokens_of_plain_decoding(drafter, sampler):
    """The rows of the first turn were computed in trees."""
    prompt, most = asked(QUESTIONS["code"]), 16
    target, draft = Sequence(loaded()[0], CONTEXT), made(drafter)
    first, _ = answer(draft, prompt, SAMPLERS[sampler], 16, target, most)
    assert first == plain("code", sampler)[:most]
    turn = [*prompt, *first, *asked("Now the same for three lists.")]
    found, _ = answer(draft, turn, SAMPLERS[sampler], 16, target, most)
    expected, _ = answer(made("none"), turn, SAMPLERS[sampler], most=most)
    assert found == expected
