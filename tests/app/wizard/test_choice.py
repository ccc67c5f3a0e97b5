from dataclasses import replace
from pathlib import Path

import pytest

from app.wizard.choice import Choice, item_of, loaded_by, of_offer, of_repository
from app.wizard.offers import offers_for
from engine import catalog, hub
from engine.hub import Hub, TokenNeeded, choose, item
from tests.app.wizard.conftest import examined, put
from tests.engine.hub.conftest import content
from tests.engine.hub.lying_hub import LyingHub, Offered

PAIR = ("qwen2.5-7b-q4_k_m", "qwen2.5-1.5b-q4_k_m")


def test_a_pair_becomes_one_item(server: LyingHub) -> None:
    for id in PAIR:
        put(server, id)
    parts = tuple(catalog.entries()[id] for id in PAIR)
    found = item_of(Hub(server.endpoint), Choice("both", parts, 0, *PAIR))
    assert [repository.id for repository in found.repositories] == [part.repository for part in parts]
    assert loaded_by(found) == tuple(f"{part.repository}/{part.file}" for part in parts)


def test_a_target_alone_is_loaded_with_the_heads_the_program_has_for_it() -> None:
    pair = offers_for(examined().usable(), catalog.catalog()).recommended
    for target, draft in (("smollm2", "auto"), (PAIR[0], "none")):
        alone = replace(pair, target=catalog.entries()[target], draft=None)
        assert (of_offer(alone).target, of_offer(alone).draft) == (target, draft)


def test_a_gated_part_is_refused_before_anything_is_fetched(server: LyingHub) -> None:
    put(server, PAIR[0])
    put(server, PAIR[1], gated="manual", refuses=(401, {"X-Error-Code": "GatedRepo"}))
    with pytest.raises(TokenNeeded):
        item_of(Hub(server.endpoint), Choice("both", tuple(catalog.entries()[id] for id in PAIR), 0, *PAIR))
    assert server.ranges() == []


def test_of_two_models_in_one_repository_the_larger_is_the_target(server: LyingHub) -> None:
    server.repositories["o/m"] = Offered({"small.gguf": content(100), "large.gguf": content(900)})
    repository = Hub(server.endpoint).repository("o/m")
    both = item("m", choose(repository, ["small.gguf"]), choose(repository, ["large.gguf"]))
    assert loaded_by(both) == ("o/m/large.gguf", "o/m/small.gguf")


def test_a_model_alone_takes_the_draft_that_is_here(server: LyingHub) -> None:
    server.repositories["o/m"] = Offered({"model.safetensors": content(9), "config.json": b"{}"})
    assert loaded_by(item("m", choose(Hub(server.endpoint).repository("o/m")))) == ("o/m", "auto")


def test_of_a_repository_only_the_chosen_form_is_wanted(server: LyingHub, own_models: Path) -> None:
    server.repositories["o/m"] = Offered({"a.gguf": content(100), "b.gguf": content(900)}, license="mit")
    repository = Hub(server.endpoint).repository("o/m")
    draft = catalog.entries()[PAIR[1]]
    [small, _] = hub.offers(repository)
    choice = of_repository(repository, small, draft, missing=True)
    assert (choice.target, choice.draft) == ("o/m/a.gguf", draft.id)
    assert choice.nbytes == 100 + draft.nbytes
    assert choice.licenses == ("mit", draft.license)
    alone = of_repository(repository, small, None, missing=False)
    assert (alone.draft, alone.nbytes) == ("none", 100)
    put(server, PAIR[1])
    wanted = item_of(Hub(server.endpoint), choice)
    assert [file.name for file in wanted.repositories[0].files] == ["a.gguf"]
