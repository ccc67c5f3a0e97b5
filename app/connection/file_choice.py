"""Which files of a question the model reads whole, and in which it searches. Imports no Qt."""

from collections.abc import Sequence

from msgspec import structs

from app.connection.memory import FULL, tokens_of, used, without_oldest
from app.store import AttachedFile, Passage, Store, StoredMessage
from app.store.quoted import is_quoted
from app.store.records import about_tokens

UNKNOWN_CONTEXT = 8_192  # tokens; assumed of an engine elsewhere that does not say
PASSAGES = 6  # for each question: some 2,000 tokens
PASSAGES_SHARE = 0.35  # of the context, at most


def with_ways(files: Sequence[AttachedFile], taken: int, context: int) -> list[AttachedFile]:
    """Return the files with the way in which each is read: whole, as long as they fit, the smallest first.

    taken: tokens of the chat and the question. context: 0: not known.
    """
    room = FULL * (context or UNKNOWN_CONTEXT) - taken
    whole = set()
    for file in sorted(files, key=lambda file: file.tokens):
        if file.tokens <= room:
            room -= file.tokens
            whole.add(file.id)
    return [structs.replace(file, way="whole" if file.id in whole else "searched") for file in files]


def passages_for(store: Store, path: Sequence[StoredMessage], left_out: int, context: int) -> list[Passage]:
    """Return the passages that answer the last question of the path: of its files and those before that are
    not read whole, or no longer because their turn is left out. May raise a StoreError."""
    sent = without_oldest(path, left_out)
    read = {file.id for message in sent for file in message.files if is_quoted(file)}
    files = {file.id: file for message in path for file in message.files if file.has_text}
    searched = [file for file in files.values() if file.id not in read]
    if not searched:
        return []
    found = store.files.search(searched, path[-1].text, PASSAGES)
    room, chosen = PASSAGES_SHARE * (context or UNKNOWN_CONTEXT), list[Passage]()
    for passage in found:
        room -= about_tokens(passage.text)
        if room >= 0 or not chosen:
            chosen.append(passage)
    order = list(files)
    return sorted(chosen, key=lambda passage: (order.index(passage.file), passage.page))


def choose(store: Store, path: Sequence[StoredMessage], left_out: int, context: int) -> StoredMessage:
    """Return the last question of the path with the ways of its files, and the passages found for it."""
    question = path[-1]
    before = used(path[:-1], left_out) + tokens_of(structs.replace(question, files=[], passages=[]))
    asked = structs.replace(question, files=with_ways(question.files, before, context), passages=[])
    return structs.replace(asked, passages=passages_for(store, [*path[:-1], asked], left_out, context))
