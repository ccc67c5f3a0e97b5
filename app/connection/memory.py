"""Which turns of a chat the model still sees when the context does not hold all of them. Imports no Qt.

A turn is a question with its answer; turns are sent or left out whole. The engine's counts are exact for the
messages of the last request; for single turns and for what came later, tokens are estimated from bytes.
"""

from collections.abc import Sequence

from app.store import StoredMessage
from app.store.quoted import is_quoted
from app.store.records import about_tokens

FULL = 0.85  # share of the context from which on turns are left out
KEPT = 0.5  # share of it that remains: rows in the KV cache then serve several questions


def tokens_of(message: StoredMessage) -> int:
    """Return about how many tokens the model reads of a message and its files."""
    files = sum(file.tokens for file in message.files if is_quoted(file))
    return about_tokens(message.text) + files + sum(about_tokens(each.text) for each in message.passages)


def turns(path: Sequence[StoredMessage]) -> list[list[StoredMessage]]:
    """Return the messages by turn. Each turn except the first begins with a question."""
    found: list[list[StoredMessage]] = []
    for message in path:
        if message.role == "user" or not found:
            found.append([])
        found[-1].append(message)
    return found


def without_oldest(path: Sequence[StoredMessage], left_out: int) -> list[StoredMessage]:
    """Return the messages without those of the `left_out` oldest turns."""
    return [message for turn in turns(path)[left_out:] for message in turn]


def turn_tokens(path: Sequence[StoredMessage]) -> list[float]:
    """Return about how many tokens each turn takes. The turns of the last request that was answered take
    together what the engine counted, the system prompt included."""
    grouped = turns(path)
    sizes = [float(sum(tokens_of(message) for message in turn)) for turn in grouped]
    for place in reversed(range(len(grouped))):
        for message in reversed(grouped[place]):
            if message.reports:
                report = message.reports[-1]
                first = min(report.settings.left_out, place)
                counted, estimated = report.prompt_tokens + report.tokens, sum(sizes[first : place + 1])
                scale = counted / estimated if estimated else 1.0
                return [size * scale if turn <= place else size for turn, size in enumerate(sizes)]
    return sizes


def used(path: Sequence[StoredMessage], left_out: int) -> int:
    """Return about how many tokens the messages take that are sent."""
    return round(sum(turn_tokens(path)[left_out:]))


def fitting(path: Sequence[StoredMessage], left_out: int, context: int) -> int:
    """Return how many of the oldest turns to leave out so that the rest fits the context: `left_out` as long
    as that is enough. The last turn always stays."""
    sizes = turn_tokens(path)
    first = left_out if left_out < len(sizes) else 0
    return first if sum(sizes[first:]) < FULL * context else fewer(sizes, first, KEPT * context)


def fewer(sizes: Sequence[float], first: int, most: float) -> int:
    """Return `first`, or the first turn after it from which on the sizes add up to at most `most`; at latest
    the last turn."""
    last = max(0, len(sizes) - 1)
    return next((start for start in range(first, last) if sum(sizes[start:]) <= most), last)
