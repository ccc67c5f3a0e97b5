import json

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.wizard import phrases
from app.wizard.hub_search import HubSearch
from app.wizard.wizard import Wizard
from engine import catalog
from tests.app.wizard.conftest import put
from tests.engine.hub.conftest import content
from tests.engine.hub.lying_hub import LyingHub, Offered

ID = "somebody/Qwen2.5-99B-Instruct"
SIZES = {"Q2_K": 900_000_000, "Q4_K_M": 1_900_000_000}


def tokenizer(*tokens: str) -> bytes:
    return json.dumps({"model": {"vocab": {token: i for i, token in enumerate(tokens)}}}).encode()


@pytest.fixture
def search(wizard: Wizard) -> HubSearch:
    wizard.main.click()
    wizard.choose.tabs.setCurrentWidget(wizard.choose.hub_search)
    return wizard.choose.hub_search


@pytest.fixture
def offered(server: LyingHub) -> Offered:
    """A folder of 8 GB by what the list says, with a tokenizer as Qwen2.5's."""
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
def test_a_pasted_name_or_address_is_opened_and_its_draft_is_proposed_and_checked(
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


def test_a_draft_that_does_not_fit_is_told_in_words_and_cannot_be_taken(
    search: HubSearch, offered: Offered, qtbot: QtBot, wizard: Wizard
) -> None:
    paste(search, qtbot, ID)
    view = search.repository
    qtbot.waitUntil(view.isVisible)
    names = [view.draft.itemText(index) for index in range(view.draft.count())]
    view.draft.setCurrentIndex(next(i for i, name in enumerate(names) if "Qwen2.5 1.5B" in name))
    qtbot.waitUntil(lambda: view.verdict is not None and view.verdict.says == "differs")
    assert "numbers 2 of 2 tokens differently" in view._told.text()
    assert "Choose another draft, or none." in view._told.text()
    assert search.choice is None
    assert not wizard.main.isEnabled()
    view.draft.setCurrentIndex(view.draft.count() - 1)
    assert search.choice is not None
    assert search.choice.draft == "none"
    assert wizard.main.isEnabled()


def test_of_several_files_the_usual_one_is_chosen_and_sizes_are_told(
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
    assert view._title.text() == "o/zebra · MIT · account needed"
    assert "No draft for it is known" in view._told.text()
    assert search.choice is not None
    assert (search.choice.target, search.choice.gated) == ("o/zebra/m-Q4_K_M.gguf", True)


def test_of_a_pair_that_the_catalogue_has_the_speed_is_predicted(
    search: HubSearch, server: LyingHub, qtbot: QtBot
) -> None:
    offers = search.repository.offers
    assert offers is not None
    alone = next(offer for offer in offers.all if offer.draft is None and offer.target.file)
    put(server, alone.target.id)
    paste(search, qtbot, alone.target.repository)
    qtbot.waitUntil(search.repository.isVisible)
    search.repository.draft.setCurrentIndex(search.repository.draft.count() - 1)
    assert search.repository._speed.text() == phrases.told_speed(alone.plan)
    server.repositories["o/zebra"] = Offered({"zebra.gguf": content(99)})
    paste(search, qtbot, "o/zebra")
    qtbot.waitUntil(search.repository.isVisible)
    assert "tokens/s" not in search.repository._speed.text()


def test_words_are_searched_for_and_enter_opens_what_was_found(
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


def test_nothing_found_says_what_to_try(search: HubSearch, qtbot: QtBot) -> None:
    paste(search, qtbot, "zebra crossing")
    qtbot.waitUntil(lambda: "nothing of that name" in search._note.text())


def test_a_name_that_is_not_there_is_told_and_may_be_tried_again(
    search: HubSearch, server: LyingHub, qtbot: QtBot
) -> None:
    paste(search, qtbot, "no/body")
    qtbot.waitUntil(search.problem.isVisible)
    assert "no/body" in search.problem.message
    server.repositories["no/body"] = Offered({"m.gguf": content(99)})
    notice = search.problem._notice
    assert notice is not None
    notice.button.click()
    qtbot.waitUntil(search.repository.isVisible)
    assert not search.problem.isVisible()


def test_pickles_are_refused_with_the_reason(search: HubSearch, server: LyingHub, qtbot: QtBot) -> None:
    server.repositories["o/p"] = Offered({"pytorch_model.bin": content(99), "config.json": b"{}"})
    paste(search, qtbot, "o/p")
    qtbot.waitUntil(search.problem.isVisible)
    assert "pickles" in search.problem.message


def test_the_answer_to_an_older_question_is_never_shown(
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
