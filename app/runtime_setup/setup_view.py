"""The widget for the set-up of the engine: proposed backends, package sources, progress."""

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFileDialog, QVBoxLayout, QWidget

from app import formatting
from app.background import Work
from app.runtime_setup.backends_view import BackendsView
from app.runtime_setup.setup_job import EngineSetup
from app.runtime_setup.sources_view import SourcesView
from app.widgets.flow import Flow
from app.widgets.form_parts import button, label
from app.widgets.notice import Problem
from app.widgets.progress_view import ProgressView
from engine import machine, runtime
from engine.errors import BadOption
from engine.launch import interpreter
from engine.machine import Machine
from engine.runtime import Archive, Backend


class SetupView(QWidget):
    """Lets the user choose a backend and shows the progress of the set-up.

    The button that starts the set-up belongs to the page around this widget.

    Attributes:
        choosing: contains the widgets for the choice; hidden while a set-up runs.
        backends, sources, progress: the list of backends, the package sources, and the progress.
        from_file: the button that sets up from a runtime file.
        network: the button that shows or hides `sources`.
        problem: shows why the set-up could not be started.

    Signals:
        looked: Machine, once it has been examined
        changed: the choice or the progress of the set-up has changed
    """

    looked = Signal(object)
    changed = Signal()

    def __init__(self, setup: EngineSetup, work: Work, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._setup, self._work = setup, work
        self._machine: Machine | None = None
        self.choosing = QWidget(self)
        self.backends = BackendsView(self.choosing)
        self._room = label(role="danger", parent=self.choosing)
        self.from_file = button(
            self.tr("From a file…"),
            self.tr("Set up from a runtime file, without a network connection"),
            self.choosing,
        )
        self.network = button(self.tr("Mirror and proxy"), parent=self.choosing)
        self.network.setCheckable(True)
        self.sources = SourcesView(self.choosing)
        self.progress = ProgressView(self)
        self.problem = Problem(self)
        self.backends.changed.connect(self._show_room)
        self.from_file.clicked.connect(self._ask_for_file)
        self.network.toggled.connect(self.sources.setVisible)
        self.progress.resumed.connect(lambda: self.begin(self._setup.archive))
        self.progress.cancelled.connect(setup.cancel)
        setup.changed.connect(self._show_progress)
        self._build()
        self._show_progress()

    def _build(self) -> None:
        buttons = Flow()
        buttons.addWidget(self.from_file)
        buttons.addWidget(self.network)
        choosing = QVBoxLayout(self.choosing)
        layout = QVBoxLayout(self)
        for column in (choosing, layout):
            column.setContentsMargins(0, 0, 0, 0)
            column.setSpacing(12)
        choosing.addWidget(self.backends)
        choosing.addWidget(self._room)
        choosing.addLayout(buttons)
        choosing.addWidget(self.sources)
        for part in (self.progress, self.problem, self.choosing):
            layout.addWidget(part)
        for hidden in (self.backends, self._room, self.sources):
            hidden.hide()

    @property
    def chosen(self) -> Backend | None:
        return self.backends.chosen

    def look(self) -> None:
        """Examine this machine, if that was not done yet, and propose the backends that fit it."""
        if self._machine is None:
            self.sources.show_sources(self._setup.sources)
            self.network.setChecked(self._setup.sources != runtime.Sources())
            folder = interpreter.runtimes_folder()
            self._work.run(
                "probe", lambda stop: machine.probe(folder), self._show_machine, self.problem.show_error
            )

    def begin(self, archive: Archive | None = None) -> None:
        """Set up the chosen backend, or the one in `archive`."""
        backend = archive.backend if archive else self.chosen
        if backend is None or self._setup.is_running:
            return
        self.problem.clear()
        try:
            sources = self.sources.sources()
        except BadOption as error:
            self.network.setChecked(True)
            self.problem.show_error(error)
            return
        self._setup.begin(backend, sources, archive)

    def use_file(self, path: Path) -> None:
        """Set up from a runtime file. `path`: the file, or one of the parts it is divided into."""
        self.problem.clear()
        self._work.run("file", lambda stop: Archive(path), self.begin, self.problem.show_error)

    def _ask_for_file(self) -> None:
        dialog = QFileDialog(self, self.tr("Runtime file, or the first of its parts"))
        dialog.setNameFilters([self.tr("Runtime files (*.zip *.zip.001)"), self.tr("All files (*)")])
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(lambda path: self.use_file(Path(path)))
        dialog.open()

    def _show_machine(self, examined: Machine) -> None:
        self._machine = examined
        self.looked.emit(examined)
        current = runtime.current()
        self.backends.show_proposals(runtime.propose(examined), current.backend if current else "")
        self.backends.show()

    def _show_room(self) -> None:
        """Warn if the disk is too full.

        The set-up checks this again and takes the files that it has already received into account.
        """
        assert self._machine is not None
        assert self.chosen is not None
        free, needed = self._machine.disk.free_nbytes, self.chosen.nbytes
        self._room.setText(
            self.tr("Not enough disk space: {} needed, {} free. Free up some space first.").format(
                formatting.nbytes(needed), formatting.nbytes(free)
            )
        )
        self._room.setVisible(free < needed)
        self.changed.emit()

    def _show_progress(self) -> None:
        progress = self._setup.progress
        self.progress.setVisible(progress is not None)
        self.choosing.setHidden(self._setup.is_running)
        if progress is not None:
            self.progress.show_progress(progress)
        self.changed.emit()
