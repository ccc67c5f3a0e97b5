"""The messages of chats. No message is ever overwritten: changing one adds another version of it. Only
`delete` removes messages."""

import threading
from collections.abc import Sequence

from msgspec import structs

from app.store import deletion, rows, tree
from app.store.database import Database
from app.store.deletion import DeletedMessages
from app.store.records import (
    AttachedFile,
    CallState,
    ChatSettings,
    ModelPair,
    Passage,
    StoredCall,
    StoredMessage,
    calls_of,
    to_json,
    well_formed,
)
from app.store.under_way import AnswerUnderWay, keep_calls, mark_in_progress


class Messages:
    """The messages of all chats.

    Every method that takes a chat or a message raises NotInStore if it does not exist, and may raise other
    StoreErrors.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._under_way: dict[int, AnswerUnderWay] = {}  # by message; replaced as a whole
        self._tracking = threading.Lock()

    def all(self, chat: int) -> list[StoredMessage]:
        """Return every version of every message, in the order of their creation. Answers that this process
        is writing have all of their text, which may reach the file later."""
        written = {answer.id: answer for answer in self.under_way()}
        with self._database.reading() as connection:
            stored = rows.messages_of(connection, chat)
        return [written[each.id].now(each) if each.id in written else each for each in stored]

    def shown(self, chat: int) -> list[tree.ShownMessage]:
        """Return the messages that the chat shows, in order: one version of each."""
        return tree.shown_path(self.all(chat))

    def ask(self, chat: int, text: str, after: int | None = None, files: Sequence[AttachedFile] = ()) -> int:
        """Add a question after the message `after`, or as the first message. Return the question's id."""
        with self._database.writing() as connection:
            rows.check_chat(connection, chat)
            if after is not None and rows.place_of(connection, after)[0] != chat:
                raise rows.not_found("message")
            message = rows.insert(connection, chat, after, "user", text, files=files)
            rows.show(connection, message)
            rows.touch(connection, chat)
        return message

    def edit(self, message: int, text: str, files: Sequence[AttachedFile] | None = None) -> int:
        """Add another version of a question or an answer, and show it. Return the id of the new version.

        files: that it brings along; None: those of the message.
        """
        with self._database.writing() as connection:
            chat, parent, role, _ = rows.place_of(connection, message)
            before = next(one for one in rows.messages_of(connection, chat) if one.id == message)
            kept = before.files if files is None else files
            edited = rows.insert(connection, chat, parent, role, text, files=kept)
            rows.show(connection, edited)
            rows.touch(connection, chat)
        return edited

    def set_reading(self, question: int, files: Sequence[AttachedFile], passages: Sequence[Passage]) -> None:
        """Store how the model reads the files of a question: their ways, and the passages found for it."""
        with self._database.writing() as connection:
            rows.place_of(connection, question)
            connection.execute(
                "UPDATE messages SET files = ?, passages = ? WHERE id = ?",
                (to_json(list(files)), to_json(list(passages)), question),
            )

    def delete(self, message: int) -> DeletedMessages:
        """Delete a version of a message and all messages below it; `restore` brings them back. See
        `deletion.delete`."""
        self.save_ends()
        with self._database.writing() as connection:
            return deletion.delete(connection, message)

    def restore(self, deleted: DeletedMessages) -> None:
        """Undo a deletion."""
        with self._database.writing() as connection:
            deletion.restore(connection, deleted)

    def show(self, message: int) -> None:
        """Show this version of a message, and the versions above that lead to it.

        Used for the buttons ‹ › and to jump to a search hit.
        """
        with self._database.writing() as connection:
            step: int | None = message
            while step is not None:
                rows.show(connection, step)
                step = rows.place_of(connection, step)[1]

    def answer(self, question: int, settings: ChatSettings, pair: ModelPair) -> AnswerUnderWay:
        """Add an empty answer to a question, show it, and save its text from now on.

        A second answer to the same question is another version of the first. Its text differs only if it is
        requested with another seed, or with none.
        """
        with self._database.writing() as connection:
            chat = rows.place_of(connection, question)[0]
            message = rows.insert(connection, chat, question, "assistant", "")
            rows.show(connection, message)
            rows.touch(connection, chat)
            mark_in_progress(connection, message)
        return self._track(AnswerUnderWay(self._database, message, settings, pair))

    def resume(self, answer: int, settings: ChatSettings, pair: ModelPair, added: str = "") -> AnswerUnderWay:
        """Continue an answer that was stopped or interrupted, from the end of its text and of `added`."""
        self.save_ends()
        with self._database.writing() as connection:
            chat = rows.place_of(connection, answer)[0]
            resumed = next(one for one in rows.messages_of(connection, chat) if one.id == answer)
            mark_in_progress(connection, answer)
        return self._track(
            AnswerUnderWay(self._database, answer, settings, pair, resumed.text + added, resumed.reports)
        )

    def can_go_on(self, message: int) -> bool:
        """Return whether the message is an answer with text that has made no calls: another answer follows
        from the results of calls."""
        with self._database.reading() as connection:
            _, _, role, text = rows.place_of(connection, message)
        return role == "assistant" and bool(text) and not self.calls(message)

    def calls(self, message: int) -> list[StoredCall]:
        """Return the calls that an answer has made."""
        with self._database.reading() as connection:
            found = connection.execute("SELECT calls FROM messages WHERE id = ?", (message,)).fetchone()
        if found is None:
            raise rows.not_found("message")
        return calls_of(found[0])

    def settle_call(self, message: int, call: str, state: CallState, result: str) -> list[StoredCall]:
        """Store what came of an open call; one that is settled stays as it is. Return all calls of the
        answer."""
        with self._database.writing() as connection:
            row = connection.execute("SELECT calls FROM messages WHERE id = ?", (message,)).fetchone()
            if row is None:
                raise rows.not_found("message")
            calls = [
                structs.replace(each, state=state, result=well_formed(result))
                if each.id == call and each.state == "open"
                else each
                for each in calls_of(row[0])
            ]
            keep_calls(connection, message, calls)
        return calls

    def under_way(self) -> Sequence[AnswerUnderWay]:
        """Return the answers that this process is writing."""
        return [answer for answer in self._under_way.values() if not answer.is_over]

    def save_ends(self) -> None:
        """Save the ends of answers that could not be saved before, so that nothing is based on less."""
        for answer in self.under_way():
            answer.save_end()

    def _track(self, answer: AnswerUnderWay) -> AnswerUnderWay:
        with self._tracking:
            self._under_way = {other.id: other for other in [*self.under_way(), answer]}
        return answer
