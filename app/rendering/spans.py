"""Conversion of inline tokens, the content of a paragraph, to pieces. Imports no Qt."""

import re
from collections.abc import Callable, Iterator

from markdown_it.token import Token

from app.rendering.dialect import inert
from app.rendering.pieces import Offsets, Piece, Style, split

OBJECT = "\ufffc"  # represents a formula

# Allowed schemes of a link. A link is opened only if the user agrees.
SAFE_LINK = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)

_ADDRESS = re.compile(r"https?://[^\s<>\"'`\\]*[^\s<>\"'`\\.,;:!?)\]}*_~|]", re.IGNORECASE)

IsDrawable = Callable[[str, bool], bool]  # (LaTeX, whether it is displayed) -> whether it can be drawn
NameImage = Callable[[str], str]  # what an image shows and its address -> the text shown in its place


def read(
    inline: Token, offsets: Offsets, style: Style, is_drawable: IsDrawable, name_image: NameImage
) -> Iterator[Piece]:
    """Yield the pieces of an inline token. offsets: index in the source of each character of its content."""
    outer: list[Style] = []
    for token in _joined(inline.children or []):
        start = token.meta["start"]
        mark, _, edge = token.type.rpartition("_")
        if edge == "open":
            outer.append(style)
            style = _linked(style, token) if mark == "link" else _marked(style, mark)
        elif edge == "close":
            style = outer.pop()
        elif token.type == "text":
            yield from _text(token.content, style, inline.content, start, offsets)
        elif token.type in ("softbreak", "hardbreak"):  # models break lines where they want a line to end
            yield from split("\u2028", style, offsets[start : start + 1])
        elif token.type == "code_inline":
            yield from _code(token, style, inline.content, offsets)
        elif token.type == "formula":
            yield from _formula(token, style, offsets[start : start + len(token.markup)], is_drawable)
        elif token.type == "image":
            name = name_image(", ".join(filter(None, (token.content, str(token.attrs["src"])))))
            alternative = offsets[start : start + len("![]") + len(token.content)]
            yield whole(name, style._replace(colour="muted"), alternative)
        else:  # an escaped character or an entity
            text = " " if token.content.isspace() else inert(token.content)
            yield whole(text, style, offsets[start : start + len(token.markup)])


def _joined(tokens: list[Token]) -> Iterator[Token]:
    """Join adjacent text tokens, since an address may contain a _ that is not markup."""
    run: list[Token] = []  # adjacent text tokens
    end = 0  # of the run
    for token in tokens:
        is_text = token.type == "text"
        if run and not (is_text and token.meta["start"] == end):
            yield _as_one(run)
            run = []
        if is_text:
            run.append(token)
            end = token.meta["start"] + len(token.content)
        else:
            yield token
    if run:
        yield _as_one(run)


def _as_one(run: list[Token]) -> Token:
    return run[0] if len(run) == 1 else run[0].copy(content="".join(token.content for token in run))


def whole(text: str, style: Style, offsets: Offsets) -> Piece:
    """Return `text` as one piece whose source is the whole range that `offsets` covers."""
    known = [place for place in offsets if place >= 0]
    return Piece(text, style, known[0], known[-1] + 1) if known else Piece(text, style, 0, 0)


def _formula(token: Token, style: Style, offsets: Offsets, is_drawable: IsDrawable) -> Iterator[Piece]:
    """Yield a formula to draw, or its source if it cannot be drawn."""
    if is_drawable(token.content, token.block):
        yield whole(OBJECT, style._replace(formula=token.content, is_display=token.block), offsets)
    else:
        yield from split(token.markup.replace("\n", " "), style._replace(is_code=True), offsets)


def _linked(style: Style, token: Token) -> Style:
    address = str(token.attrs["href"])
    return style._replace(link=address) if SAFE_LINK.match(address) else style


def _marked(style: Style, mark: str) -> Style:
    match mark:
        case "strong":
            return style._replace(bold=True)
        case "em":
            return style._replace(italic=True)
        case _:
            return style._replace(struck=True)


def _text(text: str, style: Style, content: str, start: int, offsets: Offsets) -> Iterator[Piece]:
    """Yield plain text; an address in it becomes a link."""
    stop = start + len(text)
    if content[start:stop] != text:  # an address that was decoded
        yield whole(text, style, offsets[start:stop])
        return
    begin = start
    for found in _ADDRESS.finditer(text) if not style.link else ():
        at, end = start + found.start(), start + found.end()
        yield from split(content[begin:at], style, offsets[begin:at])
        yield from split(found[0], style._replace(link=found[0]), offsets[at:end])
        begin = end
    yield from split(content[begin:stop], style, offsets[begin:stop])


def _code(token: Token, style: Style, content: str, offsets: Offsets) -> Iterator[Piece]:
    start = token.meta["start"] + len(token.markup)
    length = len(token.content)
    if content[start : start + length].replace("\n", " ") != token.content:
        start += 1  # one space next to the backticks is dropped
    yield from split(token.content, style._replace(is_code=True), offsets[start : start + length])
