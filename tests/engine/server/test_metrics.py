"""What the server's /metrics count of answers."""

from msgspec import structs

from engine.protocol import ExpertFigures
from engine.server.metrics import Metrics
from tests.app.fake_engine import answer


def test_the_experts_of_mixtures_are_counted_over_all_answers() -> None:
    metrics = Metrics()
    figures = ExpertFigures(hits=7, late=2, misses=3, near=1, bytes_read=500, predicted=0, right=0)
    for experts in (figures, structs.replace(figures, hits=3), None):
        metrics.count_answer(structs.replace(answer(1), experts=experts))
    lines = metrics.text(0).splitlines()
    assert [line for line in lines if line.startswith("specexec_expert")] == [
        'specexec_experts_total{kind="hits"} 10',
        'specexec_experts_total{kind="late"} 4',
        'specexec_experts_total{kind="misses"} 6',
        'specexec_experts_total{kind="near"} 2',
        "specexec_expert_bytes_total 1000",
    ]


def test_without_a_mixture_no_expert_is_counted() -> None:
    metrics = Metrics()
    metrics.count_answer(answer(1))
    assert "specexec_experts_total{" not in metrics.text(0)
    assert "specexec_expert_bytes_total 0" in metrics.text(0).splitlines()
