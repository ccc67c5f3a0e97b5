"""How a token is written where its spaces and line breaks matter. Knows no Qt."""

import unicodedata

MAX_CHARACTERS = 24

_VISIBLE = {" ": "␣", "\n": "↵", "\r": "↵", "\t": "⇥"}


def visible(text: str) -> str:
    """Spaces, line breaks and characters without a shape made visible; cut after 24 characters."""
    if not text:
        return "∅"
    shown = "".join(_visible_character(c) for c in text[:MAX_CHARACTERS])
    return shown + "…" if len(text) > MAX_CHARACTERS else shown


def _visible_character(character: str) -> str:
    if character in _VISIBLE:
        return _VISIBLE[character]
    # Control, format (they would reorder the label) and unassigned characters.
    return "·" if unicodedata.category(character)[0] == "C" else character
