"""What the window says about an update: a button in the header, and the box behind it."""

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QMessageBox, QPushButton, QToolButton, QWidget

from app import formatting
from app.startup.updates import Updates, UpdateState
from app.widgets.fault_words import in_words
from app.widgets.plain_text import NO_BUTTON, PlainMessageBox


class UpdateNotice(QToolButton):
    """A button that says how far an update is, and opens the box; hidden while there is none."""

    def __init__(self, updates: Updates, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._updates = updates
        self.clicked.connect(self._open)
        updates.changed.connect(self._show)
        self._show()

    def _show(self) -> None:
        updates = self._updates
        self.setVisible(updates.state is not UpdateState.NONE)
        match updates.state:
            case UpdateState.NONE:
                return
            case UpdateState.DOWNLOADING:
                text = self.tr("Version {0}: {1}").format(updates.version, f"{updates.fraction:.0%}")
            case UpdateState.READY:
                text = self.tr("Version {} is ready").format(updates.version)
            case UpdateState.ROLLED_BACK | UpdateState.FAILED:
                text = self.tr("Version {} failed").format(updates.version)
            case _:
                text = self.tr("Version {}").format(updates.version)
        self.setText(text)
        self.setToolTip(self.tr("A newer version of this program. Click to read about it."))
        self.setAccessibleName(self.tr("Newer version: {}").format(text))

    def _open(self) -> None:
        UpdateNews(self._updates, self.window()).open()


class UpdateNews(PlainMessageBox):
    """The box about a newer version, in each of its states. Nothing is downloaded before it is asked to.

    Attributes:
        take: the button that downloads the version; halt: the one that stops it; read: opens its page.
    """

    def __init__(self, updates: Updates, parent: QWidget | None = None) -> None:
        super().__init__(QMessageBox.Icon.NoIcon, "", "", parent, NO_BUTTON)
        self._updates = updates
        role = QMessageBox.ButtonRole
        self.take: QPushButton = self.addButton(self.tr("Update"), role.AcceptRole)
        self.halt: QPushButton = self.addButton(self.tr("Stop"), role.DestructiveRole)
        self.read: QPushButton = self.addButton(self.tr("What is new"), role.ActionRole)
        self._leave: QPushButton = self.addButton(self.tr("Close"), role.RejectRole)
        self.setDefaultButton(self._leave)
        self.setEscapeButton(self._leave)
        self.take.clicked.connect(updates.download)
        self.halt.clicked.connect(updates.stop)
        self.read.clicked.connect(self._read)
        self.finished.connect(self._dismiss)
        updates.changed.connect(self._show)
        self._show()

    def _show(self) -> None:
        updates, state = self._updates, self._updates.state
        can_take = updates.nbytes is not None and state in (UpdateState.FOUND, UpdateState.FAILED)
        self.take.setVisible(can_take)
        self.take.setText(self.tr("Try again") if state is UpdateState.FAILED else self.tr("Update"))
        self.halt.setVisible(state is UpdateState.DOWNLOADING)
        self.read.setVisible(bool(updates.release and updates.release.page))
        text, more = self._words()
        self.setText(text)
        self.setInformativeText(more)

    def _words(self) -> tuple[str, str]:
        """Return what has happened, and what happens next."""
        updates = self._updates
        match updates.state:
            case UpdateState.NONE:
                return self.tr("There is no newer version."), ""
            case UpdateState.FOUND if updates.nbytes is None:
                return (
                    self.tr("Version {} is available.").format(updates.version),
                    self.tr(
                        "This copy was installed for all users, or where the program cannot change it. "
                        "Update it as you installed it, for example with your system's package manager."
                    ),
                )
            case UpdateState.FOUND:
                return (
                    self.tr("Version {} is available.").format(updates.version),
                    self.tr(
                        "{} are downloaded while you chat. The new version opens the next time you start the "
                        "program. If it does not, the version you have now opens again."
                    ).format(formatting.nbytes(updates.nbytes or 0)),
                )
            case UpdateState.DOWNLOADING:
                return (
                    self.tr("Version {} is being downloaded.").format(updates.version),
                    self.tr("{0} of {1}. You can close this box and go on.").format(
                        f"{updates.fraction:.0%}", formatting.nbytes(updates.nbytes or 0)
                    ),
                )
            case UpdateState.READY:
                return (
                    self.tr("Version {} is ready.").format(updates.version),
                    self.tr("It opens the next time you start the program."),
                )
            case UpdateState.FAILED:
                error = updates.error
                assert error is not None
                return in_words(error)
        return (
            self.tr("Version {} did not open its window.").format(updates.version),
            self.tr("The version before it was started again. Your chats and settings are unchanged."),
        )

    def _read(self) -> None:
        assert self._updates.release is not None
        QDesktopServices.openUrl(QUrl(self._updates.release.page))

    def _dismiss(self) -> None:
        self._updates.changed.disconnect(self._show)
        if self._updates.state is UpdateState.ROLLED_BACK:
            self._updates.dismiss()
        self.deleteLater()
