"""Set up a runtime: install a backend's packages, test them, and switch to them."""

import logging
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.errors import SpecExecError
from engine.files import make_private_folder, open_private
from engine.hub import Stop, Stopped, disk
from engine.protocol.engine_process import log_path as engine_log_path
from engine.runtime import installer, store, trial
from engine.runtime.archive import Archive
from engine.runtime.backends import Backend
from engine.runtime.installer import Sources
from engine.runtime.progress import SetupMeter, SetupProgress, State
from engine.runtime.subprocess_run import run

_MEASURE_S = 1.0  # seconds between two counts of the bytes on disk; counting 20,000 files takes 0.1 s


def log_path() -> Path:
    return engine_log_path().with_name("setup.log")


class Setup:
    """A set-up, which installs `backend` beside the runtime in use, tests it and switches to it.

    archive: a runtime file of that backend, whose wheels are installed without a network; or None. All
    methods may be called from any thread; all except `wait` return at once. If the process dies, only time is
    lost: the next set-up removes unfinished folders and reuses finished downloads.

    Attributes: `backend`; `error`, why the set-up failed, or None.
    """

    def __init__(
        self, backend: Backend, sources: Sources | None = None, archive: Archive | None = None
    ) -> None:
        self.backend = backend
        self.error: SpecExecError | None = None
        self._sources = sources or Sources()
        self._archive = archive
        self._lock = threading.Lock()
        self._state: State = "waiting"
        self._stop = Stop()
        self._meter = SetupMeter()
        self._thread: threading.Thread | None = None

    def progress(self) -> SetupProgress:
        with self._lock:
            state, error = self._state, self.error
        return self._meter.read(state, error.message if error else "")

    def start(self) -> None:
        """Start the set-up, or restart it after a failure or a cancel.

        No effect while it runs or once it is done.
        """
        with self._lock:
            if self._state in ("running", "done"):
                return
            self._state, self.error, self._stop = "running", None, Stop()
            self._thread = threading.Thread(
                target=self._run, args=(self._stop,), name="engine set-up", daemon=True
            )
            self._thread.start()

    retry = start

    def cancel(self) -> None:
        """Cancel the set-up.

        The state becomes "cancelled" once the installer has ended and the downloads are deleted.
        """
        self._stop.ask()

    def wait(self, timeout_s: float | None = None) -> SetupProgress:
        """Wait until the set-up no longer runs, but at most `timeout_s`; return the progress."""
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join(timeout_s)
        return self.progress()

    # -- the thread ------------------------------------------------------------------------------------------

    def _run(self, stop: Stop) -> None:
        state: State = "failed"
        error: SpecExecError | None = None
        try:
            with store.locked():
                state = self._attempt(stop)
        except SpecExecError as failure:
            error = failure
        except Exception as failure:
            logging.getLogger(__name__).exception("set-up failed")
            error = SpecExecError(
                f"Set-up failed: {failure}.", f"Try again. If it fails again, report it with {log_path()}."
            )
        with self._lock:
            self._state, self.error = state, error

    def _attempt(self, stop: Stop) -> State:
        """Set up the runtime and return the final state. Call while holding `store.locked`."""
        try:
            self._set_up(stop)
        except Stopped:
            store.clear_cache()
            return "cancelled"
        store.clear_cache()
        return "done"

    def _set_up(self, stop: Stop) -> None:
        self._meter.enter("checking", 0)
        self._prepare()
        wheels = self._sources.wheels
        if self._archive is not None:
            wheels = store.unpacked()
            self._archive.unpack(wheels, stop, self._meter)
        with disk.named_errors("preparing the runtime's folder"):
            folder = store.new_folder(self.backend.name)
        try:
            self._install(folder, wheels, stop)
            self._meter.enter("testing", 0)
            trial.try_out(folder, self.backend.name, log_path(), stop, self._meter)
            stop.check()
            self._meter.enter("switching", 0)
            with disk.named_errors("switching to the new runtime"):
                store.accept(folder, self.backend.name, self.backend.key())
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise

    def _prepare(self) -> None:
        with disk.named_errors("creating the set-up log"):
            make_private_folder(log_path().parent)
            open_private(log_path()).close()
        store.clear()
        missing = self.backend.nbytes - store.nbytes_in([store.cache()])
        if self._archive is not None:
            missing += self._archive.unpacked_nbytes
        disk.check_free(store.cache(), max(0, missing))

    def _install(self, folder: Path, wheels: Path | None, stop: Stop) -> None:
        sources, backend = self._sources, self.backend
        engine, torch = backend.lists()
        self._meter.enter("packages", backend.nbytes)
        self._uv(engine, folder, sources.mirror, wheels, stop)
        self._meter.continue_with("torch")
        self._uv(torch, folder, installer.torch_index(backend, sources), wheels, stop)

    def _uv(self, requirements: Path, folder: Path, index: str, wheels: Path | None, stop: Stop) -> None:
        argv = installer.install_command(requirements, folder, index, wheels, store.cache())
        environment = installer.environment(self._sources)
        with _measured(store.cache(), self._meter):
            status, output = run(argv, environment, log_path(), stop, self._meter.set_activity)
        if status:
            raise installer.install_error(output, log_path())


@contextmanager
def _measured(folder: Path, meter: SetupMeter) -> Iterator[None]:
    """Keep reporting the size of `folder` to `meter` while the block runs, and once more at its end."""
    over = threading.Event()

    def measure() -> None:
        while not over.wait(_MEASURE_S):
            meter.set_done(store.nbytes_in([folder]))

    thread = threading.Thread(target=measure, name="set-up size", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        meter.set_done(store.nbytes_in([folder]))
