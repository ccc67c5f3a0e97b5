from engine.bench.passes import curves, measure, table
from tests.engine.models import ours, reference


def test_every_model_is_timed_at_every_size():
    models = {"target": ours(reference("llama")), "draft": ours(reference("qwen2"))}
    times = measure(models, [1, 4, 64], 2, lambda what: None, behind=40)
    assert {name: [each.rows for each in found] for name, found in times.items()} == {
        "target": [1, 4, 64],
        "draft": [1, 4, 64],
    }
    for found in times.values():
        assert all(0 < each.s.low <= each.s.value <= each.s.high for each in found)
    assert len(list(table(times))) == 2 + 6
    assert [list(curve.points) for curve in curves(times)] == [[1, 4, 64]] * 2
