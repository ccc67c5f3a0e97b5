"""The window's downloads, which continue whether or not the wizard is open."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from app.background import Work
from app.widgets.fault_words import in_words
from app.widgets.progress_view import ProgressState, Stage, StageState
from engine import catalog, hub
from engine.hub import Download, Hub, Item

POLL_MS = 250
PATIENCE_S = 1.0  # how long a closing window waits for each download to write its buffers


@dataclass(slots=True, eq=False)
class Entry:
    """One download.

    Attributes:
        target, draft: the pair to load once the download is complete, as in `protocol.Load`.
        progress: the progress of the download, when last looked at.
        is_seen: whether the user has seen that it is complete.
    """

    download: Download
    target: str
    draft: str
    progress: ProgressState
    is_seen: bool = False

    @property
    def is_active(self) -> bool:
        return self.progress.state == "running"


class Downloads(QObject):
    """All downloads of the window. Lives on the GUI thread; threads of `engine.hub` do the work.

    Attributes:
        entries: the downloads that were not cancelled, in the order in which they were added.
        lacks_model: whether the only model was the one shipped with the program when last looked.

    Signals:
        changed: an entry was added, removed or has progressed, at most 4 times a second; or `lacks_model`
            has changed
        found: an earlier run of the program left unfinished downloads
        finished: Entry, which is complete now
        stopped: Entry, which an error has paused or ended
    """

    changed = Signal()
    found = Signal()
    finished = Signal(object)
    stopped = Signal(object)

    def __init__(self, make_hub: Callable[[], Hub] = Hub, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.entries: list[Entry] = []
        self.lacks_model = False
        self._make_hub = make_hub
        self._hub: Hub | None = None
        self._work = Work(self)
        self._timer = QTimer(self, interval=POLL_MS)
        self._timer.timeout.connect(self._poll)

    def hub(self) -> Hub:
        """Return the window's one Hub, shared so that an access token entered once is used everywhere.

        May be called on any thread. Raises BadOption if the proxy's address is invalid.
        """
        if self._hub is None:
            self._hub = self._make_hub()
        return self._hub

    def look_around(self) -> None:
        """Look for models and for unfinished downloads, in the background.

        The unfinished downloads are added to `entries`, but not started.
        """
        models = catalog.models_folder()

        def look(stop: hub.Stop) -> tuple[bool, list[Download]]:
            left = [Download(item, models, self.hub()) for item in hub.unfinished(models)]
            return has_model(models), left

        self._work.run(
            "look around",
            look,
            lambda result: self._take_unfinished(*result),
            lambda error: None,  # the wizard runs into the same error and shows it
        )

    def begin(self, item: Item, models: Path, target: str, draft: str) -> Entry:
        """Start a download; if the same files are already listed as unfinished, resume that download.

        Raises BadOption if the proxy's address is invalid.
        """
        entry = self._entry(item)
        if entry is None:
            download = Download(replace(item, target=target, draft=draft), models, self.hub())
            entry = Entry(download, target, draft, download_progress(download))
            self.entries.append(entry)
        entry.target, entry.draft = target, draft
        self.resume(entry)
        return entry

    def pause(self, entry: Entry) -> None:
        entry.download.pause()
        self._watch()

    def resume(self, entry: Entry) -> None:
        entry.download.start()
        self._watch()

    def cancel(self, entry: Entry) -> None:
        """Stop a download and delete the part already received."""
        entry.download.cancel()
        self._watch()

    def mark_seen(self, entry: Entry) -> None:
        """Record that the user has seen that a download is complete."""
        entry.is_seen = True
        self.changed.emit()

    def follow_models(self) -> None:
        """Look for models and unfinished downloads again, after they were moved.

        Must not be called while a download is running.
        """
        self.entries = [entry for entry in self.entries if entry.progress.state == "done"]
        self.changed.emit()
        self.look_around()

    @property
    def is_running(self) -> bool:
        return any(entry.is_active for entry in self.entries)

    def close(self) -> None:
        """Pause all downloads. The next run of the program finds them."""
        self._timer.stop()
        self._work.close()
        for entry in self.entries:
            entry.download.pause()
        for entry in self.entries:
            entry.download.wait(PATIENCE_S)

    def _entry(self, item: Item) -> Entry | None:
        same = (entry for entry in self.entries if entry.download.item.id == item.id)
        return next((entry for entry in same if entry.progress.state not in ("done", "cancelled")), None)

    def _take_unfinished(self, has_model: bool, left: list[Download]) -> None:
        new = [download for download in left if self._entry(download.item) is None]
        for download in new:
            item = download.item
            target, draft = (item.target, item.draft) if item.target else loaded_by(item)
            self.entries.append(Entry(download, target, draft, download_progress(download)))
        self.lacks_model = not has_model
        if new:
            self.found.emit()
        self.changed.emit()

    def _watch(self) -> None:
        self._poll()
        self._timer.start()

    def _poll(self) -> None:
        changed = []
        for entry in list(self.entries):
            before, entry.progress = entry.progress.state, download_progress(entry.download)
            if before != entry.progress.state:
                changed.append(entry)
            if entry.progress.state == "cancelled":
                self.entries.remove(entry)
        if not self.is_running:
            self._timer.stop()
        self.changed.emit()
        for entry in changed:
            if entry.progress.state == "done":
                self.lacks_model = False
                self.finished.emit(entry)
            elif entry.download.error is not None:
                self.stopped.emit(entry)


def has_model(models: Path) -> bool:
    """Return whether there is a model other than the one shipped with the program."""
    shipped = {variant.id for variant in catalog.entries().values() if variant.embedded}
    return any(shipped.isdisjoint(model.ids) for model in hub.stored(models))


def loaded_by(item: Item) -> tuple[str, str]:
    """Return the (target, draft) to load for an item that does not name them.

    The target is the largest model of the first repository. The draft is the next largest there, else the
    largest of the second repository, else "auto". The names are those in the models folder.
    """
    names = [
        f"{repository.id}/{model.name}".rstrip("/")
        for repository in item.repositories
        for model in sorted(hub.offers(repository), key=lambda model: -model.nbytes)
    ]
    return names[0], names[1] if len(names) > 1 else "auto"


def download_progress(download: hub.Download) -> ProgressState:
    """Return the progress of a download in the form that `ProgressView` shows."""
    progress = download.progress()
    error, hint = in_words(download.error) if download.error else (progress.error, "")
    return ProgressState(
        title=download.item.name,
        state=progress.state,
        done=progress.done_nbytes,
        total=progress.nbytes,
        bytes_per_s=progress.bytes_per_s,
        seconds_left=progress.seconds_left,
        error=error,
        hint=hint,
        stages=tuple(_of_file(file) for file in progress.files),
        deletes=True,
    )


def _of_file(file: hub.FileProgress) -> Stage:
    states: dict[str, StageState] = {
        "waiting": "waiting",
        "checking": "running",
        "downloading": "running",
        "retrying": "error",
        "done": "done",
    }
    note = file.error or file.state if file.state in ("checking", "retrying") else ""
    return Stage(file.name.rpartition("/")[2], states[file.state], file.done_nbytes, file.nbytes, note)
