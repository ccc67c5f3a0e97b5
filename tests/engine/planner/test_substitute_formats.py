"""In which format the substitutes are of a target that drafts for itself."""

from bisect import bisect_left
from dataclasses import replace

import pytest

from engine.compiled.instructions import LANES
from engine.compiled.layout import BLOCK, LAYOUTS
from engine.planner import Asked, fastest, plan_for, self_pairs
from engine.planner.machines import GIB
from engine.planner.substitute_formats import CLEARLY, FORMATS, nearest_format, substitutes_of, usable_formats
from tests.engine.planner.made import LAPTOP, outline

TARGET = outline(
    28, 90 << 20, 1_310_000_000, 1536, 151_936, packed=False, tied=True, compiled=True
)  # 16 bits


def test_bits_are_those_of_tiles():
    for form in FORMATS:
        layout = LAYOUTS[form.name]
        nbytes = layout.scales_nbytes + layout.unit // BLOCK * layout.block_nbytes
        assert form.bits == 8 * nbytes / LANES / layout.unit
        assert form.stored_bits <= form.bits


@pytest.mark.parametrize(
    ("columns", "bits", "names"),
    [
        (1536, 16, ["Q2_K", "Q3_K", "Q4_0"]),
        (1536, 6.5625, ["Q2_K", "Q3_K", "Q4_0"]),
        (1536, 4.5, ["Q2_K", "Q3_K"]),
        (1536, 3.4375, []),
        (896, 16, ["Q4_0"]),  # no blocks of 256
        (896, 4.5, []),
    ],
)
def test_a_matrix_has_formats_that_divide_its_rows_and_are_much_smaller(columns, bits, names):
    assert [form.name for form in usable_formats(columns, bits)] == names
    for wanted in FORMATS:
        found = nearest_format(wanted.name, columns, bits)
        assert (found.name if found else None) == (
            wanted.name if wanted.name in names else next(iter(names[::-1]), None)
        )


def test_the_plan_has_the_format_that_promises_most_tokens_per_second():
    machine, asked = replace(LAPTOP, ram=4 * GIB, disk=0.5e9), Asked(2048)
    pairs = self_pairs(TARGET)
    plans = [plan_for(machine, pair, asked) for pair in pairs]
    best, pair = fastest(machine, pairs, asked, ())
    assert best.substitutes == pair.substitutes.name
    assert best.predicted_tokens_per_second == max(plan.predicted_tokens_per_second for plan in plans)
    fewest, *_, most = plans
    assert fewest.layers.ram > most.layers.ram, "more of the target is resident beside smaller substitutes"


def test_each_matrix_counts_in_the_format_that_it_has():
    """Half of each layer's weights have rows that are no whole blocks of 256."""
    whole, broken = (1024, 1024, 2 << 20), (1024, 1056, 2112 << 10)
    found = substitutes_of([[whole, broken]] * 2, (2048, 1024, 4 << 20))
    assert [each.name for each in found] == ["Q2_K", "Q3_K", "Q4_0"]
    for each, bits in zip(found, (3.125, 3.5625, 4.5), strict=True):
        assert each.layers == ((1024 * 1024 * bits + 1024 * 1056 * 4.5) // 8,) * 2
        assert each.head == 2048 * 1024 * bits // 8
    few, *_, most = found
    assert few.stored == 4 * 1024 * 1024 // 256 * 84 + 2 * 1024 * 1056 // 32 * 18
    assert 0.8 < few.gain < most.gain == 1.0


def test_formats_that_make_no_difference_are_one_and_a_matrix_without_any_leaves_none():
    found = substitutes_of([[(64, 96, 64 * 96 * 2)]], (64, 96, 64 * 96 * 2))
    assert len(found) == 1
    assert found[0].layers == (64 * 96 * 4.5 // 8,)
    assert substitutes_of([[(64, 96, 64 * 96 * 2)]], (64, 96, 64 * 96 // 32 * 18)) == ()


@pytest.mark.parametrize(("ratio", "is_kept"), [(0.98, True), (1.02, False)])
def test_a_format_on_the_disk_is_taken_unless_another_promises_clearly_more(ratio, is_kept):
    """The gain of the kept one is set so that the other promises `ratio` times CLEARLY as many tokens/s."""
    machine, asked = replace(LAPTOP, ram=4 * GIB, disk=0.5e9), Asked(2048, budget=63)
    best, pair = fastest(machine, self_pairs(TARGET), asked, ())
    other = next(each for each in self_pairs(TARGET) if each.substitutes.name != best.substitutes)

    def speed(gain):
        accepted = replace(other.acceptance, gain=gain)
        return plan_for(machine, replace(other, acceptance=accepted), asked).predicted_tokens_per_second

    aim = best.predicted_tokens_per_second / CLEARLY / ratio
    gains = [2 * other.acceptance.gain * step / 1000 for step in range(1, 1000)]
    gain = gains[bisect_left(gains, aim, key=speed)]
    assert speed(gain) == pytest.approx(aim, rel=0.005)
    pairs = [pair, replace(other, acceptance=replace(other.acceptance, gain=gain))]
    found, _ = fastest(machine, pairs, asked, (), kept={other.substitutes.name})
    assert (found.substitutes == other.substitutes.name) == is_kept
    assert fastest(machine, pairs, asked, ())[0] == best


def test_where_memory_is_scarce_fewer_bits_still_run():
    pairs = self_pairs(TARGET)

    def running(ram):
        machine = replace(LAPTOP, ram=ram)
        return [pair.substitutes.name for pair in pairs if plan_for(machine, pair, Asked(512)).runs]

    sizes = range(GIB, 4 * GIB, GIB // 32)
    found = [running(ram) for ram in sizes]
    assert found[0] == []
    assert found[-1] == ["Q2_K", "Q3_K", "Q4_0"]
    assert ["Q2_K"] in found
    for ram, names in zip(sizes, found, strict=True):
        plan, _ = fastest(replace(LAPTOP, ram=ram), pairs, Asked(512), ())
        assert plan.runs == bool(names)


@pytest.mark.parametrize(("layer_nbytes", "name"), [(90 << 20, "Q3_K"), (26 << 20, "Q2_K")])
def test_where_the_disk_is_the_bound_16_bits_become_3_and_4_become_2(layer_nbytes, name):
    target = outline(28, layer_nbytes, 1_310_000_000, 1536, 151_936, tied=True, compiled=True)
    machine = replace(LAPTOP, disk=0.05e9)
    least = next(ram for ram in range(GIB, 4 * GIB, GIB // 32) if _streams(replace(machine, ram=ram), target))
    plan, _ = fastest(replace(machine, ram=least), self_pairs(target), Asked(512), ())
    assert (plan.limited_by, plan.substitutes) == ("disk", name)


def _streams(machine, target):
    """Whether the target runs with each format of substitutes."""
    return all(plan_for(machine, pair, Asked(512)).runs for pair in self_pairs(target))
