"""How the text of messages is set, as the user prefers it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Typography:
    """font, code_font: families; "" is the system's. wraps_code: whether long lines of code are broken."""

    font: str = ""
    code_font: str = ""
    wraps_code: bool = False


_current = Typography()


def choose(chosen: Typography) -> None:
    """Set the text of messages this way from now on; what is shown already is not changed."""
    global _current
    _current = chosen


def current() -> Typography:
    return _current
