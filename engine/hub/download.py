"""Download an item, several files at once. Any thread can pause, resume and cancel the download."""

import logging
import threading
from pathlib import Path

from engine.errors import SpecExecError
from engine.hub import disk, names, part
from engine.hub.connection import HttpConnection
from engine.hub.digest import digest_of
from engine.hub.errors import DiskFull
from engine.hub.item import Item, RemoteFile, Repository
from engine.hub.lock import locked
from engine.hub.manifest import publish
from engine.hub.progress import DownloadProgress, State, TransferMeter, together
from engine.hub.repository import Hub
from engine.hub.stop import Stop, Stopped
from engine.hub.transfer import FileTransfer, Limit, Patience
from engine.hub.unfinished import forget, remember

FILES_AT_ONCE = 3


class Download:
    """The download of `item` into owner/name in the folder `models`.

    Files get their final names only when all files of the item are complete and their checksums match. All
    methods may be called from any thread, and all but `wait` return at once. Daemon threads do the work. When
    the process ends, in whatever way, the received bytes stay on the disk, and a later download of the same
    item to the same folder continues from them.

    Attributes: `item`; `error`, why the download failed or paused itself, else None.
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
            _FileJob(repository, file, names.place(models / repository.id, file.name))
            for repository in item.repositories
            for file in repository.files
        ]
        self._lock = threading.Lock()
        self._state: State = "waiting"
        self._cancelled = False
        self._stop = Stop()
        self._thread: threading.Thread | None = None

    def progress(self) -> DownloadProgress:
        with self._lock:
            state, error = self._state, self.error
        return together(state, error.message if error else "", [job.meter for job in self._jobs])

    def start(self) -> None:
        """Start the download, or resume it after a pause or a failure.

        Does nothing while the download runs, or once it is done or cancelled.
        """
        with self._lock:
            runs = self._state == "running" and not self._stop.asked
            if not (runs or self._cancelled or self._state == "done"):
                self._begin(Stop())

    resume = start

    def pause(self) -> None:
        """Pause the download. The state becomes "paused" once all received bytes are on the disk."""
        self._stop.ask()

    def cancel(self) -> None:
        """Cancel the download and delete the partial files. Does nothing once the download is done."""
        with self._lock:
            if self._cancelled or self._state == "done":
                return
            self._cancelled = True
            self._stop.ask()
            stop = Stop()
            stop.ask()
            self._begin(stop)

    def wait(self, timeout_s: float | None = None) -> DownloadProgress:
        """Wait until the download no longer runs, but at most `timeout_s`; return the progress."""
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join(timeout_s)
        return self.progress()

    # -- the item's thread -----------------------------------------------------------------------------------

    def _begin(self, stop: Stop) -> None:
        """Start a thread that runs the download once the previous thread has ended.

        stop: the object with which this thread can be stopped; `stop.ask` may have been called already. Call
        while holding the lock.
        """
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
        disk.check_free(self._models, sum(job.missing_nbytes() for job in self._jobs))
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
        """Fetch all files, a few at a time. The first error stops the other files and is raised."""
        left = iter(self._jobs)  # the files not yet started; shared by all threads
        errors: list[Exception] = []
        connection = HttpConnection(self._hub.endpoint, self._hub.tokens.get, self._patience.silence_s)

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

    def _fetch_file(self, job: "_FileJob", connection: HttpConnection, stop: Stop) -> None:
        stop.check()
        try:
            if not job.is_here(stop):
                self._transfer(job, connection, stop)
        except BaseException:
            job.meter.enter("waiting")
            raise
        job.meter.enter("done")

    def _transfer(self, job: "_FileJob", connection: HttpConnection, stop: Stop) -> None:
        growing = part.Part(job.place, job.file)
        try:
            growing.open(stop, job.meter.at)
            FileTransfer(
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


class _FileJob:
    """The work on one file of the item.

    Attributes: `place`, the path of the finished file; `meter`, its progress; `sha256`, its SHA-256 once the
    file is complete and its checksum matches, else ""; `published`, whether the file has its final name.
    """

    def __init__(self, repository: Repository, file: RemoteFile, place: Path) -> None:
        self.repository, self.file, self.place = repository, file, place
        self.meter = TransferMeter(f"{repository.id}/{file.name}", file.nbytes)
        self.sha256 = ""
        self.published = False

    def missing_nbytes(self) -> int:
        return 0 if self._seems_complete() else self.file.nbytes - part.nbytes_here(self.place, self.file)

    def is_here(self, stop: Stop) -> bool:
        """Whether the file exists under its final name with the right checksum. Reads the whole file.

        Also True if an earlier run found the right checksum and the file still has the right size.
        """
        self.meter.enter("checking")
        if not self._seems_complete():
            return False
        with disk.named_errors(f"reading {self.place.name}"):
            digest = digest_of(self.place, self.file, stop, self.meter.at)
        if digest.matches():
            self.sha256 = digest.sha256()
        return bool(self.sha256)

    def _seems_complete(self) -> bool:
        return self.place.is_file() and self.place.stat().st_size == self.file.nbytes
