"""The inside of a paragraph: tokens to pieces. Knows no Qt."""

import re
from collections.abc import Callable, Iterator

from markdown_it.token import Token

from app.rendering.dialect import inert
from app.rendering.lines import Offsets, split
from app.rendering.pieces import Piece, Style

OBJECT = "\ufffc"  # stands for a formula

# Schemes a link may have; it is opened only when the person agrees.
SAFE_LINK = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)

_ADDRESS = re.compile(r"https?://[^\s<>\"'`\\]*[^\s<>\"'`\\.,;:!?)\]}*_~|]", re.IGNORECASE)

IsDrawable = Callable[[str, bool], bool]  # can this LaTeX be drawn? (source, displayed)
NameImage = Callable[[str], str]  # what is said in place of the image at this address


def read(
    inline: Token, offsets: Offsets, style: Style, is_drawable: IsDrawable, name_image: NameImage
) -> Iterator[Piece]:
    """Pieces of an inline token; `offsets` are the places of its content in the source."""
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
        elif token.type == "softbreak":
            yield from split(" ", style, offsets[start : start + 1])
        elif token.type == "hardbreak":
            yield from split("\u2028", style, offsets[start : start + 1])
        elif token.type == "code_inline":
            yield from _code(token, style, inline.content, offsets)
        elif token.type == "formula":
            yield from _formula(token, style, offsets[start : start + len(token.markup)], is_drawable)
        elif token.type == "image":
            name = name_image(str(token.attrs["src"]))
            alternative = offsets[start : start + len("![]") + len(token.content)]
            yield whole(name, style._replace(colour="muted"), alternative)
        else:  # an escaped character or an entity
            said = " " if token.content.isspace() else inert(token.content)
            yield whole(said, style, offsets[start : start + len(token.markup)])


def _joined(tokens: list[Token]) -> Iterator[Token]:
    """Neighbouring texts as one: a _ that marks nothing may stand in an address."""
    held: Token | None = None
    for token in tokens:
        if held and token.type == "text" and held.meta["start"] + len(held.content) == token.meta["start"]:
            held = held.copy(content=held.content + token.content)
            continue
        if held:
            yield held
        held = token if token.type == "text" else None
        if held is None:
            yield token
    if held:
        yield held


def whole(text: str, style: Style, offsets: Offsets) -> Piece:
    """All of `text` for all of its source."""
    known = [place for place in offsets if place >= 0]
    return Piece(text, style, known[0], known[-1] + 1) if known else Piece(text, style, 0, 0)


def _formula(token: Token, style: Style, offsets: Offsets, is_drawable: IsDrawable) -> Iterator[Piece]:
    """A formula to draw, or its source where it cannot be drawn."""
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
    """Plain text; an address in it is a link."""
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
        start += 1  # one space within the marks is not said
    yield from split(token.content, style._replace(is_code=True), offsets[start : start + length])
