"""Import of chats: the process that reads the file, the bar with its progress, the summary at the end."""

import json
import threading
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QObject, QProcess, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QMessageBox,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app import formatting
from app.store import BadImport
from app.widgets.plain_text import PlainLabel, PlainMessageBox
from engine.errors import SpecExecError
from engine.launch import interpreter, limits

# Limits of the process that reads the file. An export of 256 MB, the largest that is read, takes about 1.5 GB
# and half a minute.
MEMORY_LIMIT = 2 << 30
READING_LIMIT_MS = 180_000


def _tr(text: str) -> str:
    return QCoreApplication.translate("chat_import", text)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of an import.

    chats: ids of the stored chats. skipped: one sentence for each chat that could not be read. known: number
    of chats of a backup that were here already.
    """

    chats: list[int]
    skipped: list[str]
    is_stopped: bool
    error: SpecExecError | None
    known: int = 0


class Importing(QObject):
    """An import in progress. Lives on the GUI thread and deletes itself at the end.

    Attributes:
        name: name of the file.

    Signals:
        progressed: number of chats stored, number of chats in the file
        ended: Outcome
    """

    progressed = Signal(int, int)
    ended = Signal(object)

    def __init__(self, source: Path, store: Path, parent: QObject | None = None) -> None:
        """Start the process that imports. source: file with the chats. store: file of the store."""
        super().__init__(parent)
        self.name = source.name
        self._total: int | None = None
        self._added: list[int] = []
        self._skipped: list[str] = []
        self._known = 0
        self._error: SpecExecError | None = None
        self._is_stopped = False
        self._is_too_large = False
        self._over = threading.Event()
        self._watcher: threading.Thread | None = None
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._limit_time)
        self._process = QProcess(self)
        self._process.setWorkingDirectory(str(interpreter.ROOT))
        self._process.setProcessChannelMode(QProcess.ProcessChannelMode.ForwardedErrorChannel)
        self._process.readyReadStandardOutput.connect(self._read)
        self._process.finished.connect(self._finish)
        self._process.errorOccurred.connect(self._fail)
        arguments = ["-m", "app.sidebar.import_process", str(source.absolute()), str(store.absolute())]
        program, *options = interpreter.python()
        self._process.started.connect(self._watch)
        self._process.start(program, [*options, *arguments])

    def stop(self) -> None:
        """Stop the import; `ended` follows, with the chats stored so far."""
        self._is_stopped = True
        if self._total is None:  # while it parses the file, the process does not check its input
            self._process.kill()
        else:
            self._process.closeWriteChannel()

    def wait(self) -> None:
        """Block until the process has ended."""
        self._process.waitForFinished(-1)

    def _watch(self) -> None:
        """Limit the memory of the process, and the time in which it reads the file."""
        pid = self._process.processId()
        self._watcher = threading.Thread(target=self._limit_memory, args=(pid,), name="import memory")
        self._watcher.daemon = True
        self._watcher.start()
        self._timer.start(READING_LIMIT_MS)

    def _limit_memory(self, pid: int) -> None:
        """Runs on a thread of its own."""
        if limits.kill_beyond(pid, MEMORY_LIMIT, self._over):
            self._is_too_large = True

    def _limit_time(self) -> None:
        if self._total is None:
            self._is_too_large = True
            self._process.kill()

    def _read(self) -> None:
        while self._process.canReadLine():
            match json.loads(bytes(self._process.readLine().data())):
                case {"total": total, "known": known}:
                    self._total, self._known = total, known
                case {"added": added}:
                    self._added += added
                case {"skipped": skipped}:
                    self._skipped = skipped
                case {"error": {"message": message, "hint": hint}}:
                    self._error = BadImport(message, hint)
        if self._total is not None:
            self.progressed.emit(len(self._added), self._total)

    def _finish(self, code: int, status: QProcess.ExitStatus) -> None:
        self._timer.stop()
        self._over.set()
        if self._watcher is not None:
            self._watcher.join()
        self._read()
        is_whole = code == 0 and status is QProcess.ExitStatus.NormalExit
        if self._is_too_large and not self._is_stopped:
            self._error = BadImport(
                self.tr("Reading {} takes too much memory or time.").format(self.name),
                self.tr("Import a smaller part of it."),
            )
        elif not (is_whole or self._is_stopped or self._error):
            self._error = BadImport(
                self.tr("Reading {} ended unexpectedly.").format(self.name),
                self.tr("Free some memory and try again; a smaller part of the file may work."),
            )
        self.ended.emit(Outcome(self._added, self._skipped, self._is_stopped, self._error, self._known))
        self.deleteLater()

    def _fail(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart:
            self._error = BadImport(self._process.errorString(), self.tr("Free some memory and try again."))
            self._finish(1, QProcess.ExitStatus.CrashExit)


class ImportBar(QFrame):
    """Bar with the progress of an import; hidden while there is no import.

    Attributes:
        stop: button for stopping the import; the owner connects it.
        progress: the progress bar; indeterminate while the file is being read.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("note_bar")
        self._label = PlainLabel(parent=self)
        self._label.setWordWrap(True)
        self.progress = QProgressBar(self)
        self.progress.setTextVisible(False)
        self.progress.setAccessibleName(self.tr("Progress of the import"))
        self.stop = QPushButton(self.tr("Stop"), self)
        self.stop.setAccessibleName(self.tr("Stop the import"))
        row = QHBoxLayout()
        row.addWidget(self._label, 1)
        row.addWidget(self.stop)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 8, 8, 10)
        layout.addLayout(row)
        layout.addWidget(self.progress)
        self.hide()

    def begin(self, name: str) -> None:
        self._label.setText(self.tr("Reading {}…").format(name))
        self.progress.setRange(0, 0)
        self.stop.setEnabled(True)
        self.show()

    def advance(self, done: int, total: int) -> None:
        text = self.tr("Importing: {} of {} chats")
        self._label.setText(text.format(formatting.number(done), formatting.number(total)))
        self.progress.setRange(0, max(1, total))
        self.progress.setValue(done)


def summary(outcome: Outcome) -> str:
    """Describe the result of an import in one line."""
    count = len(outcome.chats)
    text = _tr("Imported 1 chat") if count == 1 else _tr("Imported {} chats").format(formatting.number(count))
    if outcome.is_stopped:
        text = _tr("Stopped. {}").format(text)
    if outcome.known:
        text += "; " + _tr("{} already here").format(formatting.number(outcome.known))
    if outcome.skipped:
        text += "; " + _tr("{} could not be read").format(formatting.number(len(outcome.skipped)))
    return text


def list_skipped(parent: QWidget, outcome: Outcome) -> QMessageBox:
    """Show which chats were not imported, and why, in a message box that does not block."""
    box = PlainMessageBox(QMessageBox.Icon.Information, _tr("Import"), summary(outcome), parent)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setInformativeText(_tr("These chats could not be read:"))
    box.setDetailedText("\n".join(outcome.skipped))
    box.open()
    return box
