"""How many rows of a text layers keep that see only a window of it, and which layers have one, from a
checkpoint's headers.

Such a layer keeps the rows that later tokens may see, those that a short rewind needs, and has room for the
rows of a pass. Where a rewind goes further back, the window's rows are in a savepoint.
"""

from typing import Any

from engine.checkpoints.checkpoint import Checkpoint

ROOM = 1024  # rows of a pass: of a tree, or of a piece of a prompt
REWIND = 64  # tokens that a rewind may drop wherever the text ends
SAVEPOINTS = 3  # copies of the window's rows that a text keeps, at most

_SLIDING = "sliding_attention"
# Architectures all of whose layers have the window, if there is one.
_EVERYWHERE = ("mistral", "ministral3", "mixtral", "phi3", "qwen3_moe")
# The distance of layers without it, where a configuration names neither types of layers nor that distance.
_PERIODS = {"gemma2": 2, "gemma3_text": 6, "gemma3n_text": 5, "gemma4_text": 6, "gpt_oss": 2, "olmo3": 4}
_FIXED = ("gemma2", "gpt_oss", "olmo3")  # which have no such field
# Architectures that have no window unless `use_sliding_window` is true.
_SWITCHED = ("qwen2", "qwen3", "qwen3_moe", "smollm3")


def reach(window: int) -> int:
    """Return how many of the last rows a layer with a window must keep: a token sees `window` rows with its
    own, and an assistant two more of the text before it (`engine.heads.assistant`)."""
    return window + 1


def held(window: int) -> int:
    """Return how many of the last rows a layer with a window has wherever a text ends, and in each savepoint:
    those that it must keep, and those that a short rewind needs. Heads that are taken up with a text need
    one: they have rows of whole blocks."""
    return reach(window) + REWIND


def kept_slots(window: int, capacity: int, apart: bool) -> int:
    """Return how many rows a layer with a window has room for in a text of up to `capacity` tokens: as many
    as other layers, unless fewer take less of the memory that they lie in.

    apart: whether that is a card's. Savepoints, which only fewer rows need, lie in RAM.
    """
    slots = held(window) + ROOM
    beside = 0 if apart else SAVEPOINTS * held(window)
    return slots if slots + beside < capacity else capacity


def saved_rows(window: int, capacity: int, apart: bool) -> int:
    """Return how many rows of a layer with a window are in savepoints, at most. apart: as for
    `kept_slots`."""
    return SAVEPOINTS * held(window) if kept_slots(window, capacity, apart) < capacity else 0


def windowed_layers(checkpoint: Checkpoint) -> tuple[int, frozenset[int]]:
    """Return the window in tokens, and the numbers of the layers that have it; 0 and none if no layer has
    one, or if the configuration does not say so itself."""
    config, kind = checkpoint.config, checkpoint.architecture
    window, layers = config.get("sliding_window"), config.get("num_hidden_layers")
    switched_off = kind in _SWITCHED and not config.get("use_sliding_window")
    if not isinstance(window, int) or not isinstance(layers, int) or switched_off:
        return 0, frozenset()
    slides = [_slides(config, kind, layer) for layer in range(layers)]
    if kind == "gemma4_text":  # transformers makes its last layer one with full attention
        slides[-1] = False
    return window, frozenset(layer for layer in range(layers) if slides[layer])


def _slides(config: dict[str, Any], kind: str, layer: int) -> bool:
    if kind in _EVERYWHERE:
        return True
    types = config.get("layer_types")
    if isinstance(types, list) and types:
        return layer < len(types) and types[layer] == _SLIDING
    if kind in ("qwen2", "qwen3"):
        return layer >= int(config.get("max_window_layers", 28))
    if kind not in _PERIODS:
        return False
    period = None if kind in _FIXED else config.get("sliding_window_pattern")
    return (layer + 1) % int(period or _PERIODS[kind]) > 0
