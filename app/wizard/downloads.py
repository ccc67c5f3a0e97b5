"""What is being downloaded, whether the wizard is open or not."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from app.wizard.choice import loaded_by
from app.wizard.stages import Shown, of_download
from app.work import Work
from engine import catalog, hub
from engine.hub import Download, Hub, Item

POLL_MS = 250
PATIENCE_S = 1.0  # for downloads to write what they hold, when the window closes


@dataclass(slots=True, eq=False)
class Entry:
    """One download. `target`, `draft`: what is loaded when it is done; `shown`: how far it is; `is_seen`: a
    person knows that it is done."""

    download: Download
    target: str
    draft: str
    shown: Shown
    is_seen: bool = False

    @property
    def is_active(self) -> bool:
        return self.shown.state == "running"


class Downloads(QObject):
    """All downloads of this window. Lives on the GUI thread; the work is done by threads of `engine.hub`.

    Attributes:
        entries: in the order they were begun; those that were cancelled are gone.

    Signals:
        changed: an entry came, went or got further; at most 4 times a second
        found: there are downloads that an earlier run of the program did not end
        lacking: there is no model but the one shipped with the program, and none is on its way
        finished: Entry, all of it is here
        stopped: Entry, paused or failed without having been asked to
    """

    changed = Signal()
    found = Signal()
    lacking = Signal()
    finished = Signal(object)
    stopped = Signal(object)

    def __init__(self, make_hub: Callable[[], Hub] = Hub, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.entries: list[Entry] = []
        self._make_hub = make_hub
        self._hub: Hub | None = None
        self._work = Work(self)
        self._timer = QTimer(self, interval=POLL_MS)
        self._timer.timeout.connect(self._poll)

    def hub(self) -> Hub:
        """One for all, so that a token that was entered counts everywhere. On any thread. Raises
        BadOption."""
        if self._hub is None:
            self._hub = self._make_hub()
        return self._hub

    def look_around(self) -> None:
        """What is here, and what an earlier run of the program left unfinished: that is shown, not
        started."""
        models = catalog.models_folder()

        def look(stop: hub.Stop) -> tuple[bool, list[Download]]:
            left = [Download(item, models, self.hub()) for item in hub.unfinished(models)]
            return has_model(models), left

        self._work.run(
            "look around",
            look,
            lambda seen: self._take_unfinished(*seen),
            lambda error: None,  # the wizard meets it too, and says it there
        )

    def begin(self, item: Item, models: Path, target: str, draft: str) -> Entry:
        """Start it, or go on with the one of the same files. Raises BadOption."""
        entry = self._entry(item)
        if entry is None:
            download = Download(replace(item, target=target, draft=draft), models, self.hub())
            entry = Entry(download, target, draft, of_download(download))
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
        """And delete what came of it."""
        entry.download.cancel()
        self._watch()

    def see(self, entry: Entry) -> None:
        """A person knows that it is here."""
        entry.is_seen = True
        self.changed.emit()

    def follow_models(self) -> None:
        """They lie in another folder now, with what is unfinished. Nothing runs then."""
        self.entries = [entry for entry in self.entries if entry.shown.state == "done"]
        self.changed.emit()
        self.look_around()

    @property
    def is_running(self) -> bool:
        return any(entry.is_active for entry in self.entries)

    def close(self) -> None:
        """Pause all. The next run of the program finds them."""
        self._timer.stop()
        self._work.close()
        for entry in self.entries:
            entry.download.pause()
        for entry in self.entries:
            entry.download.wait(PATIENCE_S)

    def _entry(self, item: Item) -> Entry | None:
        same = (entry for entry in self.entries if entry.download.item.id == item.id)
        return next((entry for entry in same if entry.shown.state not in ("done", "cancelled")), None)

    def _take_unfinished(self, has_model: bool, left: list[Download]) -> None:
        new = [download for download in left if self._entry(download.item) is None]
        for download in new:
            item = download.item
            target, draft = (item.target, item.draft) if item.target else loaded_by(item)
            self.entries.append(Entry(download, target, draft, of_download(download)))
        if new:
            self.found.emit()
            self.changed.emit()
        if not has_model and not self.entries:
            self.lacking.emit()

    def _watch(self) -> None:
        self._poll()
        self._timer.start()

    def _poll(self) -> None:
        news = []
        for entry in list(self.entries):
            before, entry.shown = entry.shown.state, of_download(entry.download)
            if before != entry.shown.state:
                news.append(entry)
            if entry.shown.state == "cancelled":
                self.entries.remove(entry)
        if not self.is_running:
            self._timer.stop()
        self.changed.emit()
        for entry in news:
            if entry.shown.state == "done":
                self.finished.emit(entry)
            elif entry.download.error is not None:
                self.stopped.emit(entry)


def has_model(models: Path) -> bool:
    """Whether there is any but the one shipped with the program."""
    shipped = {variant.id for variant in catalog.entries().values() if variant.embedded}
    return any(shipped.isdisjoint(model.ids) for model in hub.stored(models))
