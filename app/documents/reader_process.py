"""The process that reads a file.

    python -m app.documents.reader_process ENDING < FILE

ENDING is the end of the file's name, such as ".pdf". It writes a `Reading` to standard output as MessagePack,
and ends with an error if the file is damaged. It may write no files.
"""

import signal
import sys

import msgspec

from app.documents import reader
from app.documents.records import Reading, Unreadable

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]


CPU_LIMIT_S = 300  # if the window was killed, nobody else ends a reader that hangs


def _confine() -> None:
    sys.dont_write_bytecode = True
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Windows sends Ctrl+C to this process too
    if resource is not None:
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_LIMIT_S, CPU_LIMIT_S))
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _reading(ending: str) -> Reading:
    try:
        return Reading(document=reader.read(sys.stdin.buffer, ending))
    except Unreadable as error:
        return Reading(fault=error.fault)


if __name__ == "__main__":
    _confine()
    sys.stdout.buffer.write(msgspec.msgpack.encode(_reading(sys.argv[1])))
