"""The box that looks for newer files of a model and offers to download them."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QPushButton, QWidget

from app import formatting
from app.background import Work
from app.downloads.downloads import Downloads
from app.widgets.fault_words import in_words
from app.widgets.plain_text import NO_BUTTON, PlainMessageBox
from engine import catalog, hub
from engine.errors import SpecExecError
from engine.hub import Renewal, StoredModel


class UpdateBox(PlainMessageBox):
    """A message box that asks the Hub once for newer files of a model. It is opened only on request.

    Attributes:
        take: the button that downloads them; hidden until there are any.
    """

    def __init__(self, model: StoredModel, downloads: Downloads, parent: QWidget | None = None) -> None:
        super().__init__(QMessageBox.Icon.NoIcon, "", "", parent, NO_BUTTON)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._model, self._downloads = model, downloads
        self._renewal: Renewal | None = None
        self._work = Work(self)
        self._leave: QPushButton = self.addButton(self.tr("Cancel"), QMessageBox.ButtonRole.RejectRole)
        self.take: QPushButton = self.addButton(self.tr("Update"), QMessageBox.ButtonRole.AcceptRole)
        self.take.hide()
        self.take.clicked.connect(self._download)
        self.setDefaultButton(self._leave)
        self.setEscapeButton(self._leave)
        self.finished.connect(lambda: self._work.forget("look"))
        self.setText(self.tr("Looking for an update of {}…").format(model.name))

    def look(self) -> None:
        """Open the box and ask the Hub."""
        self.open()
        self._work.run(
            "look",
            lambda stop: hub.find_renewal(self._downloads.hub(), self._model, stop),
            self._show,
            self._fail,
        )

    def _show(self, renewal: Renewal | None) -> None:
        self._renewal = renewal
        if renewal is None:
            self._end(self.tr("{} is up to date.").format(self._model.name), "")
            return
        self._leave.setText(self.tr("Not now"))
        self.take.show()
        self.setText(self.tr("There is an update of {}.").format(self._model.name))
        self.setInformativeText(
            self.tr(
                "{} to download. The new files replace the old ones once all are complete and verified."
            ).format(formatting.nbytes(renewal.nbytes))
        )

    def _fail(self, error: SpecExecError) -> None:
        self._end(*in_words(error))

    def _end(self, text: str, more: str) -> None:
        self._leave.setText(self.tr("Close"))
        self.setText(text)
        self.setInformativeText(more)

    def _download(self) -> None:
        if self._renewal is not None:
            item = self._renewal.item(self._model.name)
            target = next(iter(self._model.ids), self._model.name)
            self._downloads.begin(item, catalog.models_folder(), target, "auto")
