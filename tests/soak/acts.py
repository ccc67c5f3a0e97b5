"""What a person does between two questions of a long chat. Each act ends there, with the usual pair."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random

from msgspec import structs
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.connection.engine import State
from app.conversation.message_row import MessageRow
from app.preferences import RecentPair
from app.rendering.message_actions import Action
from app.sidebar.search import Searching
from app.sidebar.transfer import ChatTransfer
from tests.app.drive_window import NONE, Person
from tests.app.flows import choose, open_settings
from tests.soak.server_client import ServerClient

Key = Qt.Key
CTRL = Qt.KeyboardModifier.ControlModifier
THINGS = (
    "river",
    "bridge",
    "violin",
    "teapot",
    "comet",
    "forest",
    "bicycle",
    "lighthouse",
    "winter",
    "bread",
)
QUESTIONS = ("Name a {}.", "What is a {}?", "Why do people like a {}?", "Say {} in French.", "{} {}?")
RICH = (
    "The sum is $\\sum_{{k=1}}^{{{n}}} k^{{{n}}}$, and\n\n$$\\int_0^{{{n}}} x^{{{n}}}\\,dx$$\n\n"
    "```python\ndef f{n}(x):\n    return x ** {n}\n```\n\n| a | b |\n|---|---|\n| {n} | **{n}** |\n"
)
NEARBY = 6  # questions counted from the end among which one is edited


class Sitting:
    """One person's long chat, and a program that asks the server beside it.

    Attributes:
        person: drives the window.
        client: asks the server, which shares the window's engine.
        chat: id of the long chat.
        other: the pair that is loaded for a while in place of the usual one.
    """

    def __init__(self, person: Person, client: ServerClient, random: Random, other: Path) -> None:
        self.person, self.client, self.random = person, client, random
        self.chat: int | None = None
        self.other = RecentPair(str(other), str(other))
        self._side: int | None = None

    @property
    def fills_context(self) -> bool:
        """Whether the next answers may not fit the context."""
        answers, pair = self.person.answers, self.person.engine.pair
        newest = answers[-1] if answers else None
        return bool(newest and pair and newest.prompt_tokens + newest.tokens > 0.9 * pair.context)

    def ask(self) -> None:
        """Ask the next question of the long chat, or the first of another one where the context is full."""
        if self.fills_context:
            self.person.press(Key.Key_N, CTRL)
        self.person.ask(self._question())
        self.chat = self.person.chat.id

    def _question(self) -> str:
        thing = self.random.choice(THINGS)
        return self.random.choice(QUESTIONS).format(thing, self.random.randrange(1000))

    def _questions_shown(self) -> list[MessageRow]:
        return self.person.window.transcript.rows[::2]

    # -- acts on messages ------------------------------------------------------------------------------------

    def edit_question(self) -> None:
        """Edit an earlier question, read its answer and go back to the first version."""
        row = self.random.choice(self._questions_shown()[-NEARBY:])
        first, place = row.id, self.person.window.transcript.rows.index(row)
        row.view.asked.emit(Action.EDIT)
        editor = row.editor.editor
        editor.selectAll()
        QTest.keyClicks(editor, self._question())
        QTest.keyClick(editor, Key.Key_Return, CTRL)
        self.person.read()
        edited = self.person.window.transcript.rows[place]
        edited.view.version_asked.emit(1 + edited.versions.index(first))

    def edit_answer(self) -> None:
        """Rewrite the last answer with formulas, code and a table, and go back to the first version."""
        row = self.person.last
        first = row.id
        row.view.asked.emit(Action.EDIT)
        editor = row.editor.editor
        editor.setPlainText(RICH.format(n=self.random.randrange(10**6)))
        QTest.keyClick(editor, Key.Key_Return, CTRL)
        QTest.qWait(500)  # formulas are drawn on another thread
        edited = self.person.last
        edited.view.version_asked.emit(1 + edited.versions.index(first))

    def branch(self) -> None:
        """Branch from the second answer, ask there, delete the branch."""
        row = self.person.window.transcript.rows[min(3, len(self.person.window.transcript.rows) - 1)]
        row.view.asked.emit(Action.BRANCH)
        self.person.ask(self._question())
        self._press_in_chats(Key.Key_Delete)
        assert self.person.chat.id is None, "the branch was not deleted"
        self._return()

    def _press_in_chats(self, key: Qt.Key, held: Qt.KeyboardModifier = NONE) -> None:
        """Press a key in the list of chats, where the shown chat is the current row."""
        sidebar = self.person.window.sidebar
        sidebar.show_chat(self.person.chat.id)
        sidebar.view.setFocus()
        self.person.press(key, held, on=sidebar.view)

    def regenerate(self) -> None:
        self.person.press(Key.Key_Return, CTRL, on=self.person.window)
        self.person.read()

    def repeat_with_same_seed(self) -> None:
        self.person.last.view.asked.emit(Action.AGAIN)
        self.person.read()

    def stop_and_continue(self) -> None:
        begun = self.person.waiter(self.person.chat.text_added)
        self.person.begin("Count to a thousand.")
        begun()
        QTest.mouseClick(self.person.window.composer.button, Qt.MouseButton.LeftButton)
        self._read_rest()
        self.person.last.view.asked.emit(Action.CONTINUE)
        self._read_rest()

    def _read_rest(self) -> None:
        """Wait for the answer in progress, unless it has just ended."""
        if self.person.engine.state is not State.READY:
            self.person.read()

    # -- acts on models --------------------------------------------------------------------------------------

    def change_drafter(self) -> None:
        """Ask with each of two other drafters."""
        chat = self.person.chat
        usual = chat.settings
        for name in self.random.sample(self.person.engine.pair.drafters, 2):
            chat.set_settings(structs.replace(usual, options=structs.replace(usual.options, drafter=name)))
            self.regenerate()
        chat.set_settings(usual)

    def change_model(self) -> None:
        """Load another pair, ask in a new chat, load the usual pair again."""
        self.person.press(Key.Key_N, CTRL)
        self._load(self.other)
        self.person.ask(self._question())
        self._return()
        self._load(RecentPair())

    def _load(self, pair: RecentPair) -> None:
        loaded = self.person.waiter(self.person.engine.loaded)
        self.person.window.load(pair)
        loaded()

    # -- other acts ------------------------------------------------------------------------------------------

    def search(self) -> None:
        """Find a word of the questions, open the hit, return."""
        window = self.person.window
        searching = window.search.findChild(Searching)
        found = self.person.waiter(searching.found)
        self.person.press(Key.Key_K, CTRL)
        found()
        found = self.person.waiter(searching.found)
        window.search.field.setText(f"{self.random.choice(THINGS)} {self.random.choice('abcdefgh')}")
        found()
        self.person.press(Key.Key_Return, on=window.search.field)
        window.search.dismiss()
        QTest.qWait(300)
        self._return()

    def export(self) -> None:
        """Export the chat to a file, in a format chosen by chance."""
        sidebar = self.person.window.sidebar
        path = self.person.folder / f"chat.{self.random.choice(('md', 'txt', 'json', 'specexec-chat'))}"
        path.unlink(missing_ok=True)
        done = self.person.waiter(sidebar.findChild(ChatTransfer).written)
        self.person.choose_file(path)
        self._press_in_chats(Key.Key_E, CTRL)
        done()

    def switch_chats(self) -> None:
        """Ask in a chat beside, and return."""
        if self._side is None or self.random.random() < 0.3:
            self.person.press(Key.Key_N, CTRL)
        else:
            self.person.window.sidebar.chat_chosen.emit(self._side)
        self.person.ask(self._question())
        self._side = self.person.chat.id
        self._return()

    def _return(self) -> None:
        self.person.window.sidebar.chat_chosen.emit(self.chat)

    def look_around_settings(self) -> None:
        """Open the settings, turn all pages, change the theme."""
        dialog = open_settings(self.person)
        for place in range(dialog.tabs.count()):
            dialog.tabs.setCurrentIndex(place)
            QTest.qWait(30)
        choose(dialog.appearance_page.rows["theme"].editor, self.random.choice((1, 2)))
        QTest.qWait(200)
        dialog.close()

    def look_around_panel(self) -> None:
        """Turn the panel's pages, step back through iterations, colour the answer; close and open the
        panel."""
        panel, switch = self.person.window.panel, self.person.window.header.panel_switch
        switch.setChecked(True)
        for place in range(panel.pages.count()):
            panel.pages.setCurrentIndex(place)
            QTest.qWait(30)
        panel.pages.setCurrentIndex(0)
        panel.step(-2)
        self.person.click("Colour the answer", panel)
        QTest.qWait(100)
        self.person.click("Colour the answer", panel)
        panel.pause(False)
        switch.click()
        self.regenerate()
        switch.click()

    def look_at_models_and_keys(self) -> None:
        """Open and close the model picker, the page of shortcuts and the sidebar."""
        header = self.person.window.header
        header.open_picker()
        QTest.qWait(100)
        header.picker.hide()
        self.person.press(Key.Key_F1, on=self.person.window)
        self.person.press(Key.Key_Escape, on=QApplication.activeModalWidget())
        header.sidebar_switch.click()
        header.sidebar_switch.click()

    def resize(self) -> None:
        size = self.person.window.size()
        self.person.window.resize(1024, 640)
        QTest.qWait(100)
        self.person.window.resize(size)
        QTest.qWait(100)


Act = Callable[[Sitting], None]
ACTS: tuple[Act, ...] = (
    Sitting.edit_question,
    Sitting.edit_answer,
    Sitting.branch,
    Sitting.regenerate,
    Sitting.repeat_with_same_seed,
    Sitting.stop_and_continue,
    Sitting.change_drafter,
    Sitting.change_model,
    Sitting.search,
    Sitting.export,
    Sitting.switch_chats,
    Sitting.look_around_settings,
    Sitting.look_around_panel,
    Sitting.look_at_models_and_keys,
    Sitting.resize,
)


def shuffled(
    acts: Sequence[Callable[[Sitting], None]], random: Random
) -> Iterator[Callable[[Sitting], None]]:
    """Yield acts in a random order, each of them equally often."""
    while True:
        yield from random.sample(acts, len(acts))
