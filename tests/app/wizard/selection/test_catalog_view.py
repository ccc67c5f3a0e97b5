from dataclasses import replace

import pytest
from PySide6.QtCore import QAbstractItemModel, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.widgets import theme
from app.wizard.selection import wording
from app.wizard.selection.catalog_view import Catalogue, described
from app.wizard.selection.offers import Offers, offers_for
from app.wizard.selection.pair_model import Column, PairModel
from engine import catalog
from engine.planner import ExpertPlan
from tests.app.seen import labels
from tests.app.shared_fixtures import place
from tests.app.wizard.conftest import examined


@pytest.fixture(scope="module")
def offers(tmp_path_factory: pytest.TempPathFactory) -> Offers:
    """The offers of the whole catalogue."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(catalog.MODELS_VARIABLE, str(tmp_path_factory.mktemp("models")))
        place(catalog.entries()["smollm2-360m-q8_0"])
        return offers_for(examined().usable(), catalog.catalog(), "auto")


@pytest.fixture
def view(qtbot: QtBot, offers: Offers) -> Catalogue:
    made = Catalogue()
    qtbot.addWidget(made)
    made.resize(1000, 700)
    made.show()
    made.show_offers(offers)
    return made


def shown(view: Catalogue, column: Column, role: int = Qt.ItemDataRole.DisplayRole) -> list[object]:
    model: QAbstractItemModel = view.table.model()
    return [model.index(row, column).data(role) for row in range(model.rowCount())]


def test_the_recommended_pair_is_chosen_at_first(view: Catalogue, offers: Offers) -> None:
    assert view.offer is offers.recommended
    assert shown(view, Column.MODEL)[0] == offers.recommended.target.name
    for text in (wording.reason(offers), wording.about(offers.recommended)):
        assert text in labels(view.recommended)
    assert not view.recommended.choose.isVisible(), "it is chosen already"


@pytest.mark.parametrize(
    ("experts", "lent"),
    [(ExpertPlan(0, 1, 1, 0.5, 1, 1), "experts"), (None, "weights")],
    ids=["mixture", "dense"],
)
def test_what_the_processor_does_beside_a_card_is_said(
    view: Catalogue, offers: Offers, experts: ExpertPlan | None, lent: str
) -> None:
    said = f"The processor computes with some {lent} where they lie in memory, beside the graphics card."
    assert said not in wording.reason(offers) + described(offers.recommended)
    plan = replace(offers.recommended.plan, helped=0.5, experts=experts)
    helped = replace(offers, recommended=replace(offers.recommended, plan=plan))
    view.show_offers(helped)
    assert said in " ".join(labels(view.recommended))
    assert said in described(helped.recommended)


def test_at_most_two_alternatives_are_named_and_taken_with_one_click(
    view: Catalogue, offers: Offers, qtbot: QtBot
) -> None:
    rows = (view.recommended.larger, view.recommended.smaller)
    assert [row.offer for row in rows] == [offers.larger, offers.smaller]
    assert all(row.isVisible() == (row.offer is not None) for row in rows)
    for row in (row for row in rows if row.offer):
        assert wording.about(row.offer) in " ".join(labels(row))
        view.search.setText("no such model")
        with qtbot.waitSignal(view.taken):
            row.choose.click()
        assert view.offer is row.offer


def test_no_alternative_is_shown_if_there_is_none(view: Catalogue, offers: Offers) -> None:
    view.show_offers(replace(offers, larger=None, smaller=None))
    assert not view.recommended.larger.isVisible()
    assert not view.recommended.smaller.isVisible()


@pytest.mark.parametrize(
    ("slower_by", "later_by_s", "title"),
    [
        (1.0, 5.0, "Larger and slower"),
        (1.0, -0.5, "Larger and slower"),
        (-1.0, 5.0, "Larger, later to begin"),
    ],
)
def test_a_larger_model_is_called_what_it_is(
    view: Catalogue, offers: Offers, slower_by: float, later_by_s: float, title: str
) -> None:
    best = offers.recommended
    assert best.speed
    assert best.plan.time_to_first_token_s
    plan = replace(best.plan, time_to_first_token_s=best.plan.time_to_first_token_s + later_by_s)
    other = replace(offers.all[-1], speed=best.speed - slower_by, plan=plan)
    view.recommended.show_offers(replace(offers, larger=other))
    assert labels(view.recommended.larger)[0] == f"{title}: {wording.name(other)}"


def test_one_row_for_each_target_or_one_for_each_way(view: Catalogue, offers: Offers) -> None:
    assert len(shown(view, Column.MODEL)) == len({offer.target.model for offer in offers.all})
    view.every_way.click()
    assert len(shown(view, Column.MODEL)) == len(offers.all)


@pytest.mark.parametrize("column", list(Column))
def test_every_column_sorts_by_its_meaning(view: Catalogue, column: Column) -> None:
    view.every_way.click()
    for way in (Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder):
        view.table.sortByColumn(column, way)
        keys = shown(view, column, Qt.ItemDataRole.UserRole)
        assert keys == sorted(keys, reverse=way is Qt.SortOrder.DescendingOrder)  # type: ignore[type-var]


def test_speeds_sort_as_numbers_and_the_order_box_follows_the_header(view: Catalogue) -> None:
    view.order.setCurrentText("Fastest first")
    speeds = shown(view, Column.SPEED, Qt.ItemDataRole.UserRole)
    assert speeds == sorted(speeds, reverse=True)
    view.table.sortByColumn(Column.FIT, Qt.SortOrder.AscendingOrder)
    assert view.order.currentIndex() == -1
    view.order.setCurrentText("Recommended first")
    assert view.offer is not None
    assert shown(view, Column.MODEL)[0] == view.findChild(PairModel).offers[0].target.name


def test_headings_are_whole_in_large_text(view: Catalogue, qapp: QApplication) -> None:
    header = view.table.horizontalHeader()
    theme.enlarge(qapp, 200)
    columns = range(header.count())
    assert all(view.table.columnWidth(column) >= header.sectionSizeHint(column) for column in columns)
    theme.enlarge(qapp, 100)


def test_the_list_is_narrowed_by_words_and_by_where_it_runs(view: Catalogue, offers: Offers) -> None:
    view.search.setText("LLAMA 70b")
    assert shown(view, Column.MODEL)
    assert all("Llama" in str(name) and "70B" in str(name) for name in shown(view, Column.MODEL))
    view.search.clear()
    view.fit.setCurrentText("Streams from disk")
    assert set(shown(view, Column.FIT)) == {"Streams from disk"}
    before = set(labels(view))
    view.search.setText("no such model")
    assert shown(view, Column.MODEL) == []
    assert view.offer is None
    assert set(labels(view)) - before, "a sentence says that no model is left"
    view.recommended.choose.click()
    assert view.offer is offers.recommended


def test_models_on_this_machine_are_marked_and_can_be_filtered(view: Catalogue, offers: Offers) -> None:
    view.fit.setCurrentText("On this machine")
    here = [offer for offer in offers.all if offer.is_local]
    assert "smollm2-360m-q8_0" in {offer.target.id for offer in here}
    assert len(shown(view, Column.MODEL)) == len(here) < len(offers.all)
    assert set(shown(view, Column.SIZE)) == {"on this machine"}


def test_the_description_says_with_which_weights_the_architecture_was_run(offers: Offers) -> None:
    said = {True: "tested with real weights.", False: "tested with tiny random models only."}
    for name, real in (("qwen2.5-7b", True), ("gemma-4-e4b", False)):
        offer = next(offer for offer in offers.all if offer.target.model == name)
        assert described(offer).endswith(said[real])


def test_the_chosen_offer_is_described_and_marked_as_an_estimate(view: Catalogue) -> None:
    assert view.offer is not None
    said = described(view.offer)
    assert wording.about(view.offer) in said
    assert "estimated" in said
    assert "tokens/s" in said
    assert "first word" in said


def test_a_slow_model_says_how_long_an_answer_takes(offers: Offers) -> None:
    slow = min(offers.all, key=lambda offer: offer.speed or 9)
    assert "for a short answer" in described(slow)


def test_arrow_keys_and_enter_choose_a_row_and_tab_leaves_the_table(view: Catalogue, qtbot: QtBot) -> None:
    qtbot.waitActive(view)
    view.table.setFocus()
    qtbot.keyClick(view.table, Qt.Key.Key_Down)
    assert view.offer is not None
    assert view.offer.target.name == shown(view, Column.MODEL)[1]
    with qtbot.waitSignal(view.taken):
        qtbot.keyClick(view.table, Qt.Key.Key_Return)
    qtbot.keyClick(view.table, Qt.Key.Key_Tab)
    assert not view.table.hasFocus()


def test_screen_readers_read_the_column_name_with_each_cell(view: Catalogue) -> None:
    cell = view.table.model().index(0, Column.SPEED)
    assert str(cell.data(Qt.ItemDataRole.AccessibleTextRole)).startswith("Tokens/s: ")
    named = QAccessible.queryAccessibleInterface(view.table)
    assert named.text(QAccessible.Text.Name) == "Model catalogue"
