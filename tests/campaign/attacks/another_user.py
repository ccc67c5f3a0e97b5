"""Another user of the machine, who tries each socket and each private file of the window and the engine.

Each is refused, also in a folder that everyone can enter, and the owner goes on. Needs root.
"""

import os
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from random import Random

from PySide6.QtCore import QCoreApplication
from PySide6.QtNetwork import QLocalSocket

from app.startup.single_instance import SingleInstance
from app.store import Store, backups
from engine.files import open_private
from engine.protocol import connection, engine_process, trace
from engine.protocol.rendezvous import Rendezvous
from tests.app.panel.recorded import RUN
from tests.app.store.dozen import make_dozen
from tests.campaign.attack import SURVIVED, Outcome, Try, Unavailable, Verdict

FIXED = 6
NOBODY = 65534
WIDE = 0o666  # the rights of files that an older version left


@contextmanager
def prepared(folder: Path) -> Iterator[Try]:
    if sys.platform != "linux" or os.getuid() != 0:
        raise Unavailable("only root can act as another user")
    app = QCoreApplication.instance() or QCoreApplication(["campaign"])
    folder.chmod(0o755)
    os.environ.pop("XDG_RUNTIME_DIR", None)
    instance = SingleInstance(folder)
    raised: list[bool] = []
    instance.raise_asked.connect(lambda: raised.append(True))
    path = folder / "conversations.sqlite"
    make_dozen(path)
    run, log = folder / "run.jsonl", folder / "logs" / "engine.log"
    original, engine_process.log_path = engine_process.log_path, lambda: log
    os.environ["XDG_DATA_HOME"] = str(folder)
    engine = connection.EngineConnection.share()
    events = engine.events()
    next(events)
    public = folder / "public"
    public.touch(0o644)
    assert _by_nobody(partial(_open, public, "rb")), "what is public can be reached"

    def once(random: Random) -> Outcome:
        """Open everything anew over files that were wide open, then let the other user try."""
        for file in (path, run, log):
            if file.exists() and random.random() < 0.5:
                file.chmod(WIDE)
        engine_process.open_log().close()
        with trace.Recorder(run, RUN.header) as recorder:
            recorder.add(0.0, RUN.events[0].event)
        with open_private(folder / "window.log", is_appended=True) as window_log:
            window_log.write(b"a line\n")
        store = Store(path)
        try:
            store.back_up()
            files = [path, run, log, folder / "window.log"]
            reached = [name for name, way in _ways(files, instance, engine) if _by_nobody(way)]
            chats = store.chats.recent()
            store.chats.rename(chats[0].id, str(random.random()))
        finally:
            store.close()
        if reached:
            return Outcome(Verdict.RAW, f"another user reached {', '.join(reached)}")
        if not _raises(instance, raised, app) or not chats or engine._engine._process.poll() is not None:
            return Outcome(Verdict.LOST, "the owner cannot go on")
        return SURVIVED

    yield once
    engine_process.log_path = original
    engine._engine.kill()
    events.close()
    instance.close()


def _ways(
    files: list[Path], instance: SingleInstance, engine: connection.EngineConnection
) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield what the other user tries, with its name. files: private files, the store first."""
    store = files[0]
    backup = backups.newest(store)
    files = files + [store.with_name(store.name + suffix) for suffix in ("-wal", "-shm")]
    for file in [*files, *([backup[0]] if backup else [])]:
        if file.exists():
            yield f"{file.name} to read", partial(_open, file, "rb")
            yield f"{file.name} to write", partial(_open, file, "r+b")
            yield f"{file.name} to remove", file.unlink
    yield "the window's socket", partial(_connect, instance.address)
    rendezvous = Rendezvous.of_this_program()
    announced = rendezvous.announced()
    assert announced is not None
    yield "the engine's key", partial(_open, rendezvous.path, "rb")
    yield "the engine's lock", partial(_open, rendezvous.path.with_suffix(".lock"), "r+b")
    yield "the engine's socket", partial(_connect, announced.address)
    for pid, owner in ((os.getpid(), "window"), (engine.pid, "engine")):
        yield f"the {owner}'s memory", partial(_open, Path(f"/proc/{pid}/mem"), "rb")
        yield f"the {owner}'s connection", partial(_open, Path(f"/proc/{pid}/fd/0"), "rb")
        yield f"the {owner}", partial(os.kill, pid, 0)


def _open(file: Path, mode: str) -> None:
    file.open(mode).close()


def _connect(address: str) -> None:
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(address)
        client.sendall(b'"/etc/passwd"\n')


def _by_nobody(way: Callable[[], object]) -> bool:
    """Return whether a child process with another user's rights can go this way."""
    child = os.fork()
    if child == 0:
        status = 2
        with suppress(BaseException):
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            status = 0
            way()
            status = 1
        os._exit(status)
    _, ended = os.waitpid(child, 0)
    status = os.waitstatus_to_exitcode(ended)
    assert status in (0, 1), "the child is not another user"
    return status == 1


def _raises(instance: SingleInstance, raised: list[bool], app: QCoreApplication) -> bool:
    """Return whether the owner's second start still raises the window."""
    raised.clear()
    socket = QLocalSocket()
    socket.connectToServer(instance.address)
    socket.write(b"null\n")
    socket.flush()
    for _ in range(1_000):
        app.processEvents()
        if raised:
            return True
    return False
