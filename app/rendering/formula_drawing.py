"""LaTeX to a picture of curves, by ziamath: pure Python, its own font, nothing run or loaded for a message.

Its time doubles with every level of nesting, so the effort is bounded before it is begun. Knows no Qt.
"""

import re
from typing import NamedTuple

SIZE = 20  # pixels per em while drawing
INK = b"#010203"  # stands for the colour of the text

# In steps of plain LaTeX. The dearest formulas under it (fences in fences) take about a second.
MAX_EFFORT = 2_000

_STEP = re.compile(r"\\(?:begin|left|end|right)(?![A-Za-z])|\\[A-Za-z]+|\\.|.", re.DOTALL)
_OPENING = frozenset({"{", "\\begin", "\\left"})
_CLOSING = frozenset({"}", "\\end", "\\right"})
_SILENT = re.compile(r"\\(?:nonumber|notag)(?![A-Za-z])|\\label\{[^{}]*\}")
_MISREAD = "\\mathop"  # its argument would be lost without a word
_PAINT = re.compile(rb'(fill|stroke)="(?!none)[^"]*"')
_VIEW_BOX = re.compile(rb'viewBox="([-\d.]+) ([-\d.]+) ([-\d.]+) ([-\d.]+)"')


class Picture(NamedTuple):
    """An SVG in `INK` and its size in em: its width, and its heights above and below the baseline."""

    svg: bytes
    width: float
    ascent: float
    descent: float


def effort(latex: str) -> float:
    """What drawing `latex` takes: its steps, each twice as dear for every level it is nested in."""
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
    """The picture; None where `latex` is too large, not understood, or has a character without a shape."""
    from ziamath import zmath
    from ziamath.config import config

    if effort(latex) > MAX_EFFORT or _MISREAD in latex:
        return None
    config.svg2 = False  # paths without references to one another
    try:
        formula = zmath.Math.fromlatex(_SILENT.sub("", latex), size=SIZE, inline=not is_display)
        svg = formula.svg().encode()
    except Exception:  # the parser and the renderer have no error class of their own
        return None
    shown = "".join(formula.mathml.itertext())
    if "\\" in shown or any(each.get("mathbackground") for each in formula.mathml.iter()):
        return None
    if any(not formula.font.glyphindex(each) for each in shown if not each.isspace()):
        return None
    box = _VIEW_BOX.search(svg)
    if box is None:
        return None
    _, top, width, height = (float(number) / SIZE for number in box.groups())
    if not (0 < width < 500 and 0 < height < 100):
        return None
    return Picture(_PAINT.sub(rb'\1="' + INK + b'"', svg), width, -top, height + top)
