"""One recommended pair for each machine, with a reason; and predictions for the paper's measurements."""

from dataclasses import replace
from functools import cache

import pytest

from engine import catalog
from engine.planner import (
    HelpingProcessor,
    Names,
    Observed,
    fastest,
    helper_of,
    named_machines,
    plan_for,
    recommend,
    recommendation,
    usual_card,
)
from engine.planner.machines import GIB, MachineProfile
from engine.planner.outline import catalogued
from engine.planner.pairs import without_heads
from engine.planner.paper import comparison
from engine.planner.recommendation import (
    ALIKE,
    CAUTION,
    PATIENCE_S,
    READING_SPEED,
    RatedPlan,
    Recommendation,
    asked_for,
    pairs,
    quantized,
    rated_plans,
    reliable_speed,
)
from tests.engine.planner.made import CARD, CPU, LAPTOP

CATALOG = catalog.catalog()


def model_of(plan) -> catalog.CatalogModel:
    return CATALOG.models[CATALOG.variants[plan.pair.target].model]


def size(plan) -> int:
    return model_of(plan).parameters


planned = cache(lambda there, pair, asked: fastest(there, [pair], asked, ()))


@pytest.fixture(scope="module", autouse=True)
def plans_each_pair_once():
    """For each machine: recommendations compare the same plans again."""

    def planned_once(there, pairs, asked, history):
        assert not history
        return planned(there, *pairs, asked)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recommendation, "fastest", planned_once)
        yield


def rated(there) -> list[RatedPlan]:
    """Every pair that runs, for all purposes."""
    return [each for each in rated_plans(there, CATALOG) if each.plan.runs and not each.model.special]


@cache
def recommended(there: MachineProfile) -> Recommendation:
    return recommend(there, CATALOG)


def names(pair) -> Names:
    return Names(pair.target.name, pair.draft.name if pair.draft else None)


def test_larger_machines_are_recommended_larger_models():
    found = {id: recommended(there) for id, (_, there) in named_machines().items()}
    sizes = [size(found[id].plan) for id in ("rtx-4090", "rtx-4080s", "rtx-4070ti", "rtx-4060", "laptop")]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[2] > 60e9, "a card of 12 GiB answers with a 70B model"
    for each in found.values():
        assert each.plan.predicted_tokens_per_second >= READING_SPEED
        assert each.reason in ("fluent", "mixture")
        if each.reason == "mixture":
            assert CATALOG.models[CATALOG.variants[each.plan.pair.target].model].experts


def test_a_target_is_predicted_with_the_layer_for_drafts_that_comes_with_it():
    models = {"qwen3.8-27b": CATALOG.models["qwen3.8-27b"]}
    only = replace(CATALOG, models=models, pairs=())
    [(_, pair)] = pairs(only)
    there = replace(LAPTOP, ram=64 * GIB)
    found = recommend(there, only).plan
    alone = plan_for(there, without_heads(pair), asked_for(there, pair.target))
    assert (alone.heads, found.heads) == (None, "own layer")
    assert found == plan_for(there, pair, asked_for(there, pair.target))
    assert found.predicted_tokens_per_second > 1.1 * alone.predicted_tokens_per_second


def test_a_mixture_that_answers_faster_than_the_largest_other_model_is_recommended_first():
    usual = MachineProfile(24 * GIB, 16 * GIB, 25e9, 1e9, CARD, CPU)
    assert recommend(usual, CATALOG).reason == "fluent", "launching the experts takes a card long"
    there = replace(usual, card=replace(CARD, launch_s=0.0))
    found = recommended(there)
    assert found.reason == "mixture"
    assert CATALOG.models[CATALOG.variants[found.plan.pair.target].model].experts
    assert found.plan.experts.streamed == 0
    others = [each for each in rated(there) if each.fluent and not each.model.experts]
    largest = max(others, key=lambda each: (each.model.parameters, each.speed))
    assert size(found.plan) >= largest.model.parameters / ALIKE
    assert found.plan.predicted_tokens_per_second > largest.speed


def test_a_small_mixture_does_not_replace_a_larger_model_however_fast_it_is():
    """Granite 4.0 H Tiny (7B, 1B active) is the fastest by far on both laptops."""
    for id in ("laptop", "small-laptop"):
        _, there = named_machines()[id]
        found = recommended(there)
        all = rated(there)
        tiny = max(each.speed for each in all if each.model.id == "granite-4.0-h-tiny")
        assert tiny > found.plan.predicted_tokens_per_second
        dense = (each.model.parameters for each in all if each.fluent and not each.model.experts)
        assert size(found.plan) >= max(dense) > CATALOG.models["granite-4.0-h-tiny"].parameters


def test_a_mixture_that_its_maker_likens_to_smaller_models_does_not_replace_a_larger_one():
    """LFM2 8B A1B has more parameters than the model that is recommended, and is faster."""
    _, there = named_machines()["small-laptop"]
    id, found = "lfm2-8b-a1b", recommended(there)
    likened = CATALOG.models[id]
    assert likened.comparable < size(found.plan) < likened.parameters
    unlike = CATALOG.models | {id: replace(likened, comparable=0)}
    other = recommend(there, replace(CATALOG, models=unlike))
    assert CATALOG.variants[other.plan.pair.target].model == id
    assert other.plan.predicted_tokens_per_second > found.plan.predicted_tokens_per_second


def test_a_mixture_on_the_disk_is_recommended_only_if_it_is_faster_than_other_models():
    """8 GB of RAM reach 5 tokens/s with 35B from the disk, but a smaller model from memory is faster."""
    _, there = named_machines()["small-laptop"]
    found = recommended(there)
    assert found.reason == "fluent"
    assert found.plan.fit == "in RAM"
    assert found.larger.fluent
    assert found.larger.plan.fit == "with SSD"


def test_a_model_that_was_replaced_by_one_of_its_size_is_not_recommended():
    successors = {model.successor for model in CATALOG.models.values()} - {""}
    assert "qwen3.6-35b-a3b" in successors
    found = [recommended(there) for _, there in named_machines().values()]
    names = {CATALOG.variants[each.plan.pair.target].model for each in found}
    assert not {name for name in names if CATALOG.models[name].successor}
    assert names & successors, "in its place"


CARDS = {id: there for id, (_, there) in named_machines().items() if there.card}


@pytest.mark.parametrize("there", CARDS.values(), ids=CARDS)
def test_a_mixture_runs_in_the_fastest_of_three_ways(there):
    """On the card, there with the processor's help, or on the processor alone."""
    found = recommended(there)
    assert found.reason == "mixture"
    pair = next(each for _, each in pairs(CATALOG) if names(each) == found.plan.pair)
    asked = asked_for(there, pair.target)
    alone = replace(asked, helper=None)
    ways = replace(alone, device="cuda"), replace(asked, device="cuda"), replace(alone, device="cpu")
    card, helped, processor = (fastest(there, [pair], way, ())[0] for way in ways)
    assert helped.helped > 0 or helped.forgoes_help
    best = max((card, processor, helped), key=lambda plan: plan.predicted_tokens_per_second)
    assert (found.plan.device, found.plan.helped) == (best.device, best.helped)
    assert found.plan.predicted_tokens_per_second == best.predicted_tokens_per_second
    other = max((card, processor) if best.helped else (card, helped), key=lambda plan: plan.helped)
    assert other.predicted_tokens_per_second <= found.plan.other_way.predicted_tokens_per_second
    assert found.plan.help_once_loaded("auto") == ("auto" if best is helped else "never")


def test_the_processor_helps_where_that_is_faster_and_computes_alone_where_that_is():
    beside, alone = (recommended(CARDS[id]).plan for id in ("rtx-4060", "rtx-4070ti"))
    assert (beside.device, beside.other_way.device) == ("cuda", "cpu")
    assert (alone.device, alone.other_way.device) == ("cpu", "cuda")
    assert alone.helped == 0 < beside.helped


def test_without_being_asked_the_processor_never_helps_with_a_dense_model():
    there = CARDS["rtx-4060"]
    dense, mixture = (catalogued(id) for id in ("llama-3.3-70b-q4_k_m", "qwen3-30b-a3b-q4_k_m"))
    assert asked_for(there, dense).helper is None
    assert asked_for(there, mixture).helper == HelpingProcessor(there.compiled, "auto")
    assert helper_of(there, dense, "never") is None
    assert helper_of(there, dense, "measured") == HelpingProcessor(there.compiled, "measured")
    assert helper_of(there, mixture, "never") is None


def test_recommendations_reckon_with_the_help_that_the_user_allows():
    there = CARDS["rtx-4060"]
    model = model_of(recommended(there).plan)
    only = replace(CATALOG, models={model.id: model}, pairs=())
    alone, helped = (recommend(there, only, helps=helps).plan for helps in ("never", "auto"))
    assert alone.helped == 0 < helped.helped
    assert alone.predicted_tokens_per_second < helped.predicted_tokens_per_second


def laptop(id: str, gib: int) -> MachineProfile:
    _, there = named_machines()[id]
    return replace(there, ram=gib * GIB)


MACHINES = {id: there for id, (_, there) in named_machines().items()} | {
    f"{id} with {gib} GiB": laptop(id, gib)
    for id, gib in (("laptop", 4), ("small-laptop", 2), ("small-laptop", 6))
}


@pytest.mark.parametrize("there", MACHINES.values(), ids=MACHINES)
def test_alternatives_are_what_they_are_called_and_never_contradict_the_reason(there):
    """A larger model that is offered beside the recommended one must not look better in every way."""
    found = recommended(there)
    best = next(each for _, each in pairs(CATALOG) if names(each) == found.plan.pair)
    speed = reliable_speed(found.plan, best, ())
    assert speed >= READING_SPEED
    model = model_of(found.plan)
    if found.larger:
        assert found.larger.model.rank > model.rank
        assert found.larger.model.parameters > model.parameters
        later = found.larger.plan.time_to_first_token_s > found.plan.time_to_first_token_s
        assert found.larger.speed < speed or later
        late = found.larger.plan.time_to_first_token_s > PATIENCE_S
        slow = found.larger.speed < READING_SPEED or found.larger.plan.fit == "with SSD"
        # A mixture is recommended because it is the fastest one; others may be fluent, too.
        assert (found.larger.speed < speed if found.reason == "mixture" else slow) or late
    if found.smaller:
        assert found.smaller.model.rank < model.rank
        assert found.smaller.model.parameters < model.parameters
        assert found.smaller.speed > speed


def test_a_mixture_that_its_maker_likens_to_smaller_models_is_no_larger_alternative():
    """On a laptop with 4 GiB, LFM2 8B A1B is faster than the recommended model, and begins sooner. Its maker
    likens it to models of 3 to 4B."""
    there = laptop("laptop", 4)
    found = recommended(there)
    likened = next(each for each in rated(there) if each.model.id == "lfm2-8b-a1b")
    assert likened.model.rank < model_of(found.plan).rank < likened.model.parameters
    assert likened.speed > found.plan.predicted_tokens_per_second
    assert likened.plan.time_to_first_token_s < found.plan.time_to_first_token_s
    assert found.larger.model.id != "lfm2-8b-a1b"


def test_an_answer_on_this_machine_makes_a_prediction_reliable():
    estimated = (each for _, each in pairs(CATALOG) if each.acceptance.source == "estimated" and each.draft)
    plans = ((plan_for(LAPTOP, each, asked_for(LAPTOP, each.target)), each) for each in estimated)
    plan, pair = next((plan, each) for plan, each in plans if plan.predicted_tokens_per_second)
    predicted = plan.predicted_tokens_per_second
    assert reliable_speed(plan, pair, ()) == CAUTION * predicted
    seen = Observed(pair.target.file, pair.draft.file, "cpu", 1.0, 1.0, 1.0, 1.0)
    assert reliable_speed(plan, pair, [seen]) == predicted


def test_a_model_for_one_purpose_is_not_recommended_to_everyone():
    for _, there in named_machines().values():
        found = recommended(there)
        plans = [found.plan, *(each.plan for each in (found.larger, found.smaller) if each)]
        assert not any(CATALOG.models[CATALOG.variants[plan.pair.target].model].special for plan in plans)


def test_if_nothing_reaches_reading_speed_the_fastest_is_recommended():
    slow = MachineProfile(0, 12 * GIB, 1e9, 1e9, None, CPU.__class__(1e9, 1e9, 1e8, 0, 0.01, 0.0, 4))
    found = recommend(slow, CATALOG)
    assert found.plan.predicted_tokens_per_second < READING_SPEED
    assert found.reason == "fastest"
    assert found.smaller is None, "nothing is faster"


def test_if_nothing_runs_the_reason_says_what_is_missing():
    found = recommend(MachineProfile(0, GIB, 1e9, 1e9, None, CPU), CATALOG)
    assert not found.plan.runs
    assert found.plan.missing
    assert found.reason == "none"
    assert found.larger is found.smaller is None


def test_what_is_missing_is_counted_without_heads_that_may_be_left_out():
    target = next(pair.target for _, pair in pairs(CATALOG) if pair.layer)
    model = CATALOG.models[CATALOG.variants[target.name].model]
    alone = replace(CATALOG, models={model.id: model}, pairs=())
    plan = recommend(MachineProfile(0, GIB // 4, 1e9, 1e9, None, CPU), alone).plan
    assert not plan.runs
    assert plan.heads is None


def test_no_16_bit_variant_is_recommended_if_there_is_a_quantized_one():
    for model in CATALOG.models.values():
        formats = {variant.format for variant in quantized(model)}
        assert formats
        assert "16-bit" not in formats or formats == {"16-bit"}


def test_a_card_of_unknown_name_is_judged_by_its_size():
    speeds = [usual_card(vram).memory for vram in (0.5, 6, 8, 12, 16, 24, 96)]
    assert speeds == sorted(speeds)
    assert speeds[0] == speeds[2] < speeds[3]


@pytest.mark.parametrize("one", list(comparison()), ids=lambda one: one.published.name)
def test_seconds_per_pass_agree_with_what_was_published(one):
    """For the engine that was measured. Its plain pass takes as long as the link, if a speed-up was
    published."""
    if one.published_plain_s is not None:
        assert one.predicted_plain_s == pytest.approx(one.published_plain_s, rel=0.25)
    if one.published.card == "RTX 2080 Ti":
        # The published 1.9 tokens/s times the predicted seconds are 6.7 tokens per pass, as TinyLlama reaches
        # with this budget: the draft was smaller than in the other measurements.
        assert one.predicted_s * one.published.tokens_per_second == pytest.approx(6.7, rel=0.05)
    else:
        assert one.ratio == pytest.approx(1.0, abs=0.25)
    assert one.ours.seconds_per_pass < one.predicted_s, "resident weights need not be moved"


def test_a_laptop_without_a_card_gets_a_model_that_fits_its_ram():
    found = recommend(LAPTOP, CATALOG)
    assert found.plan.fit == "in RAM"
    assert found.plan.memory.ram < LAPTOP.ram
