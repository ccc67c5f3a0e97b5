"""Damage to files and documents, drawn from a source of randomness."""

import json
import math
import struct
import sys
from collections.abc import Sequence
from random import Random
from typing import Any

EDGES = (0, 1, 0x7F, 0x80, 0xFF)
NUMBERS = (0, -1, 1, 2**31 - 1, 2**31, 2**32, 2**53, 2**63 - 1, 2**63, 2**64, -(2**63), 1e308, -1e308, 5e-324)
TEXTS = (
    "", " ", "\0", "\x1b[2J\x1b]0;title\x07", "\u202egnp.exe", "../../../../etc/passwd", "/etc/passwd",
    "<img src='file:///etc/passwd'>", "{{ 7 * 7 }}", "%s%s%n", "\ud7ff\uffff", "C:\\Windows\\x", "nan",
    "1e999", "a" * 5000,
)  # fmt: skip


def damaged(content: bytes, random: Random) -> bytes:
    """Return the content with one to four random damages: bits, bytes, edges, copies, cuts and swaps."""
    data = bytearray(content)
    for _ in range(random.choice((1, 1, 2, 4))):
        if not data:
            return bytes(data)
        start = random.randrange(len(data))
        size = min(len(data) - start, random.choice((1, 2, 4, 8, 64, 4096)))
        match random.randrange(8):
            case 0:
                data[start] ^= 1 << random.randrange(8)
            case 1:
                data[start : start + size] = random.randbytes(size)
            case 2:
                data[start : start + size] = bytes([random.choice(EDGES)]) * size
            case 3:
                del data[start : start + size]
            case 4:
                data[start:start] = random.randbytes(size)
            case 5:
                del data[start:]
            case 6:
                data[start:start] = data[start : start + size]
            case _:
                number = int(random.choice(NUMBERS[:11])) % 2 ** (8 * min(size, 8))
                data[start : start + min(size, 8)] = number.to_bytes(min(size, 8), "little")
    return bytes(data)


FLOATS = (0.0, -0.0, -1.0, 0.5, 1.0, 1e-40, 1e-9, 1e9, 3e38, math.inf, -math.inf, math.nan)
Spot = tuple[int, int]  # offset and bytes of a number in a file


def renumbered(content: bytes, spots: Sequence[Sequence[Spot]], random: Random) -> bytes:
    """Return the content with one to three numbers replaced. spots: those of each thing in the file."""
    data = bytearray(content)
    for _ in range(random.choice((1, 1, 2, 3))):
        start, nbytes = random.choice(random.choice(spots))
        if nbytes == 4 and random.random() < 0.4:
            data[start : start + 4] = struct.pack("<f", random.choice(FLOATS))
        elif random.random() < 0.4:  # something near
            near = int.from_bytes(data[start : start + nbytes], "little") + random.randint(-3, 3)
            data[start : start + nbytes] = (near % 2 ** (8 * nbytes)).to_bytes(nbytes, "little")
        else:
            number = int(random.choice(NUMBERS[:11])) % 2 ** (8 * nbytes)
            data[start : start + nbytes] = number.to_bytes(nbytes, "little")
    return bytes(data)


def distorted(document: Any, random: Random) -> Any:
    """Return a JSON-like document in which one value, somewhere, is replaced, removed or nested; the document
    given stays as it is."""
    if isinstance(document, dict) and document and random.random() < 0.85:
        key = random.choice(list(document))
        copy = dict(document)
        match random.randrange(10):
            case 0:
                del copy[key]
            case 1:
                copy[str(random.choice(TEXTS))] = copy.pop(key)
            case _:
                copy[key] = distorted(copy[key], random)
        return copy
    if isinstance(document, list) and document and random.random() < 0.85:
        place = random.randrange(len(document))
        return [*document[:place], distorted(document[place], random), *document[place + 1 :]]
    return hostile(random)


def as_json(document: Any) -> bytes:
    """Return the document as JSON, however deeply it is nested."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(30_000)
    try:
        return json.dumps(document).encode()
    finally:
        sys.setrecursionlimit(before)


def spoiled(document: Any, random: Random) -> bytes:
    """Return the document as JSON that is wrong in its values or in its bytes."""
    if random.random() < 0.6:
        return as_json(distorted(document, random))
    return damaged(as_json(document), random)


def hostile(random: Random) -> Any:
    """Return a value that nobody expects."""
    match random.randrange(7):
        case 0:
            return None
        case 1:
            return random.choice((True, False))
        case 2 | 3:
            return random.choice(NUMBERS)
        case 4:
            return random.choice(TEXTS)
        case 5:
            return [hostile(random) for _ in range(random.randrange(3))]
        case _:
            return nested(random.choice((2, 50, 3000)), random.choice((list, dict)))


def nested(depth: int, kind: type) -> Any:
    """Return lists in lists, or dicts in dicts."""
    value: Any = kind()
    for _ in range(depth):
        value = [value] if kind is list else {"a": value}
    return value
