"""Clears the prompt cache by hand, in the engine that runs and on the disk."""

from contextlib import suppress
from dataclasses import dataclass

from engine import protocol
from engine.errors import DiskProblem, EngineGone, SpecExecError
from engine.prompt_cache import files
from engine.protocol.connection import EngineConnection


@dataclass(frozen=True, slots=True)
class ClearedPrompts:
    """Bytes of RAM and of the disk that were freed."""

    ram: int
    disk: int


def clear() -> ClearedPrompts:
    """Delete all rows of earlier conversations. Waits until the engine that runs has done so, which comes
    after the answers that it has still to write.

    Raises EngineGone if that engine is lost meanwhile; DiskProblem if the files cannot be deleted.
    """
    engine = EngineConnection.join()
    if engine is not None:
        return _cleared_by(engine)
    try:
        return ClearedPrompts(0, files.clear_on_disk())
    except OSError as error:
        raise DiskProblem(
            f"{files.default_folder()} cannot be cleared: {error}.", "Close other programs, then try again."
        ) from error


def nbytes_on_disk() -> int:
    """Return the size of the rows on the disk, in bytes."""
    total = 0
    with suppress(OSError):
        for path in files.default_folder().glob(f"*{files.ENDING}"):
            with suppress(OSError):  # deleted meanwhile
                total += path.lstat().st_size
    return total


def _cleared_by(engine: EngineConnection) -> ClearedPrompts:
    outcome: ClearedPrompts | SpecExecError = EngineGone(
        "The engine ended before it had deleted anything.", "Try again."
    )
    engine.post(protocol.Forget(id=1, conversation=None))
    for event in engine.events():
        match event:
            case protocol.Forgotten(request=1):
                outcome = ClearedPrompts(event.ram, event.disk)
                engine.close()
            case protocol.Failed(request=1):
                outcome = SpecExecError(event.message, event.hint)
                engine.close()
    if isinstance(outcome, SpecExecError):
        raise outcome
    return outcome
