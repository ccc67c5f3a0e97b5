"""Remedies where an engine fails, as buttons of the notice that says so."""

from PySide6.QtCore import QCoreApplication, QObject, Signal

from app.connection.engine import Engine
from app.widgets.fault_words import FaultWords
from app.widgets.notice import Notice
from app.window.panes import Panes
from engine.errors import ModelNotFound
from engine.protocol.messages import Failed
from engine.runtime import RuntimeMissing, uses_runtimes

# Kinds of failures that the engine's settings, or another of its models, may mend.
OF_ITS_SETTINGS = frozenset(
    {"key_refused", "key_in_clear", "certificate_refused", "not_an_engine", "engine_unknown", "engines_file"}
)
OF_ITS_MODELS = frozenset({"model_not_found", "no_models", "not_loaded"})
OF_THE_CHAT = frozenset({"bad_option", "bad_constraint", "dead_end"})  # that the chat's settings may mend


class Remedies(QObject):
    """Adds buttons to notices.

    Signals:
        local_asked: the user wants a model on this machine in place of one elsewhere
        engine_asked: str, the name of the added engine whose settings the user wants
        setup_asked: the user wants to set up a runtime
    """

    local_asked = Signal()
    engine_asked = Signal(str)
    setup_asked = Signal()

    def __init__(self, engine: Engine, panes: Panes) -> None:
        super().__init__(panes)
        self._engine, self._header = engine, panes.header

    def offer(self, notice: Notice, failed: Failed) -> None:
        """Offer a model, a runtime, the settings of the chat or of the engine elsewhere, or another of its
        models, if that may help."""
        engine = self._engine.wanted.engine
        if engine and failed.kind in OF_ITS_SETTINGS:
            settings = notice.offer(self.tr("Settings of {}").format(engine))
            settings.clicked.connect(lambda: self.engine_asked.emit(engine))
        elif engine and failed.kind in OF_ITS_MODELS:
            notice.offer(self.tr("Choose another model")).clicked.connect(self._header.open_picker)
        elif failed.kind in OF_THE_CHAT:
            notice.offer(self.tr("Settings of this chat")).clicked.connect(self._header.settings_asked)
        elif failed.kind == ModelNotFound.kind:
            notice.offer(self.tr("Get a model")).clicked.connect(self._header.wizard_asked)
        elif failed.kind == RuntimeMissing.kind and uses_runtimes():
            notice.offer(self.tr("Set up PyTorch")).clicked.connect(self.setup_asked)

    def offer_local(self, notice: Notice) -> None:
        """Offer to go on with a model on this machine."""
        notice.offer(self.tr("Use a model on this machine")).clicked.connect(self.local_asked)


def races_are_here(place: str) -> FaultWords:
    """Return why there is no race while an engine elsewhere answers."""
    reason = _tr("A race compares ways of answering on this machine, not at {}.").format(place)
    return FaultWords(reason, _tr("Load a model on this machine, then try again."))


def _tr(text: str) -> str:
    return QCoreApplication.translate("Remedies", text)
