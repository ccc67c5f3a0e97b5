"""The tree of a chat's messages: which ones are shown, and which are sent to the engine. Pure functions."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from msgspec import Struct, structs

from app.store import quoted
from app.store.records import StoredMessage
from engine.protocol import messages as protocol
from engine.protocol.thoughts import divided

NOT_CALLED = "This tool was not called."  # what the model reads where the user has not decided


class ShownMessage(Struct, frozen=True):
    """A message that is shown. versions: ids of all its versions, this one included, oldest first."""

    message: StoredMessage
    versions: tuple[int, ...]

    @property
    def version(self) -> int:
        """Number of the version shown, counted from 1; for example 2 in ‹ 2/3 ›."""
        return self.versions.index(self.message.id) + 1


def shown_path(messages: Sequence[StoredMessage]) -> list[ShownMessage]:
    """Return the messages shown, in order: the shown version of each, from the first message on."""
    versions: dict[int | None, list[StoredMessage]] = defaultdict(list)
    for message in messages:
        versions[message.parent].append(message)
    path: list[ShownMessage] = []
    parent = None
    while siblings := versions.get(parent):
        message = next(sibling for sibling in siblings if sibling.shown)
        path.append(ShownMessage(message, tuple(sibling.id for sibling in siblings)))
        parent = message.id
    return path


def path_to(messages: Sequence[StoredMessage], message: int) -> list[StoredMessage]:
    """Return the path from the first message to this one."""
    by_id = {one.id: one for one in messages}
    path: list[StoredMessage] = []
    step: int | None = message
    while step is not None:
        path.append(by_id[step])
        step = by_id[step].parent
    return path[::-1]


def to_send(
    path: Sequence[StoredMessage], system: str = "", texts: Mapping[str, str] | None = None
) -> list[protocol.Message]:
    """Return the messages to send in a `Chat` request: the system prompt, if any, then those on the path.

    texts: by id, the text of each file that is read whole (`quoted.whole_files`).

    Chat templates require that questions and answers alternate and that a question comes first. A
    question followed by another one was not answered and is left out; adjacent answers are joined. Thoughts
    are told from their answers, except in an answer at the end, which is continued as it is. The results of
    calls follow the answer that made them.
    """
    sent: list[protocol.Message] = []
    for message in path:
        is_whole = message.role == "user" or (message is path[-1] and not message.calls)
        thought, text = ("", message.text) if is_whole else divided(message.text, message.opened)
        if not (text or message.calls) or (message.role == "assistant" and not sent):
            continue
        if message.role == "user":
            text = quoted.with_files(message, texts or {})
        if sent and sent[-1].role == message.role:
            before = sent.pop().content
            text = text if message.role == "user" else f"{before}\n\n{text}"
        calls = [
            protocol.ToolCall(id=call.id, name=call.name, arguments=call.arguments) for call in message.calls
        ]
        sent.append(protocol.Message(message.role, text, thought=thought, calls=calls))
        sent += [
            protocol.Message("tool", call.result or NOT_CALLED, call_id=call.id, name=call.name)
            for call in message.calls
        ]
    return [protocol.Message("system", system), *sent] if system else sent


def reparented(messages: Sequence[StoredMessage]) -> list[StoredMessage]:
    """Return the messages with the one before as parent of each whose parent is missing."""
    ids: set[int | None] = {None}
    sound: list[StoredMessage] = []
    for message in messages:
        parent = message.parent if message.parent in ids else sound[-1].id if sound else None
        sound.append(structs.replace(message, parent=parent))
        ids.add(message.id)
    return sound


def with_one_shown(messages: Sequence[StoredMessage]) -> list[StoredMessage] | None:
    """Return the same tree with exactly one version of each message shown, by default the newest.

    Return None if the messages do not form a tree in which parents precede their children.
    """
    ids: set[int | None] = {None}
    for message in messages:
        if message.id in ids or message.parent not in ids:
            return None
        ids.add(message.id)
    shown = {message.parent: message.id for message in messages}
    shown |= {message.parent: message.id for message in messages if message.shown}
    return [structs.replace(message, shown=shown[message.parent] == message.id) for message in messages]
