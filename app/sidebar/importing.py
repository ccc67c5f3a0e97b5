"""One import, from the window's side: the process that does it, how far it is, what came of it."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, QProcess, Signal

from app.store import BadImport
from engine import launching
from engine.errors import SpecExecError


@dataclass(frozen=True, slots=True)
class Outcome:
    """chats: the ids of those that were stored. skipped: one sentence for each that could not be read."""

    chats: list[int]
    skipped: list[str]
    is_stopped: bool
    error: SpecExecError | None


class Importing(QObject):
    """Lives on the GUI thread, and deletes itself at the end.

    Attributes:
        name: of the file.

    Signals:
        progressed: chats stored, chats in all
        ended: Outcome
    """

    progressed = Signal(int, int)
    ended = Signal(object)

    def __init__(self, source: Path, store: Path, parent: QObject | None = None) -> None:
        """store: the file of the conversations."""
        super().__init__(parent)
        self.name = source.name
        self._total: int | None = None
        self._added: list[int] = []
        self._skipped: list[str] = []
        self._error: SpecExecError | None = None
        self._is_stopped = False
        self._process = QProcess(self)
        self._process.setWorkingDirectory(str(Path(__file__).parents[2]))
        self._process.setProcessChannelMode(QProcess.ProcessChannelMode.ForwardedErrorChannel)
        self._process.readyReadStandardOutput.connect(self._read)
        self._process.finished.connect(self._finish)
        self._process.errorOccurred.connect(self._fail)
        arguments = ["-m", "app.sidebar.import_process", str(source.absolute()), str(store.absolute())]
        program, *options = launching.isolated() if launching.is_packaged() else [sys.executable]
        self._process.start(program, [*options, *arguments])

    def stop(self) -> None:
        """End it; `ended` follows. What was stored is told there."""
        self._is_stopped = True
        if self._total is None:  # it only reads so far, and does not listen
            self._process.kill()
        else:
            self._process.closeWriteChannel()

    def wait(self) -> None:
        """Until it has ended."""
        self._process.waitForFinished(-1)

    def _read(self) -> None:
        while self._process.canReadLine():
            match json.loads(bytes(self._process.readLine().data())):
                case {"total": total}:
                    self._total = total
                case {"added": added}:
                    self._added += added
                case {"skipped": skipped}:
                    self._skipped = skipped
                case {"error": {"message": message, "hint": hint}}:
                    self._error = BadImport(message, hint)
        if self._total is not None:
            self.progressed.emit(len(self._added), self._total)

    def _finish(self, code: int, status: QProcess.ExitStatus) -> None:
        self._read()
        is_whole = code == 0 and status is QProcess.ExitStatus.NormalExit
        if not (is_whole or self._is_stopped or self._error):
            self._error = BadImport(
                self.tr("Reading {} ended unexpectedly.").format(self.name),
                self.tr("Free some memory and try again; a smaller part of the file may work."),
            )
        self.ended.emit(Outcome(self._added, self._skipped, self._is_stopped, self._error))
        self.deleteLater()

    def _fail(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart:
            self._error = BadImport(self._process.errorString(), self.tr("Free some memory and try again."))
            self._finish(1, QProcess.ExitStatus.CrashExit)
