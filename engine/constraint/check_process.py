"""The process that compiles one constraint for `check`, for a vocabulary of the 256 bytes.

It reads the constraint from standard input, and writes what is wrong with it to standard output, "" if
nothing is.
"""

import signal
import sys

import msgspec

from engine.constraint.grammar import Grammars
from engine.errors import BadConstraint
from engine.protocol import Constraint


def problem(constraint: Constraint) -> str:
    """Return what is wrong with `constraint`, or ""."""
    tokens = [bytes([byte]) for byte in range(256)]
    try:
        Grammars([*tokens, b"<end>"], [256]).start(constraint)
    except BadConstraint as error:
        return error.message
    return ""


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Windows sends Ctrl+C to this process too
    found = problem(msgspec.msgpack.decode(sys.stdin.buffer.read(), type=Constraint))
    sys.stdout.buffer.write(msgspec.json.encode(found))
