"""The Markdown dialect of models: CommonMark with tables, strikethrough and formulas; no HTML. Imports no Qt.

Built on markdown-it-py. Its tokens tell the lines of a block, but not where in it an inline token starts; the
inline parser here stores that in the token's `meta["start"]`, as an offset in the block's content.
"""

import re
from bisect import bisect_left
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.parser_inline import ParserInline
from markdown_it.rules_block import StateBlock, reference
from markdown_it.rules_inline import StateInline, image, link
from markdown_it.token import Token
from markdown_it.utils import EnvType

MAX_NESTING = 40  # depth of lists, quotes and emphasis; a deeper block is shown as source
MAX_FORMULA = 1_000  # characters; longer formulas are left as text

# Characters that would control the document instead of being displayed: control characters, direction
# overrides, Qt's markers of frames and objects, lone surrogates.
_STEERING = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufdd0\ufdd1\ufffc\ud800-\udfff]"
)
_LINE_ENDS = str.maketrans("\u2028\u2029", "  ")

_INLINE_DOLLARS = re.compile(r"\$(?![\s$])((?:\\.|[^\\$`\n])+?)(?<!\s)\$(?![\w$])")
_DISPLAY_DOLLARS = re.compile(r"\$\$((?:\\.|[^\\$`])+?)\$\$")
_PARENTHESES = re.compile(r"\\\(((?:[^\\`]|\\[^()`])+?)\\\)")
_BRACKETS = re.compile(r"\\\[((?:[^\\`]|\\[^\[\]`])+?)\\\]")
_PRICE = re.compile(r"\d[^\\^_={}]*[^\W\d_]{3}[^\\^_={}]*")

_BLOCK_OPENING = re.compile(
    r"(\$\$|\\\[|\\begin\{(equation|align|aligned|gather|gathered|multline|eqnarray|split)(\*?)\})"
)
_CLOSINGS = {"$$": "$$", "\\[": "\\]"}


def inert(text: str) -> str:
    """Replace each character that would control the display; the length stays the same."""
    return _STEERING.sub("\ufffd", text).translate(_LINE_ENDS)


def parse(text: str, references: dict[str, Any]) -> list[Token]:
    """Return the tokens of `text`, which must be inert.

    Link definitions in `text` are added to `references`, in which links are looked up.
    """
    return _markdown.parse(text, {"references": references})


class _State(StateInline):
    """State of the inline parser that also stores where each token starts."""

    def __init__(self, src: str, md: MarkdownIt, env: EnvType, tokens: list[Token]) -> None:
        super().__init__(src, md, env, tokens)
        self.link_start: int | None = None
        # Without this check, a page of unmatched brackets would be scanned once per bracket.
        self.can_link = "](" in src or bool(env["references"])

    def push(self, ttype: str, tag: str, nesting: Any) -> Token:
        start = self.pos
        if ttype == "link_open" and self.link_start is not None:
            start, self.link_start = self.link_start, None
        if self.pending:
            self._push_pending(start, is_cut=self.src[start : start + 1] == "\n")
        token = super().push(ttype, tag, nesting)
        if ttype == "text":  # a delimiter like * that may become markup, or the address in <…>
            before = self.tokens[-2] if len(self.tokens) > 1 else None
            if before is not None and before.type == "text" and before.meta["rule_at"] == start:
                token.meta = {"start": before.meta["start"] + len(before.content), "rule_at": start}
            else:
                token.meta = {"start": start + (self.src[start] == "<"), "rule_at": start}
        else:
            token.meta["start"] = start
        return token

    def pushPending(self) -> Token:
        return self._push_pending(self.pos, is_cut=False)

    def _push_pending(self, end: int, *, is_cut: bool) -> Token:
        """Add the pending text, which ends at `end`, as a token.

        is_cut: whether the spaces at its end, before a line break, were dropped.
        """
        token = super().pushPending()
        end = len(self.src[:end].rstrip(" ")) if is_cut else end
        token.meta = {"start": end - len(token.content), "rule_at": -1}
        return token


class _Inline(ParserInline):
    """Inline parser that records where in the source each token starts (`token.meta["start"]`)."""

    def parse(self, src: str, md: MarkdownIt, env: EnvType, tokens: list[Token]) -> list[Token]:
        state = _State(src, md, env, tokens)
        self.tokenize(state)
        for rule in self.ruler2.getRules(""):
            rule(state)
        return state.tokens


def _image(state: StateInline, silent: bool) -> bool:
    assert isinstance(state, _State)
    return state.can_link and image(state, silent)


def _link(state: StateInline, silent: bool) -> bool:
    assert isinstance(state, _State)
    if not state.can_link:
        return False
    if not silent:
        state.link_start = state.pos
    found = link(state, silent)
    if not silent:
        state.link_start = None
    return found


def _formula(state: StateInline, silent: bool) -> bool:
    """Parse $…$, $$…$$, \\(…\\) and \\[…\\] within a paragraph; prices such as $5 are left alone."""
    at = state.pos
    opening = state.src[at : at + 2]
    limit = min(state.posMax, at + MAX_FORMULA)
    display = opening in ("$$", "\\[")
    match opening:
        case "$$":
            found = _DISPLAY_DOLLARS.match(state.src, at, limit)
        case "\\(":
            found = _PARENTHESES.match(state.src, at, limit)
        case "\\[":
            found = _BRACKETS.match(state.src, at, limit)
        case _ if opening[:1] == "$" and not (at and state.src[at - 1].isalnum()):
            found = _INLINE_DOLLARS.match(state.src, at, limit)
            if found and (_PRICE.fullmatch(found[1]) or state.src[found.end() : found.end() + 1].isalnum()):
                found = None
        case _:
            found = None
    if found is None or not found[1].strip():
        return False
    if not silent:
        token = state.push("formula", "", 0)
        token.content = found[1].strip()
        token.markup = found[0]
        token.block = display
    state.pos = found.end()
    return True


def _formula_block(state: StateBlock, first: int, end: int, silent: bool) -> bool:
    """Parse a displayed formula on its own lines; an unclosed one becomes a `formula_open` token."""
    start = state.bMarks[first] + state.tShift[first]
    opening = _BLOCK_OPENING.match(state.src, start, state.eMarks[first])
    if opening is None or state.is_code_block(first) or state.sCount[first] < state.blkIndent:
        return False
    closing = _CLOSINGS.get(opening[1], f"\\end{{{opening[2]}{opening[3]}}}")
    stop = _paragraph_end(state, first, end)
    limit = start + MAX_FORMULA
    # A page of openings costs one search of bounded length each.
    found = state.src.find(closing, opening.end(), min(limit, state.eMarks[stop - 1]))
    if found < 0 and (stop < end or state.eMarks[end - 1] > limit):
        return False
    last = stop - 1
    if found >= 0:
        rest = state.src.find("\n", found)
        after = state.src[found + len(closing) : rest if rest >= 0 else len(state.src)]
        if after.strip(" .,;\t"):
            return False  # part of a paragraph
        last = bisect_left(state.eMarks, found, first, stop)
    if not silent:
        lines = range(first, last + 1)
        written = "\n".join(
            state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]] for line in lines
        )
        inside, closed, _ = written[len(opening[1]) :].partition(closing)
        token = state.push("formula_block" if closed else "formula_open", "", 0)
        token.content = f"{opening[1]}{inside}{closed}" if opening[2] else inside.strip()
        token.markup = written
        token.map = [first, last + 1]
        state.line = last + 1
    return True


def _paragraph_end(state: StateBlock, first: int, end: int) -> int:
    """Return the first line behind `first` that is empty or belongs to another container, or `end`."""
    known = state.env.setdefault("paragraph_ends", {})
    depth = state.level, state.blkIndent, end
    stop = first + 1
    while stop < end and not state.isEmpty(stop) and state.sCount[stop] >= state.blkIndent:
        if (depth, stop) in known:
            stop = known[depth, stop]
            break
        stop += 1
    for line in range(first, stop):  # so that each line is looked at once
        if (depth, line) in known:
            break
        known[depth, line] = stop
    return stop


def _reference(state: StateBlock, first: int, end: int, silent: bool) -> bool:
    """Read the definition of a link. That of a footnote is text."""
    is_footnote = state.src.startswith("[^", state.bMarks[first] + state.tShift[first])
    return not is_footnote and reference(state, first, end, silent)


def _make() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": False, "maxNesting": MAX_NESTING})
    made.inline = _Inline()
    made.enable(["table", "strikethrough"])
    made.disable(["html_block", "html_inline", "linkify", "fragments_join", "text_join"])
    made.inline.ruler.at("link", _link)
    made.inline.ruler.at("image", _image)
    made.inline.ruler.before("escape", "formula", _formula)
    ends = ["paragraph", "reference", "blockquote", "list"]
    made.block.ruler.at("reference", _reference)
    made.block.ruler.before("fence", "formula", _formula_block, {"alt": ends})
    return made


_markdown = _make()
