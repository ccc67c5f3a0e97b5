"""A runtime on its way, from a backend's lists to being in use: polled and ended from any thread."""

import logging
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.errors import SpecExecError
from engine.hub import Stop, Stopped, disk
from engine.protocol.connection import log_path as engine_log_path
from engine.runtime import installing, stored, trying
from engine.runtime.archive import Archive
from engine.runtime.backends import Backend
from engine.runtime.installing import Sources
from engine.runtime.progress import Meter, Progress, State, nbytes_in
from engine.runtime.running import run

_MEASURE_S = 1.0  # so often the bytes on the disk are counted: 20,000 files take 0.1 s


def log_path() -> Path:
    return engine_log_path().with_name("setup.log")


class Setup:
    """Sets `backend` up beside the runtime in use, and switches to it. With an `archive` of that backend its
    wheels are used, and no network.

    All methods may be called from any thread and return at once, but for `wait`. A process that ends in
    whatever way loses only the time: the next set-up clears away what was half done, and uses what came.

    Attributes: `backend`; `error`: why the state is "failed".
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
        self._meter = Meter()
        self._thread: threading.Thread | None = None

    def progress(self) -> Progress:
        with self._lock:
            state, error = self._state, self.error
        return self._meter.read(state, error.message if error else "")

    def start(self) -> None:
        """Begin, or begin again after a failure. Nothing where it runs or is done."""
        with self._lock:
            if self._state in ("running", "done"):
                return
            self._state, self.error, self._stop = "running", None, Stop()
            self._thread = threading.Thread(
                target=self._run, args=(self._stop,), name="set-up of the engine", daemon=True
            )
            self._thread.start()

    retry = start

    def cancel(self) -> None:
        """The state is "cancelled" as soon as the installer has ended and what came is deleted."""
        self._stop.ask()

    def wait(self, timeout_s: float | None = None) -> Progress:
        """Until it no longer runs, or the time is over."""
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join(timeout_s)
        return self.progress()

    # -- its thread ------------------------------------------------------------------------------------------

    def _run(self, stop: Stop) -> None:
        state: State = "failed"
        error: SpecExecError | None = None
        try:
            with stored.locked():
                state = self._bring(stop)
        except SpecExecError as failure:
            error = failure
        except Exception as failure:
            logging.getLogger(__name__).exception("a set-up failed")
            error = SpecExecError(f"The set-up failed: {failure}.", "Try again; report it with the log.")
        with self._lock:
            self._state, self.error = state, error

    def _bring(self, stop: Stop) -> State:
        """Under the lock."""
        try:
            self._set_up(stop)
        except Stopped:
            stored.forget_cache()
            return "cancelled"
        stored.forget_cache()
        return "done"

    def _set_up(self, stop: Stop) -> None:
        self._meter.enter("checking", 0)
        self._prepare()
        wheels = self._sources.wheels
        if self._archive is not None:
            wheels = stored.unpacked()
            self._archive.unpack(wheels, stop, self._meter)
        with disk.named_errors("preparing the runtime's folder"):
            folder = stored.new_folder(self.backend.name)
        try:
            self._install(folder, wheels, stop)
            self._meter.enter("testing", 0)
            trying.try_out(folder, self.backend.name, log_path(), stop, self._meter)
            stop.check()
            self._meter.enter("switching", 0)
            with disk.named_errors("switching to the new runtime"):
                stored.accept(folder, self.backend.name, self.backend.key())
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise

    def _prepare(self) -> None:
        with disk.named_errors("beginning the set-up's log"):
            log_path().parent.mkdir(parents=True, exist_ok=True)
            log_path().write_bytes(b"")
        stored.clear()
        missing = self.backend.nbytes - nbytes_in([stored.cache()])
        if self._archive is not None:
            missing += self._archive.unpacked_nbytes
        disk.check_room(stored.cache(), max(0, missing))

    def _install(self, folder: Path, wheels: Path | None, stop: Stop) -> None:
        sources, backend = self._sources, self.backend
        engine, torch = backend.lists()
        self._meter.enter("packages", backend.nbytes)
        self._uv(engine, folder, sources.mirror, wheels, stop)
        self._meter.go_on("torch")
        self._uv(torch, folder, installing.torch_index(backend, sources), wheels, stop)

    def _uv(self, requirements: Path, folder: Path, index: str, wheels: Path | None, stop: Stop) -> None:
        argv = installing.install_command(requirements, folder, index, wheels, stored.cache())
        environment = installing.environment(self._sources)
        with _measured(stored.cache(), self._meter):
            status, words = run(argv, environment, log_path(), stop, self._meter.say)
        if status:
            raise installing.fault(words, log_path())


@contextmanager
def _measured(folder: Path, meter: Meter) -> Iterator[None]:
    """Meanwhile `meter` is told how much lies in `folder`."""
    over = threading.Event()

    def measure() -> None:
        while not over.wait(_MEASURE_S):
            meter.at(nbytes_in([folder]))

    thread = threading.Thread(target=measure, name="set-up's bytes", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        meter.at(nbytes_in([folder]))
