"""The colours of each theme, with contrasts as WCAG 2.2 defines them; a test computes them.

Text has a contrast of at least 4.5:1, and of 7:1 in the themes of high contrast. There, frames have at least
4.5:1, and a frame with the focus differs from the others by 3:1.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Palette:
    """Colours by purpose, as #rrggbb."""

    window: str
    surface: str  # behind text that is read or edited
    raised: str  # areas that stand out on a surface: a question, code, a node under construction
    border: str
    outline: str  # shapes that carry meaning, with a contrast of 3:1 on `surface`
    text: str
    muted: str
    accent: str
    on_accent: str
    bonus: str
    on_bonus: str
    danger: str
    found: str  # behind search matches
    time_draft: str
    time_target: str
    time_wait: str
    time_other: str
    source_draft: str  # source_*: for tokens, by the drafter that proposed them
    source_ngram: str
    source_recycling: str
    source_lookahead: str
    source_heads: str
    code_keyword: str
    code_name: str
    code_string: str
    code_number: str
    code_comment: str
    lit: str  # behind a button without a frame, under the pointer
    line: int = 1  # width of the frames of buttons and fields, in pixels


LIGHT = Palette(
    window="#f4f4f1",
    surface="#fcfcfa",
    raised="#eaebe6",
    border="#d8d9d3",
    outline="#8a9089",
    text="#1d2225",
    muted="#565e63",
    accent="#0b6b5d",
    on_accent="#ffffff",
    bonus="#9a4a06",
    on_bonus="#ffffff",
    danger="#a4262c",
    found="#f7dc8c",
    time_draft="#5a78c8",
    time_target="#0b6b5d",
    time_wait="#c07a1e",
    time_other="#8a9089",
    source_draft="#4568c4",
    source_ngram="#b8326f",
    source_recycling="#7f4bb8",
    source_lookahead="#5c7a14",
    source_heads="#b4531f",
    code_keyword="#7a2e8c",
    code_name="#1f5590",
    code_string="#2b6119",
    code_number="#8f3f0a",
    code_comment="#5a6166",
    lit="#d8d9d3",
)

DARK = Palette(
    window="#17191b",
    surface="#1d2022",
    raised="#2a2e31",
    border="#363b3f",
    outline="#757d83",
    text="#e4e7e8",
    muted="#a2aab0",
    accent="#58c7b1",
    on_accent="#08231e",
    bonus="#f0b45e",
    on_bonus="#2a1a02",
    danger="#ff9389",
    found="#5e4a12",
    time_draft="#8aa6ee",
    time_target="#58c7b1",
    time_wait="#f0b45e",
    time_other="#757d83",
    source_draft="#8aa6ee",
    source_ngram="#f08ab8",
    source_recycling="#c79bea",
    source_lookahead="#b2cc5c",
    source_heads="#f09a70",
    code_keyword="#d6a4ea",
    code_name="#8fbdf5",
    code_string="#a5d48b",
    code_number="#f0b887",
    code_comment="#a0a8ad",
    lit="#363b3f",
)

LIGHT_CONTRAST = Palette(
    window="#ffffff",
    surface="#ffffff",
    raised="#e6e6e6",
    border="#767676",
    outline="#767676",
    text="#000000",
    muted="#333333",
    accent="#0000a0",
    on_accent="#ffffff",
    bonus="#7a2e00",
    on_bonus="#ffffff",
    danger="#8b0000",
    found="#ffe14d",
    time_draft="#3a5fd9",
    time_target="#0000a0",
    time_wait="#a05a00",
    time_other="#767676",
    source_draft="#1f47c4",
    source_ngram="#a8005a",
    source_recycling="#6a1fb0",
    source_lookahead="#3f5c00",
    source_heads="#9a3a00",
    code_keyword="#5f0f78",
    code_name="#003a7a",
    code_string="#0f4a00",
    code_number="#6e2c00",
    code_comment="#3a3a3a",
    lit="#c8c8c8",
    line=2,
)

DARK_CONTRAST = Palette(
    window="#000000",
    surface="#000000",
    raised="#2e2e2e",
    border="#8c8c8c",
    outline="#8c8c8c",
    text="#ffffff",
    muted="#d6d6d6",
    accent="#ffff00",
    on_accent="#000000",
    bonus="#ffb84d",
    on_bonus="#000000",
    danger="#ffa8a0",
    found="#5c4600",
    time_draft="#8fb4ff",
    time_target="#ffff00",
    time_wait="#ffb84d",
    time_other="#8c8c8c",
    source_draft="#8fb4ff",
    source_ngram="#ff9ecb",
    source_recycling="#d6b0ff",
    source_lookahead="#c4e860",
    source_heads="#ffb08a",
    code_keyword="#e6bdff",
    code_name="#a9d0ff",
    code_string="#b8ec9c",
    code_number="#ffcf9c",
    code_comment="#cccccc",
    lit="#4a4a4a",
    line=2,
)
