"""When it is worth calling a person back to the window. Knows no Qt."""

LONG_S = 15.0  # nobody looks away for less


def is_worth(seconds: float, *, in_front: bool, wanted: bool) -> bool:
    """seconds: that the answer took. in_front: its window has the focus. wanted: the person's choice."""
    return wanted and not in_front and seconds >= LONG_S


def excerpt(text: str, length: int = 120) -> str:
    """The beginning of an answer in one line."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1].rstrip() + "…"
