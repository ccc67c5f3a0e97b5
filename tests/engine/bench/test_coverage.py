import pytest
import torch

from engine.bench.coverage import KS, curves, measure, table
from engine.sampling import Sampler
from tests.engine.models import VOCABULARY, disturbed, ours, reference

TEXTS = [([1, 5, 9], [30, 2, 44, 17]), ([7, 8], [60, 3, 3, 21, 40])]


@pytest.fixture(scope="module", autouse=True)
def few_tokens():
    """Limits k, because the tiny models have fewer tokens than the largest one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("engine.bench.coverage.KS", tuple(k for k in KS if k <= VOCABULARY))
        yield


def probs_of(module, prompt, answer):
    with torch.no_grad():
        logits = module(torch.tensor([[*prompt, *answer]])).logits[0]
    return logits[len(prompt) - 1 : -1].softmax(-1)


def test_coverage_equals_that_of_both_models_run_by_transformers():
    module = reference("llama")
    other = disturbed(module, 0.3)
    found = measure(ours(module), ours(other), TEXTS, Sampler(temperature=1.0), lambda what: None)
    for each in found:
        held = []
        for prompt, answer in TEXTS:
            p, q = probs_of(module, prompt, answer), probs_of(other, prompt, answer)
            held.append(float(p.gather(-1, q.topk(each.k).indices).sum(-1).mean()))
        assert each.draft.value == pytest.approx(sum(held) / len(held), abs=1e-4)
        assert each.draft.value <= each.target.value + 1e-9
    assert found[0].draft.value < found[0].target.value


def test_a_draft_equal_to_the_target_covers_as_much():
    model = ours(reference("llama"))
    for each in measure(model, model, TEXTS, Sampler(temperature=1.0), lambda what: None):
        assert each.draft.value == pytest.approx(each.target.value)


def test_greedy_sampling_puts_all_probability_on_one_token():
    model = ours(reference("llama"))
    found = measure(model, model, TEXTS, Sampler(), lambda what: None)
    assert [each.target.value for each in found] == pytest.approx([1.0] * len(found))


def test_a_row_and_a_point_for_each_k():
    model = ours(reference("llama"))
    found = measure(model, model, TEXTS, Sampler(temperature=1.0), lambda what: None)
    assert len(list(table(found))) == 2 + len(found)
    assert [list(curve.points) for curve in curves(found)] == [[each.k for each in found]] * 2
