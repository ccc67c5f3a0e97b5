from dataclasses import replace
from typing import Any

import pytest

from app.wizard.selection.offers import Offers, offers_for, where_it_fits
from engine import catalog, planner
from engine.machine import Gpu, TorchBuild
from engine.planner import PairOutline, selection
from engine.planner.recommendation import PATIENCE_S, pairs
from engine.protocol.messages import Helps
from tests.app.shared_fixtures import GIB, place
from tests.app.wizard.conftest import examined

HELPS: tuple[Helps, Helps] = ("never", "auto")


def offers() -> Offers:
    return offers_for(examined().usable(), catalog.catalog(), "auto")


def test_the_recommended_pair_comes_first_with_its_reason() -> None:
    found = offers()
    best = planner.recommend(examined().usable(), catalog.catalog())
    assert found.all[0] is found.recommended
    assert found.recommended.plan.pair == best.plan.pair
    assert found.reason == best.reason
    assert [offer for offer in found.all if offer.is_recommended] == [found.recommended]


def test_the_alternatives_are_offers_of_the_list() -> None:
    found = offers()
    best = planner.recommend(examined().usable(), catalog.catalog())
    for offer, other in ((found.larger, best.larger), (found.smaller, best.smaller)):
        assert (offer and offer.plan.pair) == (other and other.plan.pair)
        assert offer is None or offer in found.all
    assert found.larger or found.smaller


@pytest.mark.parametrize("gib", [0.25, 24], ids=["nothing runs", "some run"])
def test_each_pair_is_planned_once(gib: float, monkeypatch: pytest.MonkeyPatch) -> None:
    planned: list[PairOutline] = []

    def plan_for(machine: planner.MachineProfile, pair: PairOutline, *how: Any) -> planner.Plan:
        planned.append(pair)
        return planner.plan_for(machine, pair, *how)

    monkeypatch.setattr(selection, "plan_for", plan_for)
    machine = replace(examined().usable(), ram=int(gib * GIB))
    found = offers_for(machine, catalog.catalog(), "auto")
    assert found.recommended.plan.runs == (gib > 1)
    assert len(planned) == len(set(planned))
    assert set(planned) >= {pair for _, pair in pairs(catalog.catalog())}


def test_offers_reckon_with_the_help_that_the_user_allows() -> None:
    model = catalog.local.catalog().models["qwen3-30b-a3b"]
    variants = {variant.id: variant for variant in model.variants}
    known = replace(catalog.catalog(), models={model.id: model}, variants=variants, pairs=())
    machine = replace(planner.named_machines()["rtx-4060"][1], ram=96 * GIB)
    never, auto = (offers_for(machine, known, helps).recommended for helps in HELPS)
    assert never.plan.helped == 0 < auto.plan.helped
    assert never.speed is not None
    assert auto.speed is not None
    assert never.speed < auto.speed


def test_every_speed_that_is_shown_is_one_to_rely_on() -> None:
    """Otherwise a larger model would look faster in the table than the recommended one."""
    found = offers()
    fluent = [offer for offer in found.all if (offer.speed or 0) >= planner.READING_SPEED]
    soon = [offer for offer in fluent if offer.plan.time_to_first_token_s <= PATIENCE_S]
    sizes = [catalog.catalog().models[offer.target.model].parameters for offer in soon]
    assert sizes[0] == max(sizes)


def test_each_target_has_one_best_way_and_none_is_faster() -> None:
    found = offers()
    for model in {offer.target.model for offer in found.all} - {found.recommended.target.model}:
        ways = [offer for offer in found.all if offer.target.model == model]
        [best] = [offer for offer in ways if offer.is_best]
        assert best.speed == pytest.approx(max(offer.speed or 0 for offer in ways), abs=0.01)


def test_a_target_with_a_layer_for_drafts_of_its_own_is_offered_with_it() -> None:
    known = catalog.catalog()
    plain = next(each for each in known.variants.values() if each.format == "gguf")
    model, drafting = known.models[plain.model], replace(plain, mtp=True)
    variants = tuple(drafting if each is plain else each for each in model.variants)
    changed = replace(
        known,
        models=known.models | {model.id: replace(model, variants=variants)},
        variants=known.variants | {plain.id: drafting},
    )
    for given, heads in ((known, None), (changed, "own layer")):
        found = offers_for(examined().usable(), given, "auto").all
        [alone] = [offer for offer in found if offer.target.id == plain.id and offer.draft is None]
        assert alone.plan.heads == heads


def test_models_on_this_machine_are_not_downloaded_again() -> None:
    pair = next(offer for offer in offers().all if offer.draft and offer.draft.id != offer.target.id)
    assert pair.draft is not None
    assert pair.missing_nbytes == pair.target.nbytes + pair.draft.nbytes
    place(pair.draft)
    again = next(offer for offer in offers().all if offer.plan.pair == pair.plan.pair)
    assert again.missing == (pair.target,)
    place(pair.target)
    again = next(offer for offer in offers().all if offer.plan.pair == pair.plan.pair)
    assert again.is_local
    assert not again.gated


def test_a_graphics_card_that_the_installed_torch_cannot_use_is_ignored() -> None:
    seen = examined()
    with_card = replace(
        seen.machine, gpus=(Gpu("nvidia", "NVIDIA GeForce RTX 4090", "", 24 * GIB, 23 * GIB),)
    )
    cpu_only = replace(seen, machine=with_card, torch=TorchBuild("2.13.0+cpu"))
    assert cpu_only.usable().card is None
    assert replace(cpu_only, torch=TorchBuild("2.13.0", cuda="13.0")).usable().card is not None
    assert replace(cpu_only, torch=None).usable().card is not None, "it is still to be installed"


def test_a_model_outside_the_catalogue_is_placed_by_its_size() -> None:
    machine = next(machine for _, machine in planner.named_machines().values() if machine.vram > 16 * GIB)
    assert where_it_fits(machine, machine.usable_vram) == "in VRAM"
    assert where_it_fits(machine, machine.usable_vram + machine.usable_ram) == "VRAM + RAM"
    assert where_it_fits(machine, machine.usable_vram + machine.usable_ram + 1) == "with SSD"
