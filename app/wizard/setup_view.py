"""Setting the engine up: what fits this machine, what else there is, how far it is."""

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QVBoxLayout, QWidget

from app import words
from app.wizard.backends_view import BackendsView
from app.wizard.engine_setup import EngineSetup
from app.wizard.parts import Problem, button, label
from app.wizard.progress_view import ProgressView
from app.wizard.sources_view import SourcesView
from app.work import Work
from engine import launching, machine, runtime
from engine.errors import BadOption
from engine.machine import Machine
from engine.runtime import Archive, Backend


class SetupView(QWidget):
    """Chooses and shows; the button that begins it belongs to whoever shows this.

    Attributes:
        choosing: what is shown until a set-up runs.
        backends, sources, progress: its parts.
        from_file, network: buttons; the second one shows `sources`.
        problem: why nothing could be begun.

    Signals:
        looked: Machine, what was found
        changed: what is chosen, or how far the set-up is
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
            self.tr("From a file…"), self.tr("Set up from a runtime file, without a network"), self.choosing
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
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addWidget(self.from_file)
        buttons.addWidget(self.network)
        buttons.addStretch(1)
        choosing = QVBoxLayout(self.choosing)
        layout = QVBoxLayout(self)
        for each in (choosing, layout):
            each.setContentsMargins(0, 0, 0, 0)
            each.setSpacing(12)
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
        """At this machine, once; what fits it is proposed then."""
        if self._machine is None:
            self.sources.show_sources(self._setup.sources)
            self.network.setChecked(self._setup.sources != runtime.Sources())
            folder = launching.runtimes()
            self._work.run(
                "probe", lambda stop: machine.probe(folder), self._show_machine, self.problem.show_error
            )

    def begin(self, archive: Archive | None = None) -> None:
        """What is chosen, or what a file holds."""
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
        """A runtime file, or one of its parts."""
        self.problem.clear()
        self._work.run("file", lambda stop: Archive(path), self.begin, self.problem.show_error)

    def _ask_for_file(self) -> None:
        dialog = QFileDialog(self, self.tr("Runtime file, or the first of its parts"))
        dialog.setNameFilters([self.tr("Runtime files (*.zip *.zip.001)"), self.tr("All files (*)")])
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(lambda path: self.use_file(Path(path)))
        dialog.open()

    def _show_machine(self, seen: Machine) -> None:
        self._machine = seen
        self.looked.emit(seen)
        found = runtime.current()
        self.backends.show_proposals(runtime.propose(seen), found.backend if found else "")
        self.backends.show()

    def _show_room(self) -> None:
        """The set-up itself looks again, and counts what is here already."""
        assert self._machine is not None
        assert self.chosen is not None
        free, needed = self._machine.disk.free_nbytes, self.chosen.nbytes
        self._room.setText(
            self.tr("{} are needed, and only {} are free: make room first.").format(
                words.nbytes(needed), words.nbytes(free)
            )
        )
        self._room.setVisible(free < needed)
        self.changed.emit()

    def _show_progress(self) -> None:
        shown = self._setup.shown
        self.progress.setVisible(shown is not None)
        self.choosing.setHidden(self._setup.is_running)
        if shown is not None:
            self.progress.show_progress(shown)
        self.changed.emit()
