from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.background import Work
from app.downloads.downloads import loaded_by
from app.wizard.selection import wording
from app.wizard.selection.choice import (
    Choice,
    Preparing,
    choice_of_offer,
    choice_of_repository,
    completed,
    item_of,
)
from app.wizard.selection.offers import Offer, offers_for
from engine import catalog, hub
from engine.hub import Download, Hub, TokenNeeded
from tests.app.shared_fixtures import put
from tests.app.wizard.conftest import ASSISTANT, GEMMA, examined, put_assistant, with_assistant
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


def test_a_target_without_a_draft_is_loaded_with_what_drafts_for_it_if_there_is_any(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Heads that come with the program, or a layer of its own."""
    pair = offers_for(examined().usable(), catalog.catalog(), "auto").recommended
    monkeypatch.setattr(catalog, "catalog", catalog.local.catalog)  # the whole one
    drafting = "smollm2", "qwen3.8-27b-q4_k_m"
    for target, draft in (*((target, "auto") for target in drafting), (PAIR[0], "none")):
        alone = replace(pair, target=catalog.entries()[target], draft=None)
        assert (choice_of_offer(alone).target, choice_of_offer(alone).draft) == (target, draft)


def offer_with_companion(monkeypatch: pytest.MonkeyPatch) -> Offer:
    """The offer of a model that has an assistant; the catalogue has no more models than that and a few."""
    known = with_assistant(catalog.catalog())
    monkeypatch.setattr(catalog, "catalog", lambda: known)
    offers = offers_for(examined().usable(), known, "auto").all
    return next(each for each in offers if each.target.id == GEMMA)


def test_a_companion_becomes_a_part_and_drafts_once_it_is_downloaded(
    server: LyingHub, own_models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer = offer_with_companion(monkeypatch)
    assert (offer.companion, offer.lacks_companion) == (ASSISTANT, True)
    choice = choice_of_offer(offer)
    assert (choice.draft, choice.companion) == ("none", ASSISTANT)
    put(server, GEMMA)
    put_assistant(server)
    source = Hub(server.endpoint)
    whole, left_out = completed(source, choice)
    assert left_out is None
    assert (whole.draft, whole.companion, whole.licenses) == ("auto", "", ("apache-2.0", "gemma"))
    assert whole.nbytes - choice.nbytes == sum(map(len, server.repositories[ASSISTANT].files.values())) > 0
    assert whole.name.endswith(" + gemma-4-E2B-it-assistant")
    download = Download(item_of(source, whole), own_models, source)
    download.start()
    assert download.wait(20).state == "done"
    assert catalog.companion_for(GEMMA) == own_models / ASSISTANT
    again = choice_of_offer(offer_with_companion(monkeypatch))
    assert again.is_local
    assert (again.draft, again.companion) == ("auto", "")


@pytest.mark.parametrize("why", ["absent", "gated", "no model"])
def test_a_companion_that_the_hub_does_not_give_is_left_out_with_the_reason(
    server: LyingHub, own_models: Path, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    choice = choice_of_offer(offer_with_companion(monkeypatch))
    if why == "gated":
        put_assistant(server, gated="manual", refuses=(401, {"X-Error-Code": "GatedRepo"}))
    elif why == "no model":
        server.repositories[ASSISTANT] = Offered({"README.md": b"soon"})
    same, left_out = completed(Hub(server.endpoint), choice)
    assert same is choice
    assert left_out is not None
    said = wording.left_out(ASSISTANT, left_out)
    assert said.startswith(ASSISTANT)
    assert said.endswith(left_out.message)


def test_a_companion_alone_that_the_hub_does_not_give_is_refused(server: LyingHub, qtbot: QtBot) -> None:
    preparing = Preparing(lambda: Hub(server.endpoint), Work())
    with qtbot.waitSignal(preparing.refused) as refused:
        preparing.begin(Choice("assistant", (), 0, GEMMA, "none", companion=ASSISTANT))
    assert refused.args[0].kind == "model_not_found"


def test_a_gated_part_is_refused_before_anything_is_fetched(server: LyingHub) -> None:
    put(server, PAIR[0])
    put(server, PAIR[1], gated="manual", refuses=(401, {"X-Error-Code": "GatedRepo"}))
    with pytest.raises(TokenNeeded):
        item_of(Hub(server.endpoint), Choice("both", tuple(catalog.entries()[id] for id in PAIR), 0, *PAIR))
    assert server.ranges() == []


def test_only_the_chosen_format_of_a_repository_is_downloaded(server: LyingHub, own_models: Path) -> None:
    server.repositories["o/m"] = Offered({"a.gguf": content(100), "b.gguf": content(900)}, license="mit")
    repository = Hub(server.endpoint).repository("o/m")
    draft = catalog.entries()[PAIR[1]]
    [small, _] = hub.offers(repository)
    choice = choice_of_repository(repository, small, draft, missing=True)
    assert (choice.target, choice.draft) == ("o/m/a.gguf", draft.id)
    assert choice.nbytes == 100 + draft.nbytes
    assert choice.licenses == ("mit", draft.license)
    alone = choice_of_repository(repository, small, None, missing=False)
    assert (alone.draft, alone.nbytes) == ("none", 100)
    put(server, PAIR[1])
    wanted = item_of(Hub(server.endpoint), choice)
    assert [file.name for file in wanted.repositories[0].files] == ["a.gguf"]
