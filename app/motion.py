"""Whether things may glide and fade, which not everybody can bear."""

_reduced = False


def reduce(is_reduced: bool) -> None:
    """Counts from now on, in the whole program."""
    global _reduced
    _reduced = is_reduced


def is_reduced() -> bool:
    return _reduced
