"""What engines elsewhere tell of their speculation."""

import re
from dataclasses import dataclass, field

from engine.protocol import Speculation
from engine.remote.reply import SpeculationFigures

_SAMPLE = re.compile(
    rb"^vllm:(spec_decode_num_(?:drafts|draft_tokens|accepted_tokens|accepted_tokens_per_pos)_total"
    rb"|generation_tokens_total)\{([^}\n]*)\}\s+([0-9.eE+]+)",
    re.MULTILINE,
)
_LABEL = re.compile(rb'(\w+)="([^"]*)"')
MOST_POSITIONS = 1000
MOST_COUNT = 2.0**53


@dataclass(slots=True)
class ServerCounts:
    """vLLM's counters since its start, of one model and all its clients."""

    drafts: int = 0
    drafted: int = 0
    accepted: int = 0
    generated: int = 0
    per_position: dict[int, int] = field(default_factory=dict)


def server_counts(metrics: bytes, model: str) -> ServerCounts | None:
    """Return the counters in a page of metrics; None if the server does not speculate.

    https://docs.vllm.ai/en/latest/usage/metrics.html
    """
    counts = ServerCounts()
    speculates = False
    for name, labels, value in _SAMPLE.findall(metrics):
        known = dict(_LABEL.findall(labels))
        count = _count(value)
        if known.get(b"model_name", model.encode()) != model.encode() or count is None:
            continue
        match name:
            case b"generation_tokens_total":
                counts.generated += count
            case b"spec_decode_num_drafts_total":
                counts.drafts += count
                speculates = True
            case b"spec_decode_num_draft_tokens_total":
                counts.drafted += count
            case b"spec_decode_num_accepted_tokens_total":
                counts.accepted += count
            case _:
                position = _count(known.get(b"position", b""))
                if position is not None and position < MOST_POSITIONS:
                    counts.per_position[position] = counts.per_position.get(position, 0) + count
    return counts if speculates else None


def _count(text: bytes) -> int | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return int(value) if 0 <= value <= MOST_COUNT else None


def difference(before: ServerCounts, after: ServerCounts, tokens: int) -> Speculation | None:
    """Return what a server counted during an answer of `tokens` tokens; None if it was restarted."""
    if after.drafts < before.drafts or after.drafted < before.drafted or after.accepted < before.accepted:
        return None
    positions = range(max(after.per_position, default=-1) + 1)
    return Speculation(
        steps=after.drafts - before.drafts,
        drafted=after.drafted - before.drafted,
        accepted=after.accepted - before.accepted,
        per_position=[
            max(0, after.per_position.get(each, 0) - before.per_position.get(each, 0)) for each in positions
        ],
        with_others=after.generated - before.generated != tokens,
    )


def of_answer(figures: SpeculationFigures) -> Speculation:
    """Return what vLLM and `specexec serve` say of one answer."""
    accepted = figures.per_step_accepted or _repeated(figures.acceptance_histogram or {})
    return Speculation(
        steps=figures.num_spec_steps,
        drafted=figures.num_draft_tokens,
        accepted=figures.num_accepted_draft_tokens,
        per_position=per_position(accepted),
    )


def per_position(accepted: list[int]) -> list[int]:
    """Return how often the first, second, … drafted token was accepted, from the accepted lengths."""
    longest = min(max(accepted, default=0), MOST_POSITIONS)
    return [sum(length > position for length in accepted) for position in range(longest)]


def _repeated(histogram: dict[str, int]) -> list[int]:
    """Return accepted lengths from how often each occurred."""
    lengths: list[int] = []
    for length, count in histogram.items():
        if length.isdecimal() and int(length) < MOST_POSITIONS and len(lengths) + count <= 1_000_000:
            lengths += [int(length)] * count
    return lengths
