"""An item on its way: several files at once, paused, taken up again, cancelled, from any thread."""

import logging
import threading
from pathlib import Path

from engine.errors import SpecExecError
from engine.hub import disk, names, part
from engine.hub.connection import Connection
from engine.hub.digest import digest_of
from engine.hub.errors import DiskFull
from engine.hub.item import Item, RemoteFile, Repository
from engine.hub.limit import Limit
from engine.hub.lock import locked
from engine.hub.progress import Meter, Progress, State, together
from engine.hub.publishing import publish
from engine.hub.repository import Hub
from engine.hub.stop import Stop, Stopped
from engine.hub.transfer import Patience, Transfer
from engine.hub.unfinished import forget, remember

FILES_AT_ONCE = 3


class Download:
    """Brings `item` into the folder `models`, under owner/name. Nothing lies there under its own name before
    all of the item is here and found right.

    All methods may be called from any thread and return at once, but for `wait`. The work is done by daemon
    threads: a process that ends, in whatever way, loses nothing; the same item in the same folder goes on
    from there.

    Attributes: `item`; `error`: why the state is "failed", or "paused" without having been asked to.
    """

    def __init__(
        self,
        item: Item,
        models: Path,
        hub: Hub,
        limit: Limit | None = None,
        patience: Patience | None = None,
    ) -> None:
        self.item = item
        self.error: SpecExecError | None = None
        self._models, self._hub = models, hub
        self._limit, self._patience = limit or Limit(), patience or Patience()
        self._jobs = [
            _Job(repository, file, names.place(models / repository.id, file.name))
            for repository in item.repositories
            for file in repository.files
        ]
        self._lock = threading.Lock()
        self._state: State = "waiting"
        self._cancelled = False
        self._stop = Stop()
        self._thread: threading.Thread | None = None

    def progress(self) -> Progress:
        with self._lock:
            state, error = self._state, self.error
        return together(state, error.message if error else "", [job.meter for job in self._jobs])

    def start(self) -> None:
        """Begin, or go on after a pause or a failure. Nothing where it runs, or is over."""
        with self._lock:
            runs = self._state == "running" and not self._stop.asked
            if not (runs or self._cancelled or self._state == "done"):
                self._begin(Stop())

    resume = start

    def pause(self) -> None:
        """The state is "paused" as soon as all that came is on the disk."""
        self._stop.ask()

    def cancel(self) -> None:
        """Pause, then delete what came. Nothing where it is done."""
        with self._lock:
            if self._cancelled or self._state == "done":
                return
            self._cancelled = True
            self._stop.ask()
            stop = Stop()
            stop.ask()
            self._begin(stop)

    def wait(self, timeout_s: float | None = None) -> Progress:
        """Until it no longer runs, or the time is over."""
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join(timeout_s)
        return self.progress()

    # -- the item's thread -----------------------------------------------------------------------------------

    def _begin(self, stop: Stop) -> None:
        """A run follows the one before it; `stop` may already be asked for."""
        self._state, self.error, self._stop = "running", None, stop
        name = f"download {self.item.name}"
        self._thread = threading.Thread(target=self._run, args=(stop, self._thread), name=name, daemon=True)
        self._thread.start()

    def _run(self, stop: Stop, before: threading.Thread | None) -> None:
        if before is not None:
            before.join()
        state: State = "failed"
        error: SpecExecError | None = None
        try:
            with locked(self._models, (repository.id for repository in self.item.repositories)):
                state = self._bring(stop)
        except Stopped:
            state = "paused"
        except DiskFull as full:
            state, error = "paused", full
        except SpecExecError as failure:
            error = failure
        except Exception as fault:
            logging.getLogger(__name__).exception("a download failed")
            error = SpecExecError(f"The download failed: {fault}.", "Report this, with the log.")
        with self._lock:
            if self._stop is stop:
                self._state, self.error = state, error
                self._cancelled = state == "cancelled"

    def _bring(self, stop: Stop) -> State:
        if all(job.published for job in self._jobs):
            return "done"
        if self._cancelled:
            self._delete()
            return "cancelled"
        stop.check()
        remember(self._models, self.item)
        disk.check_room(self._models, sum(job.missing_nbytes() for job in self._jobs))
        self._fetch(stop)
        for repository in self.item.repositories:
            done = [job for job in self._jobs if job.repository is repository]
            publish(self._models, repository, {job.file.name: job.sha256 for job in done})
            for job in done:
                job.published = True
        forget(self._models, self.item)
        return "done"

    def _delete(self) -> None:
        for job in self._jobs:
            part.delete(job.place)
            job.meter.at(0)
            job.meter.enter("waiting")
            disk.remove_empty(job.place.parent, self._models)
        forget(self._models, self.item)

    def _fetch(self, stop: Stop) -> None:
        """All jobs, a few at a time. The first error stops the others."""
        left = iter(self._jobs)  # one for all threads
        errors: list[Exception] = []
        connection = Connection(self._hub.endpoint, self._hub.tokens.get, self._patience.silence_s)

        def work() -> None:
            try:
                for job in left:
                    self._fetch_file(job, connection, stop)
            except Exception as error:
                errors.append(error)
                stop.ask()

        threads = [threading.Thread(target=work, daemon=True) for _ in range(FILES_AT_ONCE)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        connection.close()
        for error in sorted(errors, key=lambda error: isinstance(error, Stopped)):
            raise error

    # -- a file's thread -------------------------------------------------------------------------------------

    def _fetch_file(self, job: "_Job", connection: Connection, stop: Stop) -> None:
        stop.check()
        try:
            if not job.is_here(stop):
                self._transfer(job, connection, stop)
        except BaseException:
            job.meter.enter("waiting")
            raise
        job.meter.enter("done")

    def _transfer(self, job: "_Job", connection: Connection, stop: Stop) -> None:
        growing = part.Part(job.place, job.file)
        try:
            growing.open(stop, job.meter.at)
            Transfer(
                repository=job.repository,
                file=job.file,
                url=self._hub.file_url(job.repository, job.file),
                part=growing,
                connection=connection,
                meter=job.meter,
                limit=self._limit,
                patience=self._patience,
                stop=stop,
            ).run()
            job.sha256 = growing.sha256
        finally:
            growing.close()
            job.meter.at(growing.position)


class _Job:
    """One file. `sha256` once it is here and found right; `published`: under its own name."""

    def __init__(self, repository: Repository, file: RemoteFile, place: Path) -> None:
        self.repository, self.file, self.place = repository, file, place
        self.meter = Meter(f"{repository.id}/{file.name}", file.nbytes)
        self.sha256 = ""
        self.published = False

    def missing_nbytes(self) -> int:
        return 0 if self._looks_here() else self.file.nbytes - part.nbytes_here(self.place, self.file)

    def is_here(self, stop: Stop) -> bool:
        """Under its own name, and found right: now, or when it came."""
        self.meter.enter("checking")
        if not self._looks_here():
            return False
        with disk.named_errors(f"reading {self.place.name}"):
            digest = digest_of(self.place, self.file, stop, self.meter.at)
        if digest.matches():
            self.sha256 = digest.sha256()
        return bool(self.sha256)

    def _looks_here(self) -> bool:
        return self.place.is_file() and self.place.stat().st_size == self.file.nbytes
