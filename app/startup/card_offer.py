"""The offer to set up a runtime for a graphics card that the program cannot use yet."""

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QToolButton, QWidget

from app import formatting
from app.background import Work
from app.runtime_setup.setup_job import EngineSetup
from app.widgets.plain_text import plain
from engine import machine, runtime
from engine.hub import Stop
from engine.launch import interpreter
from engine.runtime import Proposal


class CardOffer(QObject):
    """Looks once for a graphics card, if this is a packaged program without a runtime.

    Lives on the GUI thread; the machine is examined on another one.

    Attributes:
        proposal: the backend for the card that was found, or None.

    Signals:
        changed: a card was found, or a runtime has been set up
    """

    changed = Signal()

    def __init__(self, setup: EngineSetup, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.proposal: Proposal | None = None
        self._setup = setup
        self._work = Work(self)
        setup.ended.connect(self._forget)

    def look(self) -> None:
        if self._setup.is_needed:
            # Without an answer there is no offer; the settings still set a runtime up.
            self._work.run("card", _found, self._take, lambda error: None)

    @property
    def is_looking(self) -> bool:
        """Whether the machine is being examined."""
        return self._work.is_running("card")

    def close(self) -> None:
        self._work.close()

    def _take(self, proposal: Proposal | None) -> None:
        if self._setup.is_needed:
            self.proposal = proposal
            self.changed.emit()

    def _forget(self) -> None:
        if not self._setup.is_needed:
            self.proposal = None
            self.changed.emit()


def _found(stop: Stop) -> Proposal | None:
    """Return the proposal for this machine's graphics card; None if it has none that can be used."""
    first, *_ = runtime.propose(machine.probe(interpreter.runtimes_folder()))
    return first if first.usable and first.backend.name != "cpu" else None


class CardNotice(QToolButton):
    """A button that leads to the set-up; hidden unless there is an offer."""

    def __init__(self, offer: CardOffer, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._offer = offer
        self.setText(self.tr("Use the graphics card"))
        self.setAccessibleName(self.text())
        offer.changed.connect(self._show)
        self._show()

    def _show(self) -> None:
        proposal = self._offer.proposal
        self.setVisible(proposal is not None)
        if proposal is not None:
            size = formatting.nbytes(proposal.backend.download_nbytes)
            sentence = self.tr("{} Its packages are downloaded once ({}), while you chat.")
            self.setToolTip(plain(sentence.format(proposal.reason, size)))
