"""LaTeX formulas drawn as SVG by ziamath, in pure Python with its own font: no other program, no file loaded.

The time that ziamath takes doubles with every level of nesting, so the effort is estimated first, and
limited. Imports no Qt.
"""

import re
from typing import NamedTuple

SIZE = 20  # pixels per em while drawing
INK = b"#010203"  # stands for the colour of the text

# Limit of `effort`, in LaTeX steps; a nested step counts as several. The slowest formulas below the limit
# (nested fences) take about a second.
MAX_EFFORT = 2_000

_STEP = re.compile(r"\\(?:begin|left|end|right)(?![A-Za-z])|\\[A-Za-z]+|\\.|.", re.DOTALL)
_OPENING = frozenset({"{", "\\begin", "\\left"})
_CLOSING = frozenset({"}", "\\end", "\\right"})
_SILENT = re.compile(r"\\(?:nonumber|notag)(?![A-Za-z])|\\label\{[^{}]*\}")
_MISREAD = "\\mathop"  # ziamath drops its argument silently
_PAINT = re.compile(rb'(fill|stroke)="(?!none)[^"]*"')
_VIEW_BOX = re.compile(rb'viewBox="([-\d.]+) ([-\d.]+) ([-\d.]+) ([-\d.]+)"')


class Picture(NamedTuple):
    """An SVG in the colour `INK` and its size in em: width, and height above and below the baseline."""

    svg: bytes
    width: float
    ascent: float
    descent: float


def effort(latex: str) -> float:
    """Return the estimated effort of drawing `latex`: its steps, each doubled for every level of nesting."""
    depth = 0
    total = 0.0
    for step in _STEP.findall(latex):
        if step in _OPENING:
            depth += 1
        elif step in _CLOSING:
            depth = max(0, depth - 1)
        total += 2.0 ** min(depth, 20)
    return total


def draw(latex: str, is_display: bool) -> Picture | None:
    """Draw `latex`. Return None if it is too large, not understood, or has a character the font lacks."""
    from ziamath import zmath
    from ziamath.config import config

    if effort(latex) > MAX_EFFORT or _MISREAD in latex:
        return None
    config.svg2 = False  # paths without references to one another
    try:
        formula = zmath.Math.fromlatex(_SILENT.sub("", latex), size=SIZE, inline=not is_display)
        svg = formula.svg().encode()
    except Exception:  # ziamath has no error class of its own
        return None
    shown = "".join(formula.mathml.itertext())
    if "\\" in shown or any(node.get("mathbackground") for node in formula.mathml.iter()):
        return None
    if any(not formula.font.glyphindex(letter) for letter in shown if not letter.isspace()):
        return None
    box = _VIEW_BOX.search(svg)
    if box is None:
        return None
    _, top, width, height = (float(number) / SIZE for number in box.groups())
    if not (0 < width < 500 and 0 < height < 100):
        return None
    return Picture(_PAINT.sub(rb'\1="' + INK + b'"', svg), width, -top, height + top)
