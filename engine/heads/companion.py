"""What a model's maker trained to draft for it, and publishes beside it: an assistant of Gemma 4, or an EAGLE
head."""

from engine.checkpoints import Checkpoint
from engine.heads.assistant import is_assistant_of
from engine.heads.files import HeadsFile
from engine.model.description import describe


def is_companion_of(file: HeadsFile, target: Checkpoint) -> bool:
    """Return whether the heads in `file` read states as `target` has them, and know its tokens. Whether all
    of them fits is found when they are bound."""
    if file.kind == "assistant":
        return is_assistant_of(file, target)
    form, rows = describe(target), file.config.get("vocab_size")
    knows = isinstance(rows, int) and rows >= form.rows
    return file.kind == "eagle" and knows and file.config.get("hidden_size") == form.width
