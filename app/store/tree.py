"""The tree of a chat's messages: what is shown of it, and what of that is sent. Pure functions."""

from collections import defaultdict
from collections.abc import Sequence

from msgspec import Struct, structs

from app.store.records import Message
from engine.protocol import messages as protocol


class Shown(Struct, frozen=True):
    """A message on the path that is shown. versions: ids of it and its siblings, oldest first."""

    message: Message
    versions: tuple[int, ...]

    @property
    def version(self) -> int:
        """From 1: the 2 of ‹ 2/3 ›."""
        return self.versions.index(self.message.id) + 1


def shown_path(messages: Sequence[Message]) -> list[Shown]:
    """From the first message along the shown version of each."""
    versions: dict[int | None, list[Message]] = defaultdict(list)
    for message in messages:
        versions[message.parent].append(message)
    path: list[Shown] = []
    parent = None
    while siblings := versions.get(parent):
        message = next(sibling for sibling in siblings if sibling.shown)
        path.append(Shown(message, tuple(sibling.id for sibling in siblings)))
        parent = message.id
    return path


def path_to(messages: Sequence[Message], message: int) -> list[Message]:
    """From the first message to this one."""
    by_id = {one.id: one for one in messages}
    path: list[Message] = []
    step: int | None = message
    while step is not None:
        path.append(by_id[step])
        step = by_id[step].parent
    return path[::-1]


def to_send(path: Sequence[Message], system: str = "") -> list[protocol.Message]:
    """The list for a `Chat` request. Chat templates want the roles to alternate, a question first: of
    questions in a row, the earlier got no answer and are left out; answers in a row are one."""
    said: list[protocol.Message] = []
    for message in path:
        if not message.text or (message.role == "assistant" and not said):
            continue
        if said and said[-1].role == message.role:
            before = said.pop().content
            text = message.text if message.role == "user" else f"{before}\n\n{message.text}"
        else:
            text = message.text
        said.append(protocol.Message(message.role, text))
    return [protocol.Message("system", system), *said] if system else said


def with_one_shown(messages: Sequence[Message]) -> list[Message] | None:
    """The same tree with exactly one version shown of each message, the newest where none is; None where it
    is no tree whose parents come before their children."""
    ids: set[int | None] = {None}
    for message in messages:
        if message.id in ids or message.parent not in ids:
            return None
        ids.add(message.id)
    shown = {message.parent: message.id for message in messages}
    shown |= {message.parent: message.id for message in messages if message.shown}
    return [structs.replace(message, shown=shown[message.parent] == message.id) for message in messages]
