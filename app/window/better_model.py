"""Says in an empty chat that the demo model is one, and offers the model that suits this machine."""

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

from app import formatting
from app.background import Work
from app.connection.engine import Engine, State
from app.header import local_models
from app.preferences import PreferencesFile, RecentPair
from app.window.panes import Panes
from app.wizard.selection.offers import Offer, Offers, offers_for
from app.wizard.selection.survey import examine
from engine import catalog, planner
from engine.protocol.messages import Helps

KIND = "better"  # the kind of background job
PAUSE_MS = 700  # from a loaded model to the search, which would slow down the first question


class BetterModel(QObject):
    """Connects the engine with the empty chat, and does what its button asks: get or load a better model."""

    def __init__(
        self,
        panes: Panes,
        engine: Engine,
        preferences: PreferencesFile,
        load: Callable[[RecentPair], object],
    ) -> None:
        super().__init__(panes)
        self._empty, self._header, self._engine = panes.transcript.empty_state, panes.header, engine
        self._preferences, self._load = preferences, load
        self._work = Work(self)
        self._offer: Offer | None = None
        self._is_sought = False
        self._pause = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._pause.timeout.connect(self._seek)
        self._empty.better_asked.connect(self._get)
        engine.state_changed.connect(self._show)
        self._show(engine.state)

    def close_down(self) -> None:
        """Stop the search for a better model."""
        self._pause.stop()
        self._work.close()

    def _show(self, state: State) -> None:
        wanted = self._engine.wanted
        is_demo = not wanted.engine and local_models.is_demo(wanted.target)
        self._empty.show_demo(is_demo and state is not State.LOAD_FAILED)
        if is_demo and state is State.READY and self._empty.isVisible() and not self._is_sought:
            self._is_sought = True
            self._pause.start()

    def _seek(self) -> None:
        helps = self._preferences.now.loading.processor_helps
        self._work.run(KIND, lambda stop: better_offer(helps), self._take, lambda error: None)

    def _take(self, offer: Offer | None) -> None:
        self._offer = offer
        if offer is None:
            return
        if offer.is_local:
            self._empty.offer(self.tr("Load a better one: {}").format(offer.target.name))
        else:
            text = self.tr("Get a better one: {}, {}")
            self._empty.offer(text.format(offer.target.name, formatting.nbytes(offer.missing_nbytes)))

    def _get(self) -> None:
        if self._offer is not None and self._offer.is_local:
            self._load(RecentPair(self._offer.target.id))
        else:
            self._header.wizard_asked.emit()


def better_offer(helps: Helps) -> Offer | None:
    """Return what is better than the demo on this machine. helps: as for `offers_for`.

    Takes about a second; not to be called on the GUI thread.
    """
    machine = examine(catalog.models_folder()).usable()
    return better_of(offers_for(machine, catalog.catalog(), helps, planner.history()))


def better_of(offers: Offers) -> Offer | None:
    """Return the recommended offer or, if that is the demo itself, the fastest other one; None if no other
    runs. A model on this machine that is at least as large, and no less fluent, is returned in its place."""
    others = [offer for offer in offers.all if offer.plan.runs and not offer.target.embedded]
    if not others:
        return None
    best = offers.recommended
    if best not in others:
        best = max(others, key=lambda offer: offer.plan.predicted_tokens_per_second or 0.0)
    here = [offer for offer in others if offer.is_local and (offer.speed or 0.0) >= planner.USABLE_SPEED]
    return max((best, *here), key=_merit)


def _merit(offer: Offer) -> tuple[bool, int, bool, float]:
    """Return a key that is higher for the fluent offer; then for the larger model, for one that needs no
    download, and for the faster way to run it."""
    return offer.fluent, offer.rank, offer.is_local, offer.speed or 0.0
