import re

import pytest
from PySide6.QtCore import QByteArray
from PySide6.QtSvg import QSvgRenderer

from app.rendering.formula_picture import INK, MAX_EFFORT, draw, effort


@pytest.mark.parametrize(
    "latex",
    [
        "x_i^2",
        r"\frac{-b \pm \sqrt{b^2-4ac}}{2a}",
        r"\sum_{i=1}^{n} i = \int_0^\infty e^{-x}\,dx",
        r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}",
        r"\begin{cases} x & \text{if } x > 0 \\ 0 & \text{otherwise} \end{cases}",
        r"\begin{align*} a &= b \\ c &= d \nonumber \label{eq:1} \end{align*}",
        r"\text{softmax}\left(\frac{QK^T}{\sqrt{d_k}}\right)V",
        r"\boxed{\mathbb{E}[X]}",
    ],
)
def test_common_formulas_are_drawn(latex: str) -> None:
    picture = draw(latex, True)
    assert picture is not None
    assert QSvgRenderer(QByteArray(picture.svg)).isValid()
    assert INK in picture.svg
    assert b"black" not in picture.svg
    assert picture.width > 0.3
    assert picture.ascent > 0.3


def test_a_denominator_is_below_the_baseline() -> None:
    flat, fraction = draw("a", True), draw(r"\frac{a}{b}", True)
    assert flat is not None
    assert fraction is not None
    assert flat.descent < 0.2 < fraction.descent


@pytest.mark.parametrize(
    "latex",
    [
        r"\nosuch{x}",
        r"\frac{a",
        r"\begin{matrix} a",
        r"\mathop{\mathrm{argmax}}_x",  # its argument would be dropped
        r"\colorbox{black}{x}",
        r"\text{日本}",  # not in the font
        r"\includegraphics{/etc/passwd}",
        r"\input{/etc/passwd}",
        "",
    ],
)
def test_latex_that_is_not_understood_is_not_drawn(latex: str) -> None:
    assert draw(latex, True) is None


@pytest.mark.parametrize("latex", ["</svg><script/>", r"\href{https://a.example}{x}", '" onload="x'])
def test_a_picture_contains_only_shapes(latex: str) -> None:
    picture = draw(latex, True)
    assert picture is not None
    assert set(re.findall(rb"<(\w+)", picture.svg)) <= {b"svg", b"path", b"rect"}
    assert b"example" not in picture.svg
    assert b"onload" not in picture.svg


@pytest.mark.timeout(10)
@pytest.mark.parametrize(
    "latex",
    [r"\frac{1}{1+" * 12 + "x" + "}" * 12, "{" * 500 + "}" * 500, "x^{" * 20 + "}" * 20, "a+b" * 2_000],
)
def test_drawing_a_huge_formula_is_not_started(latex: str) -> None:
    assert effort(latex) > MAX_EFFORT
    assert draw(latex, True) is None
