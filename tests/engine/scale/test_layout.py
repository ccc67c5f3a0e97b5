"""How a model is split among cards, by the planner's arithmetic."""

import pytest

from engine.errors import BadOption, OutOfMemory
from engine.scale import CardLayout, Cluster, Forced, ModelSource, cluster_of, hub_source, layouts_for
from engine.scale.cluster import GIB
from engine.scale.layout import is_divisible, load


def layout_for(target: ModelSource, cluster: Cluster, context: int, *more, **options) -> CardLayout:
    return layouts_for(target, cluster, context, *more, **options)[0]


BIG = hub_source("qwen2.5-72b-awq")


def test_cards_are_described_by_number_and_gib():
    assert cluster_of("2x24") == Cluster(1, 2, 24)
    assert cluster_of("8x80", nodes=2) == Cluster(2, 8, 80)
    assert cluster_of("1x11.5").gib == 11.5
    assert cluster_of("2x24").usable == int(24 * GIB * 0.9) - 3 * GIB // 2


@pytest.mark.parametrize(
    "text", ["", "24", "0x24", "2x0", "2x", "-1x24", "2x24x2", "two", "2x1e9", "99999x1"]
)
def test_what_describes_no_cards_is_refused(text):
    with pytest.raises(BadOption, match="does not describe cards") as caught:
        cluster_of(text)
    assert "2x24" in caught.value.hint


@pytest.mark.parametrize("nodes", [0, -1, 5000])
def test_an_impossible_number_of_machines_is_refused(nodes):
    with pytest.raises(BadOption, match="not a number of machines"):
        cluster_of("2x24", nodes)


@pytest.mark.parametrize(
    ("target", "cards", "nodes", "expected"),
    [
        ("llama-3.1-8b", "4x24", 1, CardLayout(1, 1, 1)),  # the fewest cards
        ("qwen2.5-32b", "8x24", 1, CardLayout(4, 1, 1)),  # 61 GiB: 40 heads, which 3 do not divide
        ("llama-3.3-70b", "8x80", 2, CardLayout(2, 1, 1)),  # one machine is enough
        ("qwen2.5-72b-awq", "2x24", 2, CardLayout(2, 2, 2)),  # TP within a machine, PP across
        ("qwen2.5-72b-awq", "1x24", 4, CardLayout(1, 3, 3)),
        ("smollm2-360m", "2x2.4", 1, CardLayout(1, 2, 1)),  # 15 heads: stages instead
    ],
)
def test_the_smallest_layout_that_fits_is_taken(target, cards, nodes, expected):
    assert layout_for(hub_source(target), cluster_of(cards, nodes), 8192) == expected


def test_each_card_holds_its_share_of_weights_and_cache():
    whole, halves, stages = (
        load(BIG, CardLayout(*split), 8192) for split in ((1, 1, 1), (2, 1, 1), (1, 2, 1))
    )
    assert whole.weights == BIG.outline.nbytes
    assert whole.cache == 80 * 2 * 8 * 128 * 2 * 8192  # layers, K and V, heads, columns, bytes, tokens
    assert halves.weights == whole.weights // 2
    assert halves.cache == stages.cache == whole.cache // 2
    assert stages.weights == sum(BIG.outline.layers[:40]) + BIG.outline.head


def test_cards_beyond_the_kv_heads_hold_copies_of_the_cache():
    assert load(BIG, CardLayout(16, 1, 1), 8192).cache == load(BIG, CardLayout(8, 1, 1), 8192).cache


def test_heads_are_divisible_among_cards_or_copied():
    assert [each for each in range(1, 65) if is_divisible(BIG, each)] == [1, 2, 4, 8, 16, 32, 64]
    assert not is_divisible(hub_source("smollm2-135m"), 2), "9 heads"


def test_what_does_not_fit_is_refused_with_the_arithmetic_and_a_way_out():
    with pytest.raises(OutOfMemory) as caught:
        layout_for(BIG, cluster_of("2x24"), 8192)
    assert (
        "19.4 GiB of weights and 1.2 GiB of KV cache for 8,192 tokens, and 20.1 GiB" in caught.value.message
    )
    assert caught.value.hint == "It fits with --context 4096."
    assert layout_for(BIG, cluster_of("2x24"), 4096) == CardLayout(2, 1, 1), "the way out is one"
    with pytest.raises(OutOfMemory) as caught:
        layout_for(hub_source("qwen2.5-72b"), cluster_of("2x24"), 8192)
    assert "It fits 8 cards of 24 GiB" in caught.value.hint
    layout_for(hub_source("qwen2.5-72b"), cluster_of("8x24"), 8192)


def test_a_forced_layout_is_kept_or_refused():
    assert layout_for(BIG, cluster_of("8x80"), 512, Forced(4, 2)) == CardLayout(4, 2, 1)
    with pytest.raises(BadOption, match="64 attention heads") as caught:
        layout_for(BIG, cluster_of("8x80"), 512, Forced(3))
    assert "1, 2, 4, 8" in caught.value.hint
    with pytest.raises(BadOption, match="cannot be split into 9 stages"):
        layout_for(BIG, cluster_of("8x80"), 512, Forced(pipeline=9))


def test_llama_server_splits_layers_and_no_heads():
    assert layout_for(BIG, cluster_of("3x24"), 8192, by_layers=True) == CardLayout(1, 3, 1)
