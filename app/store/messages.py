"""What is said in a chat. Nothing is ever overwritten: to change a message is to give it another version."""

from collections.abc import Sequence
from weakref import WeakSet

from app.store import rows, tree
from app.store.database import Database
from app.store.records import ChatSettings, Message, ModelPair
from app.store.under_way import AnswerUnderWay, take_up


class Messages:
    """Every method raises NotInStore where its chat or message is not there, and other StoreErrors."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._under_way: WeakSet[AnswerUnderWay] = WeakSet()

    def all(self, chat: int) -> list[Message]:
        """Every version of every message, in the order they were made."""
        with self._database.reading() as connection:
            return rows.messages_of(connection, chat)

    def shown(self, chat: int) -> list[tree.Shown]:
        """What the chat shows, from the first message on."""
        return tree.shown_path(self.all(chat))

    def ask(self, chat: int, text: str, after: int | None = None) -> int:
        """A question after the message `after`, or as the first one. Returns the new message."""
        with self._database.writing() as connection:
            rows.check_chat(connection, chat)
            if after is not None and rows.place_of(connection, after)[0] != chat:
                raise rows.gone("message")
            message = rows.insert(connection, chat, after, "user", text)
            rows.show(connection, message)
            rows.was_said(connection, chat)
        return message

    def edit(self, message: int, text: str) -> int:
        """Another version of a question or an answer, shown from now on. Returns the new message."""
        with self._database.writing() as connection:
            chat, parent, role, _ = rows.place_of(connection, message)
            edited = rows.insert(connection, chat, parent, role, text)
            rows.show(connection, edited)
            rows.was_said(connection, chat)
        return edited

    def show(self, message: int) -> None:
        """Make what the chat shows lead through this message: for ‹ ›, and to jump to a message found."""
        with self._database.writing() as connection:
            step: int | None = message
            while step is not None:
                rows.show(connection, step)
                step = rows.place_of(connection, step)[1]

    def answer(self, question: int, settings: ChatSettings, pair: ModelPair) -> AnswerUnderWay:
        """Begin an answer, empty and shown: the first, or (to regenerate) another version. That one differs
        only where it was asked for with another seed, or none."""
        with self._database.writing() as connection:
            chat = rows.place_of(connection, question)[0]
            message = rows.insert(connection, chat, question, "assistant", "")
            rows.show(connection, message)
            rows.was_said(connection, chat)
            take_up(connection, message)
        return self._begin(AnswerUnderWay(self._database, message, settings, pair))

    def resume(self, answer: int, settings: ChatSettings, pair: ModelPair) -> AnswerUnderWay:
        """Go on with an answer that was stopped or interrupted, from the end of its text."""
        with self._database.writing() as connection:
            chat = rows.place_of(connection, answer)[0]
            begun = next(one for one in rows.messages_of(connection, chat) if one.id == answer)
            take_up(connection, answer)
        return self._begin(AnswerUnderWay(self._database, answer, settings, pair, begun.text, begun.reports))

    def under_way(self) -> Sequence[AnswerUnderWay]:
        """The answers this process is writing."""
        return [answer for answer in self._under_way if not answer.is_over]

    def _begin(self, answer: AnswerUnderWay) -> AnswerUnderWay:
        self._under_way.add(answer)
        return answer
