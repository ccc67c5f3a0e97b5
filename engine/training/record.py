"""What is known of one training: what was ordered, and what was measured on the way. A JSON file beside the
checkpoint."""

from pathlib import Path

import msgspec

from engine.errors import BadCheckpoint


class Order(msgspec.Struct, frozen=True):
    """What is to be made. kind: "layers" (`layers` of the target's), "eagle" or "medusa"; vocabulary: tokens
    told apart; tokens: to sample; length: most tokens of one text; dtype: that products are computed in."""

    target: str
    kind: str
    layers: int = 0
    vocabulary: int = 8192
    tokens: int = 1_000_000
    length: int = 384
    dtype: str = "bfloat16"
    seed: int = 0


class Point(msgspec.Struct, frozen=True):
    """One measurement. step, tokens (learned from, repeats included), seconds (of learning); losses: of
    held-out text in nats, by tokens ahead; tokens_per_pass: by budget."""

    step: int
    tokens: int
    seconds: float
    losses: list[float]
    tokens_per_pass: dict[int, float]


class Record(msgspec.Struct):
    """Attributes: `order`; `commands` (each start of it); `sampling_s`; `sampled` (tokens); `counted` (shards
    that said which tokens are told apart; 0: not yet known); `curve`."""

    order: Order
    commands: list[str] = []
    sampling_s: float = 0.0
    sampled: int = 0
    counted: int = 0
    curve: list[Point] = []

    def save(self, file: Path) -> None:
        part = file.with_suffix(".part")
        part.write_bytes(msgspec.json.format(msgspec.json.encode(self), indent=2))
        part.replace(file)


def read_record(file: Path) -> Record:
    """Raises BadCheckpoint."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=Record)
    except (OSError, msgspec.DecodeError) as error:
        raise BadCheckpoint(
            f"{file} is no record of a training: {str(error)[:200]}", "Name another folder, and start anew."
        ) from error
