"""Text added in pieces gives the same document as text added at once, mapped to its source by character."""

import random
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtGui import QFont, QTextDocument
from PySide6.QtWidgets import QApplication

from app.rendering.formula_picture import Picture
from app.rendering.formulas import Formula, FormulaRenderer
from app.rendering.growing_text import MAX_GROWING, MAX_GROWING_TABLE
from app.rendering.look import TextStyle
from app.rendering.message_document import MessageDocument
from app.rendering.parser import MarkdownParser, MarkdownSection
from app.rendering.pieces import Block
from app.widgets import theme


class Drawn(FormulaRenderer):
    """Decides immediately: formulas that contain `no` cannot be drawn."""

    def picture(self, formula: Formula) -> Picture | None:
        return None if "no" in formula.latex else Picture(b"<svg/>", 1, 1, 0)

    def is_drawable(self, latex: str, is_display: bool) -> bool:
        return "no" not in latex


def document(*pieces: str) -> MessageDocument:
    made = MessageDocument(TextStyle(theme.LIGHT, QFont()), Drawn())
    for piece in pieces:
        made.append(piece)
    return made


def formats(shown: QTextDocument) -> list[object]:
    """Return everything visible of a document."""
    found: list[object] = []
    block = shown.begin()
    while block.isValid():
        form = block.blockFormat()
        found.append((form.topMargin(), form.bottomMargin(), form.leftMargin(), form.textIndent()))
        found.append((form.lineHeight(), form.alignment()))
        found.append((form.rightMargin(), form.layoutDirection()))
        for each in block.textFormats():
            char = each.format
            seen = (char.font().key(), char.foreground().color().name(), char.background(), char.anchorHref())
            found.append((block.text()[each.start : each.start + each.length], *seen))
        block = block.next()
    return found


ATOMS = [
    *(
        "\n",
        "\n\n",
        "\r\n",
        "# h",
        "- a",
        "  - b",
        "1. c",
        "2)",
        "* ",
        "+",
        "- [ ] t",
        "> q",
        "---",
        "===",
        "***",
    ),
    *(
        "```",
        "```py",
        "~~~",
        "x = 1",
        "    ",
        "\t",
        "| a | b |\n|---|---|\n",
        "| 1 | 2 |",
        "|",
        "[l](http://a)",
    ),
    *(
        " **b** ",
        "`c`",
        "$x$",
        "$no$",
        "$$",
        "\\[",
        "\\]",
        "\\",
        "word ",
        "😀",
        "<b>",
        "&amp;",
        "http://a_b.c ",
    ),
    *("\x00", "\u202e", "![i](http://a)", "שלום "),
]


@st.composite
def pieces(draw: st.DrawFn) -> list[str]:
    text = "".join(draw(st.lists(st.sampled_from(ATOMS), min_size=1, max_size=40)))
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=12)))
    return [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]


RICH = """# Head

Words **bold** and
words
===

words
| a | b |
|---|:-:|
| 1 | 2 |
- x

words
| a | b |
|---|---| no table

para
$$
a

para
$$
x
$$ more

1. a
2. b

> q
```py
def f():
    "s"
```
---
* a

*b*
"""


@pytest.mark.usefixtures("qapp")
def test_text_added_by_character_is_right_at_every_step() -> None:
    streamed = document()
    for end in range(1, len(RICH) + 1):
        streamed.append(RICH[end - 1])
        whole = document(RICH[:end])
        assert streamed.parts == whole.parts, RICH[:end]
        assert streamed.source_map.runs == whole.source_map.runs, RICH[:end]
        assert formats(streamed) == formats(whole), RICH[:end]


@pytest.mark.usefixtures("qapp")
@settings(max_examples=300, deadline=None)
@given(pieces())
def test_streamed_text_ends_up_like_text_added_at_once(pieces: list[str]) -> None:
    streamed, whole = document(*pieces), document("".join(pieces))
    assert streamed.toPlainText() == whole.toPlainText()
    assert formats(streamed) == formats(whole)
    assert streamed.parts == whole.parts
    assert streamed.code_heads == whole.code_heads
    assert list(streamed.source_map.runs) == list(whole.source_map.runs)


@pytest.mark.usefixtures("qapp")
@settings(max_examples=300, deadline=None)
@given(pieces())
def test_every_mapped_unit_matches_its_source(pieces: list[str]) -> None:
    shown = document(*pieces)
    source = shown.text
    for run, following in pairwise(shown.source_map.runs):
        assert run.position + run.length <= following.position
        assert run.stop <= following.start
    for run in shown.source_map.runs:
        for offset in range(run.length) if run.is_exact else ():
            unit = shown.characterAt(run.position + offset)
            said = source[run.start + offset]
            assert unit in (said, "\ufffd") or (unit in " \u2028" and said in "\r\n\\"), (unit, said)


@pytest.mark.usefixtures("qapp")
def test_source_and_position_map_to_each_other() -> None:
    text = "# Head *mark*\n\n- item `code` 😀 &amp; $x$ [label](http://a)\n\n"
    text += "| cell |\n|--|\n| other |\n\n```py\nif true:\n```\n"
    shown = document(text)
    for said in ("Head ", "mark", "item ", "code", "label", "cell", "other", "if", "true"):
        start = text.index(said)
        ((position, length),) = shown.source_map.spans(start, start + len(said))
        assert length == len(said)
        assert shown.source_map.source(position + 1) == (start + 1, start + 2)
        assert shown.characterAt(position + 1) == said[1]
    for said, length in (("😀", 2), ("&amp;", 1), ("$x$", 1)):
        start = text.index(said)
        assert shown.source_map.source(shown.source_map.spans(start, start + 1)[0][0]) == (
            start,
            start + len(said),
        )
        assert shown.source_map.spans(start, start + 1)[0][1] == length
    assert shown.source_map.spans(text.index("(http"), text.index("(http") + 10) == []
    assert shown.source_map.source(10_000) is None


def lines(count: int, line: str) -> str:
    return "".join(line.format(i) for i in range(count))


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("```py\n" + lines(2_000, "x{} = 1\n") + "```\n\nafter", lines(2_000, "x{} = 1\n") + "after"),
        ("> ```\n" + lines(2_000, "> x{}\n"), lines(2_000, "x{}\n")),
        (lines(2_000, "- item {}\n"), lines(2_000, "•\titem {}\n")),
        ("word " * 6_000, "word " * 6_000),
        (lines(3_000, "a{}\n"), lines(3_000, "a{} ")),
    ],
    ids=["code", "quoted code", "list", "line", "paragraph"],
)
def test_long_blocks_are_settled_bit_by_bit(text: str, plain: str) -> None:
    shown = document(*(text[i : i + 400] for i in range(0, len(text), 400)))
    assert len(shown.unsettled) <= MAX_GROWING
    assert shown.toPlainText().replace("\n", "").replace(" ", "") == plain.replace("\n", "").replace(" ", "")
    tops = [placed.part.layout.is_tight for placed in shown.parts[1:] if "item" in text]  # type: ignore[union-attr]
    assert all(tops)


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize(
    ("sentence", "ends"), [("The tree of tokens grows by one branch. ", "."), ("一棵树由许多词组成。", "。")]
)
def test_a_long_paragraph_is_not_cut_within_a_sentence(sentence: str, ends: str) -> None:
    shown = document(*[sentence] * (4 * MAX_GROWING // len(sentence)))
    block, cut = shown.begin(), 0
    while block.isValid():
        assert block.text().rstrip().endswith(ends)
        block, cut = block.next(), cut + 1
    assert cut > 2


def test_a_long_line_without_sentences_is_cut_between_words() -> None:
    shown = document(*["branch and " for _ in range(2 * MAX_GROWING // 11)])
    block = shown.begin()
    while block.isValid():
        assert block.text().split()[-1] in ("branch", "and")
        block = block.next()


def test_long_code_is_one_block_to_copy() -> None:
    code = lines(3_000, "x{} = 1\n")
    text = f"```py\n{code}```\n"
    shown = document(*(text[i : i + 700] for i in range(0, len(text), 700)))
    assert len(shown.code_heads) == 1
    assert sum(isinstance(part, Block) and part.layout.is_last for _, _, part in shown.parts) == 1
    assert shown.code(shown.code_heads[0]) + "\n" == code


TABLE = "| Step | Drafted | Kept | Note |\n|---|--:|:-:|---|\n"
ROW = "| {} | 12 | **7** | a `b` |\n"


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize(
    "text",
    [
        TABLE + lines(145, ROW),
        "Before.\n\n" + TABLE + lines(200, ROW) + "\nAfter *it*.\n\n" + TABLE + lines(150, ROW),
        TABLE + lines(150, ROW) + "- an item\n- another\n",
        "| a | b |\r\n|--|--|\r\n" + lines(300, "`{}` | c\r\n") + "\r\nAfter.",
        TABLE + lines(300, ROW) + "\nAfter.",
        TABLE + lines(145, ROW) + "\n\n\n",
    ],
    ids=["table", "between", "list below", "code first", "more cells than shown", "blank lines"],
)
def test_a_long_table_looks_alike_streamed_and_whole(text: str) -> None:
    streamed = document(*(text[i : i + 250] for i in range(0, len(text), 250)))
    whole = document(text)
    assert [placed.part for placed in streamed.parts] == [placed.part for placed in whole.parts]
    assert streamed.parts == whole.parts
    assert list(streamed.source_map.runs) == list(whole.source_map.runs)
    assert formats(streamed) == formats(whole)
    assert len(streamed.unsettled) < 4_000


@pytest.mark.usefixtures("qapp")
def test_only_the_growing_block_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = document("A paragraph of words.\n\n" * 2_000)
    read: list[int] = []
    original = MarkdownParser.read

    def counted(parser: MarkdownParser, source: str, base: int = 0) -> list[MarkdownSection]:
        read.append(len(source))
        return original(parser, source, base)

    monkeypatch.setattr(MarkdownParser, "read", counted)
    for _ in range(50):
        shown.append("more ")
    assert max(read) < 300


def test_a_picture_that_cannot_be_drawn_becomes_its_source(qapp: QApplication) -> None:
    known: dict[str, bool] = {}

    class Late(FormulaRenderer):
        def picture(self, formula: Formula) -> Picture | None:
            return Picture(b"<svg/>", 1, 1, 0) if known.get(formula.latex) else None

        def is_drawable(self, latex: str, is_display: bool) -> bool:
            return known.get(latex, True)

    text = "a $bad$ b\n\n```\nc\n```\n\n$$\nbad\n$$\n\n$good$ d $bad$ e"
    shown = MessageDocument(TextStyle(theme.LIGHT, QFont()), Late())
    shown.append(text)
    known.update(bad=False, good=True)
    assert shown.show_drawn(Formula("bad", False))
    assert shown.show_drawn(Formula("bad", True))
    assert shown.show_drawn(Formula("good", False))
    assert not shown.show_drawn(Formula("other", False))
    assert shown.toPlainText() == "a $bad$ b\nc\n$$\nbad\n$$\n\ufffc d $bad$ e"
    for said in ("b\n", "c", " d", "e"):
        start = text.rindex(said)
        ((position, _),) = shown.source_map.spans(start, start + 1)
        assert shown.characterAt(position) == said[0]
    assert shown.code(shown.code_heads[0]) == "c"
    shown.append(" f")
    assert shown.toPlainText().endswith("$bad$ e f")
    assert shown.formulas() == ["good"]


_RANDOM = random.Random(1)
HOSTILE = {
    "quotes": ">" * 100_000,
    "spaced quotes": "> " * 50_000,
    "brackets": "[" * 20_000,
    "images": "![[" * 5_000,
    "stars": "*a **b " * 3_000,
    "backticks": "".join("`" * _RANDOM.randrange(1, 40) + "a" for _ in range(1_000)),
    "one line": "word " * 40_000,
    "no spaces": "x" * 200_000,
    "table": "| a | b |\n|--|--|\n" + "| c | d |\n" * 3_000,
    "columns": "|a" * 300 + "|\n" + "|-" * 300 + "|\n" + "|b" * 300 + "|",
    "open fences": "```\n~~~\n" * 3_000,
    "dollars": "$a $" * 5_000,
    "html": "<div>" * 5_000,
    "controls": "".join(map(chr, range(0x20))) * 500,
    "directions": "\u202e\u2066abc" * 3_000,
    "rules": "---\n" * 3_000,
    "nested list": "".join("  " * i + "- a\n" for i in range(200)),
    "definitions": "[a]: <" * 3_000,
    "entities": "&#0;&#xFFFC;&#x2029;&#xD800;" * 1_000,
}


@pytest.mark.usefixtures("qapp")
@pytest.mark.timeout(60)
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_is_shown_in_bounded_pieces(text: str) -> None:
    shown = document(*(text[i : i + 2_000] for i in range(0, len(text), 2_000)))
    limit = MAX_GROWING_TABLE if "|" in text else MAX_GROWING
    assert len(shown.unsettled) <= limit
    assert shown.text == text
    assert shown.characterCount() > 1


RTL = """- שלום עולם
  > ציטוט ארוך שאין לו מקום בשורה אחת ולכן הוא נשבר לכמה שורות
1. אחת
- [ ] draft מימין
- אחת draft
"""


def test_lists_and_quotes_written_from_right_to_left_are_on_the_right_and_whole() -> None:
    shown = document(RTL)
    width = 300.0
    shown.setTextWidth(width)
    layout, em = shown.documentLayout(), shown.look.em
    ends = []
    block = shown.begin()
    while block.isValid():
        left = layout.blockBoundingRect(block).left()
        lines = [block.layout().lineAt(n).naturalTextRect() for n in range(block.layout().lineCount())]
        assert all(left + line.left() >= 0 and left + line.right() <= width + 1 for line in lines)
        at = [block.layout().lineAt(0).cursorToX(place)[0] for place in range(block.length())]
        text, tab = block.text(), block.text().find("\t")
        if tab > 0:
            distance = at[tab + 1] - at[0]
            ends.append((text[:tab], distance < 0, abs(distance) > em))
        block = block.next()
    assert ends == [("•", True, True), ("1.", True, True), ("☐", False, True), ("•", True, True)]
