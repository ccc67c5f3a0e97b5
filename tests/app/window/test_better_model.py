"""The empty chat says that the demo model is one, and offers the model that suits this machine."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from PySide6.QtCore import QLocale
from pytestqt.qtbot import QtBot

from app import formatting
from app.connection.engine import State
from app.conversation.empty_state import DEMO_QUESTIONS
from app.preferences import LoadPreferences, PreferencesFile, RecentPair
from app.window import better_model
from app.window.arguments import Arguments
from app.window.better_model import better_of
from app.window.window import Window
from app.wizard.selection.offers import Offer, Offers, offers_for
from engine import catalog, planner
from engine.protocol import messages
from tests.app.fake_engine import FakeEngines
from tests.app.seen import texts
from tests.app.window.test_window import reach


@pytest.fixture(autouse=True)
def no_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No model of the catalogue is on this machine, except for the demo."""
    monkeypatch.setenv(catalog.MODELS_VARIABLE, str(tmp_path))


@cache
def offers(gib: float) -> Offers:
    """The offers for a laptop without a card that has this much memory. They take seconds to predict."""
    (laptop,) = [m for name, (_, m) in planner.named_machines().items() if not m.vram][:1]
    return offers_for(replace(laptop, ram=int(gib * 2**30)), catalog.catalog(), "auto")


@pytest.fixture
def offer(monkeypatch: pytest.MonkeyPatch) -> Offer:
    """The offer that windows find."""
    QLocale.setDefault(QLocale.c())
    found = better_of(offers(16))
    assert found is not None
    monkeypatch.setattr(better_model, "better_offer", lambda helps: found)
    return found


def test_the_recommended_model_is_offered_with_what_it_costs(
    offer: Offer, make_window: Callable[..., Window], engines: FakeEngines, qtbot: QtBot
) -> None:
    window = make_window(engines)
    empty = window.transcript.empty_state
    assert any("tiny demo model" in text for text in texts(empty)), "said before it is loaded"
    size = formatting.nbytes(offer.missing_nbytes)
    qtbot.waitUntil(
        lambda: empty.better.text() == f"Get a better one: {offer.target.name}, {size}", timeout=10_000
    )
    assert offer.missing_nbytes == sum(variant.nbytes for variant in offer.missing) > 2**30
    with qtbot.waitSignal(window.header.wizard_asked):
        empty.better.click()


def test_a_better_model_that_is_here_is_loaded(
    offer: Offer,
    make_window: Callable[..., Window],
    engines: FakeEngines,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(better_model, "better_offer", lambda helps: replace(offer, missing=()))
    window = make_window(engines)
    empty = window.transcript.empty_state
    qtbot.waitUntil(lambda: empty.better.text() == f"Load a better one: {offer.target.name}", timeout=10_000)
    empty.better.click()
    assert engines.last.asked(messages.Load)[-1].target == offer.target.id


def test_the_search_reckons_with_the_processors_help_if_the_settings_allow_it(
    make_window: Callable[..., Window],
    preferences: PreferencesFile,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[messages.Helps] = []
    monkeypatch.setattr(better_model, "better_offer", asked.append)
    preferences.change(loading=LoadPreferences(processor_helps="never"))
    make_window(FakeEngines())
    qtbot.waitUntil(lambda: asked == ["never"], timeout=10_000)


def test_the_demo_is_asked_what_it_answers_well(
    make_window: Callable[..., Window], engines: FakeEngines, qtbot: QtBot
) -> None:
    window = make_window(engines)
    reach(window, qtbot, State.READY)
    empty = window.transcript.empty_state
    assert tuple(button.text() for button in empty.suggestions) == DEMO_QUESTIONS
    window.load(RecentPair("other.gguf"))
    reach(window, qtbot, State.LOADING)
    assert not any("demo" in text for text in texts(empty))
    assert not set(DEMO_QUESTIONS) & set(texts(empty))


def test_another_model_is_no_demo(
    make_window: Callable[..., Window], engines: FakeEngines, qtbot: QtBot
) -> None:
    window = make_window(engines, Arguments("m.gguf"))
    reach(window, qtbot, State.READY)
    assert not any("demo" in text for text in texts(window))


def test_where_the_demo_is_recommended_the_fastest_other_model_is_offered() -> None:
    small = offers(2)
    demo = next(offer for offer in small.all if offer.target.embedded)
    found = better_of(replace(small, recommended=demo))
    assert found is not None
    assert not found.target.embedded
    speeds = [o.plan.predicted_tokens_per_second or 0 for o in small.all if not o.target.embedded]
    assert found.plan.predicted_tokens_per_second == max(speeds)
    assert better_of(replace(small, all=(demo,), recommended=demo)) is None


def installed(offers: Offers, model: str) -> Offers:
    """The offers if all files of a model were on this machine."""
    here = [replace(offer, missing=()) if offer.target.model == model else offer for offer in offers.all]
    recommended = here[offers.all.index(offers.recommended)]
    return replace(offers, all=tuple(here), recommended=recommended)


def test_a_larger_model_that_is_here_is_offered_instead_of_a_download() -> None:
    small = offers(2)
    demo = next(offer for offer in small.all if offer.target.embedded)
    for each in (offers(16), replace(small, recommended=demo)):
        download = better_of(each)
        assert download is not None
        assert not download.is_local
        larger = next(o for o in each.all if o.fluent and o.rank > download.rank)
        found = better_of(installed(each, larger.target.model))
        assert found is not None
        assert found.is_local
        assert found.target.model == larger.target.model


def test_a_smaller_or_a_slow_model_that_is_here_does_not_replace_the_recommended_one() -> None:
    best = offers(16)
    smaller = next(o for o in best.all if o.fluent and o.rank < best.recommended.rank)
    slow = next(o for o in best.all if o.plan.runs and not o.fluent and o.rank > best.recommended.rank)
    for other in (smaller, slow):
        assert better_of(installed(best, other.target.model)) is best.recommended
