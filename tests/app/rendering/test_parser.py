"""The Markdown parser, without a window."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it.rules_block import StateBlock

from app.rendering import dialect
from app.rendering.parser import MarkdownParser
from app.rendering.pieces import Block, Part, Piece, Style, Table
from app.rendering.spans import OBJECT


def read(text: str, drawable: bool = True) -> list[Part]:
    reader = MarkdownParser(lambda latex, is_display: drawable, lambda address: f"[no image: {address}]")
    return [part for section in reader.read(text) for part in section.parts]


def only(text: str, drawable: bool = True) -> Block:
    (part,) = read(text, drawable)
    assert isinstance(part, Block)
    return part


def said(block: Block) -> str:
    return "".join(piece.text for piece in block.pieces)


def styles(text: str) -> dict[str, Style]:
    return {piece.text: piece.style for piece in only(text).pieces}


def formulas(text: str) -> list[tuple[str, bool]]:
    blocks = [part for part in read(text) if isinstance(part, Block)]
    found = [piece.style for block in blocks for piece in block.pieces if piece.style.formula]
    return [(style.formula, style.is_display) for style in found]


def test_marks_become_styles() -> None:
    found = styles("**b** *i* ~~s~~ `c` ***bi***")
    assert found["b"] == Style(bold=True)
    assert found["i"] == Style(italic=True)
    assert found["s"] == Style(struck=True)
    assert found["c"] == Style(is_code=True)
    assert found["bi"] == Style(bold=True, italic=True)


def test_html_is_text() -> None:
    text = '<script>alert(1)</script> <iframe src="http://a.example"></iframe>'
    assert said(only(text)) == text
    assert said(only("<div>\nx\n</div>")) == "<div>\u2028x\u2028</div>"


def test_a_line_ends_where_the_model_ended_it() -> None:
    poem = "Two roads diverged\nin a yellow wood,\n*and sorry I could*  \nnot travel both"
    assert said(only(poem)).split("\u2028") == [
        "Two roads diverged",
        "in a yellow wood,",
        "and sorry I could",
        "not travel both",
    ]


def test_footnotes_are_shown() -> None:
    text, notes = read("Trees[^1] and forests[^note].\n\n[^1]: A plant.\n[^note]: Many plants.")
    assert isinstance(text, Block)
    assert isinstance(notes, Block)
    assert said(text) == "Trees[^1] and forests[^note]."
    assert said(notes) == "[^1]: A plant.\u2028[^note]: Many plants."
    assert said(only("[a][b]\n\n[b]: https://c.example")) == "a", "links are still defined"


def test_an_image_is_named_by_its_address() -> None:
    assert said(only("a ![b](https://c.example/d.png) e")) == "a [no image: b, https://c.example/d.png] e"
    assert said(only("![b](file:///c.png)")) == "![b](file:///c.png)"


@pytest.mark.parametrize(
    "text",
    [
        "[x](javascript:alert(1))",
        "[x](JavaScript&colon;alert(1))",
        "[x](file:///etc/passwd)",
        "[x](data:text/html,y)",
        "[x](vbscript:y)",
        "[x](//host/y)",
        "[x](/etc/passwd)",
        "<file:///etc/passwd>",
        "[x][1]\n\n[1]: file:///etc/passwd",
    ],
)
def test_only_links_to_pages_and_mail_are_links(text: str) -> None:
    blocks = [part for part in read(text) if isinstance(part, Block)]
    assert not any(piece.style.link for block in blocks for piece in block.pieces)


@pytest.mark.parametrize(
    ("text", "link"),
    [
        ("[x](https://a.example/b)", "https://a.example/b"),
        ("<mailto:a@b.example>", "mailto:a@b.example"),
        ("see https://a.example/b_c_(d)?e=1.", "https://a.example/b_c_(d)?e=1"),
        ("(http://a.example)", "http://a.example"),
        ("[x][1]\n\n[1]: https://a.example", "https://a.example"),
    ],
)
def test_links(text: str, link: str) -> None:
    (block,) = read(text)
    assert isinstance(block, Block)
    assert [piece.style.link for piece in block.pieces if piece.style.link] == [link]


def test_lists_know_their_depth_and_marker() -> None:
    parts = read("3. a\n   - b\n\n     c\n- [x] d\n- [ ] e")
    blocks = [part for part in parts if isinstance(part, Block)]
    assert [said(block) for block in blocks] == ["3.\ta", "•\tb", "c", "☑\td", "☐\te"]
    assert [block.containers for block in blocks] == ["l", "ll", "ll", "l", "l"]
    assert [block.layout.is_hanging for block in blocks] == [True, True, False, True, True]


def test_an_item_that_begins_with_code_has_its_marker_on_a_line_of_its_own() -> None:
    parts = read("- ```\n  x\n  ```")
    assert [said(part) for part in parts if isinstance(part, Block)] == ["•\t", "x"]


def test_a_table_has_cells() -> None:
    (table,) = read("| a | b |\n|:-:|--:|\n| **1** | x \\| y |\n| only |")
    assert isinstance(table, Table)
    assert table.alignments == ("center", "right")
    assert [["".join(piece.text for piece in cell) for cell in row] for row in table.rows] == [
        ["a", "b"],
        ["1", "x | y"],
        ["only", ""],
    ]


def test_the_rest_of_a_huge_table_is_shown_as_source() -> None:
    row = "| a | b |\n"
    table, *rest = read(row + "|--|--|\n" + row * 2_000)
    assert isinstance(table, Table)
    assert len(table.rows) + len(rest) == 2_001
    assert len(table.rows) == 500
    last = rest[-1]
    assert isinstance(last, Block)
    assert said(last) == "| a | b |"


def test_code_becomes_one_block_per_line() -> None:
    blocks = [part for part in read("```python\ndef f():\n\n    return 1\n```") if isinstance(part, Block)]
    assert [said(block) for block in blocks] == ["def f():", "", "    return 1"]
    assert blocks[0].pieces[0] == Piece("def", Style(is_code=True, colour="code_keyword"), 10, 13)
    assert [block.layout.is_first for block in blocks] == [True, False, False]
    assert [block.layout.is_last for block in blocks] == [False, False, True]
    assert {block.layout.fence.language for block in blocks if block.layout.fence} == {"python"}


@pytest.mark.parametrize("text", ["```py\nx\n~~~\ny", "````\n```\nx"])
def test_an_open_fence_is_code_to_the_end(text: str) -> None:
    assert {part.layout.kind for part in read(text) if isinstance(part, Block)} == {"code"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a $x_i$ b", [("x_i", False)]),
        (r"a \(x\) b \[y\]", [("x", False), ("y", True)]),
        ("$$x$$", [("x", True)]),
        ("$$\na\n- b\n= c\n$$", [("a\n- b\n= c", True)]),
        ("\\[\nx\n\\]\nafter", [("x", True)]),
        ("text\n$$x$$\ntext", [("x", True)]),
        ("\\begin{align}\na &= b\n\\end{align}", [("\\begin{align}\na &= b\n\\end{align}", True)]),
        ("- a\n  $$\n  x\n  $$", [("x", True)]),
        ("> $$\n> x\n> $$", [("x", True)]),
        ("| $a$ |\n|--|\n| $b$ |", []),
        ("`$x$` and ```$y$```", []),
        ("```\n$$x$$\n```", []),
        ("it costs $5 and $10", []),
        ("$5-$10, US$5 or $6/$7", []),
        ("from $20 per month to 30$ more", []),
        ("$HOME and $PATH, ${x}", []),
        (r"\$x\$ and \\(x\\)", []),
        ("$ x $", []),
        ("$x", []),
        ("$$\nx\n\ny\n$$", []),
        ("$3x + 5$", [("3x + 5", False)]),
        (r"$5\text{ apples}$", [(r"5\text{ apples}", False)]),
    ],
)
def test_formulas_are_distinguished_from_prices_and_code(text: str, expected: list[tuple[str, bool]]) -> None:
    assert formulas(text) == expected


def test_a_table_may_contain_formulas() -> None:
    (table,) = read("| $a$ |\n|--|\n| $b$ |")
    assert isinstance(table, Table)
    assert [row[0][0].style.formula for row in table.rows] == ["a", "b"]


def test_a_formula_that_cannot_be_drawn_is_shown_as_source() -> None:
    block = only(r"a $\no$ b", drawable=False)
    assert said(block) == r"a $\no$ b"
    assert OBJECT not in said(only("$$x$$", drawable=False))


@pytest.mark.parametrize("text", ["> " * 1_000 + "x", ">" * 100_000, "- " * 1_000 + "x"])
def test_text_nested_too_deeply_is_shown_as_source(text: str) -> None:
    assert said(only(text)) == text


def test_characters_that_control_the_display_are_replaced() -> None:
    steering = "\x00\x1b\u202e\u2066\ufdd0\ufffc\ud800\x9f"
    assert said(only(f"a{steering}b")) == "a" + "\ufffd" * len(steering) + "b"
    assert said(only("a\u2029b\u2028c")) == "a b c"
    assert said(only("a&#0;&#x202E;&#xFFFC;&#xD800;b")) == "a\ufffd\ufffd\ufffd\ufffdb"
    assert said(only("a&#10;b&#x2029;c")) == "a b c"


def scanned(state: StateBlock, first: int, end: int, silent: bool) -> bool:
    """The rule for formula blocks, line by line."""
    start = state.bMarks[first] + state.tShift[first]
    opening = dialect._BLOCK_OPENING.match(state.src, start, state.eMarks[first])
    if opening is None or state.is_code_block(first):
        return False
    closing = dialect._CLOSINGS.get(opening[1], f"\\end{{{opening[2]}{opening[3]}}}")
    written = ""
    for line in range(first, end):
        text = state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]
        written += f"\n{text}" if line > first else text
        if not text or state.sCount[line] < state.blkIndent:
            return False
        if closing in written[len(opening[1]) :]:
            break
    inside, closed, after = written[len(opening[1]) :].partition(closing)
    if after.strip(" .,;\t"):
        return False
    if not silent:
        token = state.push("formula_block" if closed else "formula_open", "", 0)
        token.content = f"{opening[1]}{inside}{closed}" if opening[2] else inside.strip()
        token.markup = written
        token.map = [first, line + 1]
        state.line = line + 1
    return True


LINES = st.sampled_from(
    [
        "\\[",
        "\\]",
        "$$",
        "x",
        "",
        "  ",
        "\\] y",
        "\\[ x \\]",
        "$$ x $$.",
        "\\begin{align}",
        "\\end{align}",
        "text",
    ]
)
CONTAINERS = st.sampled_from(["", "> ", "- ", "  ", "> > ", "1. ", "   "])


@given(st.lists(st.tuples(CONTAINERS, LINES), max_size=14))
def test_formula_blocks_are_those_of_a_scan_line_by_line(lines: list[tuple[str, str]]) -> None:
    text = "\n".join(container + line for container, line in lines)
    reference = dialect._make()
    reference.block.ruler.at("formula", scanned, {"alt": ["paragraph", "reference", "blockquote", "list"]})
    expected = [token.as_dict() for token in reference.parse(text, {"references": {}})]
    assert [token.as_dict() for token in dialect.parse(text, {})] == expected


@pytest.mark.parametrize("line", ["\\[", "$$", "> \\[", "- \\[", "\\[\n\\] y", "\\[ x"])
def test_a_page_of_opened_formulas_is_read_at_once(line: str) -> None:
    """50,000 characters took 21 s when each opening was looked at line by line: at least 24 times as long as
    braces. Four times the text takes about four times as long, 16 times where time grows as its square."""

    def seconds(characters: int, line: str) -> float:
        text = f"{line}\n" * (characters // len(line))
        started = time.thread_time()  # not what other programs take
        dialect.parse(text, {})
        return time.thread_time() - started

    braces = line.replace("$$", "\\{").replace("\\[", "\\{").replace("\\]", "\\}")
    cases = (24_000, line), (6_000, line), (24_000, braces)
    long, short, plain = (min(seconds(*case) for _ in range(3)) for case in cases)
    assert long < 8 * short
    assert long < 6 * plain
