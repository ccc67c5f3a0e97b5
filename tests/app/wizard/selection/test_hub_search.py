import json

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.widgets.notice import Notice
from app.wizard.selection import wording
from app.wizard.selection.hub_search import HubSearch
from app.wizard.wizard import Wizard
from engine import catalog
from tests.app.seen import labels, says
from tests.app.shared_fixtures import put
from tests.engine.hub.conftest import content
from tests.engine.hub.lying_hub import LyingHub, Offered

ID = "somebody/Qwen2.5-99B-Instruct"
SIZES = {"Q2_K": 900_000_000, "Q4_K_M": 1_900_000_000}


def tokenizer(*tokens: str) -> bytes:
    return json.dumps({"model": {"vocab": {token: i for i, token in enumerate(tokens)}}}).encode()


@pytest.fixture
def search(wizard: Wizard) -> HubSearch:
    wizard.choose.tabs.setCurrentWidget(wizard.choose.hub_search)
    return wizard.choose.hub_search


@pytest.fixture
def offered(server: LyingHub) -> Offered:
    """A repository that claims 8 GB, with the tokenizer of Qwen2.5."""
    weights = content(99)
    for variant in catalog.catalog().models["qwen2.5-0.5b"].variants:
        server.repositories[variant.repository] = Offered({"tokenizer.json": tokenizer("a", "b")})
    for variant in catalog.catalog().models["qwen2.5-1.5b"].variants:
        server.repositories[variant.repository] = Offered({"tokenizer.json": tokenizer("b", "a")})
    made = Offered(
        {"model.safetensors": weights, "config.json": b"{}", "tokenizer.json": tokenizer("a", "b")},
        listed={"model.safetensors": (8_000_000_000, "0" * 64)},
    )
    server.repositories[ID] = made
    return made


def paste(search: HubSearch, qtbot: QtBot, text: str) -> None:
    search.line.setText(text)
    qtbot.keyClick(search.line, Qt.Key.Key_Return)


@pytest.mark.parametrize("text", [ID, f"https://huggingface.co/{ID}", f" https://hf.co/{ID}/tree/main "])
def test_a_pasted_name_or_address_is_opened_and_a_draft_is_proposed_and_checked(
    search: HubSearch, offered: Offered, qtbot: QtBot, text: str
) -> None:
    paste(search, qtbot, text)
    view = search.repository
    qtbot.waitUntil(view.isVisible)
    assert view.forms.count() == 1
    assert "7.5 GB" in view.forms.item(0).text()
    names = [view.draft.itemText(index) for index in range(view.draft.count())]
    assert any("Qwen2.5 0.5B" in name for name in names)
    assert names[-1] == "No draft"
    view.draft.setCurrentIndex(next(i for i, name in enumerate(names) if "Qwen2.5 0.5B" in name))
    qtbot.waitUntil(lambda: view.verdict is not None)
    assert view.verdict.says == "fits"  # type: ignore[union-attr]
    choice = search.choice
    assert choice is not None
    assert choice.target == ID
    assert choice.draft.startswith("qwen2.5-0.5b")


def test_a_draft_that_does_not_fit_is_explained_and_cannot_be_chosen(
    search: HubSearch, offered: Offered, qtbot: QtBot, wizard: Wizard
) -> None:
    paste(search, qtbot, ID)
    view = search.repository
    qtbot.waitUntil(view.isVisible)
    names = [view.draft.itemText(index) for index in range(view.draft.count())]
    view.draft.setCurrentIndex(next(i for i, name in enumerate(names) if "Qwen2.5 1.5B" in name))
    qtbot.waitUntil(lambda: view.verdict is not None and view.verdict.says == "differs")
    assert says(view, "numbers 2 of 2 tokens differently")
    assert says(view, "Choose a draft of the target's model family, or run without a draft model.")
    assert search.choice is None
    assert not wizard.main.isEnabled()
    view.draft.setCurrentIndex(view.draft.count() - 1)
    assert search.choice is not None
    assert search.choice.draft == "none"
    assert wizard.main.isEnabled()


def test_the_usual_format_is_preselected_and_sizes_are_shown(
    search: HubSearch, server: LyingHub, qtbot: QtBot
) -> None:
    files = {f"m-{name}.gguf": content(9, i) for i, name in enumerate(SIZES)}
    listed = {f"m-{name}.gguf": (nbytes, "0" * 64) for name, nbytes in SIZES.items()}
    server.repositories["o/zebra"] = Offered(files, listed=listed, gated="manual", license="mit")
    paste(search, qtbot, "o/zebra")
    view = search.repository
    qtbot.waitUntil(view.isVisible)
    assert [view.forms.item(row).text() for row in range(2)] == [
        "m-Q2_K.gguf · 858.3 MB · Memory",
        "m-Q4_K_M.gguf · 1.8 GB · Memory",
    ]
    assert view.forms.currentRow() == 1
    assert "o/zebra · MIT · account required" in labels(view)
    assert says(view, "No draft is known")
    assert search.choice is not None
    assert (search.choice.target, search.choice.gated) == ("o/zebra/m-Q4_K_M.gguf", True)


def test_the_speed_of_a_catalogue_pair_is_predicted(
    search: HubSearch, server: LyingHub, qtbot: QtBot
) -> None:
    offers = search.repository.offers
    assert offers is not None
    alone = next(offer for offer in offers.all if offer.draft is None and offer.target.file)
    put(server, alone.target.id)
    paste(search, qtbot, alone.target.repository)
    qtbot.waitUntil(search.repository.isVisible)
    search.repository.draft.setCurrentIndex(search.repository.draft.count() - 1)
    assert wording.speed_sentence(alone) in labels(search.repository)
    server.repositories["o/zebra"] = Offered({"zebra.gguf": content(99)})
    paste(search, qtbot, "o/zebra")
    qtbot.waitUntil(search.repository.isVisible)
    assert not says(search.repository, "tokens/s")


def test_search_words_list_repositories_and_enter_opens_one(
    search: HubSearch, offered: Offered, qtbot: QtBot
) -> None:
    paste(search, qtbot, "qwen2.5-99b")
    qtbot.waitUntil(search.found.isVisible)
    assert [search.found.item(row).text() for row in range(search.found.count())] == [
        f"{ID} · 7 downloads · Apache 2.0"
    ]
    assert search.choice is None
    qtbot.keyClick(search.found, Qt.Key.Key_Return)
    qtbot.waitUntil(search.repository.isVisible)


def test_an_empty_search_result_suggests_what_to_try(search: HubSearch, qtbot: QtBot) -> None:
    paste(search, qtbot, "zebra crossing")
    qtbot.waitUntil(lambda: says(search, "No models found"))


def test_an_unknown_name_is_reported_and_can_be_retried(
    search: HubSearch, server: LyingHub, qtbot: QtBot
) -> None:
    paste(search, qtbot, "no/body")
    qtbot.waitUntil(search.problem.isVisible)
    assert "no/body" in search.problem.message
    server.repositories["no/body"] = Offered({"m.gguf": content(99)})
    notice = search.problem.findChild(Notice)
    assert notice is not None
    notice.button.click()
    qtbot.waitUntil(search.repository.isVisible)
    assert not search.problem.isVisible()


def test_pickles_are_refused_with_the_reason(search: HubSearch, server: LyingHub, qtbot: QtBot) -> None:
    server.repositories["o/p"] = Offered({"pytorch_model.bin": content(99), "config.json": b"{}"})
    paste(search, qtbot, "o/p")
    qtbot.waitUntil(search.problem.isVisible)
    assert "pickles" in search.problem.message


def test_the_result_of_an_older_request_is_never_shown(
    search: HubSearch, server: LyingHub, qtbot: QtBot
) -> None:
    for name in ("one", "two"):
        server.repositories[f"o/{name}"] = Offered({f"{name}.gguf": content(99)})
    paste(search, qtbot, "o/one")
    paste(search, qtbot, "o/two")
    qtbot.waitUntil(search.repository.isVisible)
    qtbot.wait(100)
    assert search.choice is not None
    assert search.choice.target == "o/two/two.gguf"
