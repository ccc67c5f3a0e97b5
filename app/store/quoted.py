"""The words in which the model reads the files of a question. Pure functions.

The words are English, as everything that the program tells the model. Text of files stands between fences
that it does not contain, in front of the question, so that a second question about a file finds its rows.
"""

from collections.abc import Iterator, Mapping, Sequence

from app.documents.records import Kind
from app.store.records import AttachedFile, Passage, StoredMessage, WholeFile

_UNITS: dict[Kind, str] = {"xlsx": "sheet", "epub": "section"}


def whole_files(path: Sequence[StoredMessage]) -> list[str]:
    """Return the ids of the files whose text is read whole."""
    return list(dict.fromkeys(file.id for message in path for file in message.files if is_quoted(file)))


def is_quoted(file: AttachedFile) -> bool:
    """Return whether the whole text of a file is read."""
    return file.way == "whole" and file.has_text


def with_files(message: StoredMessage, texts: Mapping[str, str]) -> str:
    """Return a message as the model reads it: its files, the passages found for it, then its text.

    texts: by id, `text_of` each file that is read whole.
    """
    return "\n\n".join([*_files(message.files, texts), *_passages(message.passages), message.text])


def _files(files: Sequence[AttachedFile], texts: Mapping[str, str]) -> Iterator[str]:
    for file in files:
        if file.kind == "picture":
            yield f"(The user has attached a picture, {file.name}, which you cannot see.)"
        if is_quoted(file):
            title = "Text that a program read in it" if file.kind == "picture" else file.name
            yield f"{title}\n{fenced(texts.get(file.id, ''))}"


def _passages(passages: Sequence[Passage]) -> Iterator[str]:
    if passages:
        yield "A search for the words of the question found these passages in attached files."
    for passage in passages:
        place = f", {_page(passage.kind, passage.page)}" if passage.page else ""
        yield f"{passage.name}{place}:\n{fenced(passage.text)}"


def text_of(whole: WholeFile) -> str:
    """Return a file's text; where it has pages, each begins with its number."""
    if not whole.file.pages:
        return "".join(whole.pages)
    pages = enumerate(whole.pages, 1)
    return "\n\n".join(f"[{_page(whole.file.kind, number)}]\n{page}" for number, page in pages)


def _page(kind: Kind, number: int) -> str:
    return f"{_UNITS.get(kind, 'page')} {number}"


def fenced(text: str) -> str:
    """Return text between fences that it does not contain."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text.rstrip()}\n{fence}"
