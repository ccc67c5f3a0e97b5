"""Which GGUF files are one model, by their names alone."""

from engine.checkpoints.gguf_parts import PART


def is_gguf(name: str) -> bool:
    return name.lower().endswith(".gguf")


def model_of(name: str) -> str:
    """The same for all parts of one model (name-00001-of-00003.gguf), different for all else."""
    match = PART.fullmatch(name)
    return f"{match[1]}-of-{match[3]}" if match else name
