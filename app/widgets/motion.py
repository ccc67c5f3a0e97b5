"""The preference for reduced motion, needed because animations make some people unwell."""

_reduced = False


def reduce(is_reduced: bool) -> None:
    """Turn animations off or on in the whole program, from now on."""
    global _reduced
    _reduced = is_reduced


def is_reduced() -> bool:
    return _reduced
