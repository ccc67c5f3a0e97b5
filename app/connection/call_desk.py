"""Where calls of tools wait for the user, and run once they are allowed. Imports no widgets.

Everything here runs on the GUI thread, except the tools themselves. What a tool answers is stored as the
result of its call, and allows nothing.
"""

from PySide6.QtCore import QObject, Signal

from app.background import Work
from app.connection.answer_queue import AnswerQueue
from app.connection.store_errors import reporting
from app.preferences import PreferencesError
from app.store import Store, StoredCall
from app.store.records import CallState
from app.tools.listed import ToolResult
from app.tools.toolbox import Toolbox
from engine.errors import SpecExecError
from engine.hub import Stop

REFUSED = "The user does not allow this call."
PASSED_OVER = "The user did not decide, and wrote something else."
STOPPED = "The user has stopped this call."


class CallDesk(QObject):
    """Runs the calls that need no asking, and those that the user allows. Once all calls of an answer are
    settled, the queue is asked for the next answer.

    Attributes:
        running: chat and answer of each call that runs now, by the call's id.

    Signals:
        running_changed: `running` changed
        failed: SpecExecError; the store or the preferences cannot be written
    """

    running_changed = Signal()
    failed = Signal(object)

    def __init__(
        self, store: Store, toolbox: Toolbox, queue: AnswerQueue, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.running: dict[str, tuple[int, int]] = {}
        self._store, self._toolbox, self._queue = store, toolbox, queue
        self._work = Work(self)
        queue.called.connect(self._follow)
        queue.passed_over.connect(self._pass_over)

    def allow(self, chat: int, message: int, call: str, *, always: bool = False) -> None:
        """Run an open call. always: let its tool be called without asking from now on."""
        found = self._open(message, call)
        tool = self._toolbox.find(found.name) if found else None
        if found is None or tool is None:
            self._settle(chat, message, call, "failed", "The tool is no longer there.")
            return
        if always:
            try:
                self._toolbox.allow_always(tool)
            except PreferencesError as error:
                self.failed.emit(error)
        self._run(chat, message, found)

    def refuse(self, chat: int, message: int, call: str) -> None:
        """Refuse an open call, or stop it if it runs."""
        was_running = call in self.running
        self._leave(call)
        if was_running:  # it may have acted already, so it was called
            self._settle(chat, message, call, "failed", STOPPED)
        else:
            self._settle(chat, message, call, "refused", REFUSED)

    def drop(self, chat: int) -> None:
        """Stop the calls that run in a chat that was deleted."""
        for call, (place, message) in list(self.running.items()):
            if place == chat:
                self.refuse(chat, message, call)

    def pick_up(self, chat: int) -> None:
        """Go on in a chat whose deletion was undone, if it ends with calls: those that need no asking
        run, and results that nobody has answered meanwhile are answered. Calls that were passed over are
        left: the question for which they were has not been sent, and stands in the input field."""
        with reporting(self.failed):
            path = self._store.messages.shown(chat)
            last = path[-1].message if path else None
            if last is not None and last.calls and not any(map(_is_passed_over, last.calls)):
                self._follow(chat, last.id)

    def close(self) -> None:
        """End the calls that run, and all tool servers."""
        self._toolbox.links.close()
        self._work.close()

    def _follow(self, chat: int, message: int) -> None:
        """Run those calls of a new answer that need no asking."""
        with reporting(self.failed):
            calls = self._store.messages.calls(message)
            for call in calls:
                tool = self._toolbox.find(call.name)
                if call.state == "open" and tool is not None and tool.always:
                    self._run(chat, message, call)
            self._go_on(chat, message, calls)

    def _run(self, chat: int, message: int, call: StoredCall) -> None:
        tool = self._toolbox.find(call.name)
        if tool is None or call.id in self.running:
            return
        self.running[call.id] = chat, message
        self.running_changed.emit()

        def run(stop: Stop) -> ToolResult:
            return self._toolbox.run(tool, call.arguments, stop)

        def take(result: ToolResult) -> None:
            self._leave(call.id)
            self._settle(
                chat, message, call.id, "failed" if result.failed else "done", result.text or "(nothing)"
            )

        def fail(error: SpecExecError) -> None:
            self._leave(call.id)
            self._settle(chat, message, call.id, "failed", f"{error.message} {error.hint}".strip())

        self._work.run(call.id, run, take, fail)

    def _leave(self, call: str) -> None:
        self._work.forget(call)
        if call in self.running:
            del self.running[call]
            self.running_changed.emit()

    def _settle(self, chat: int, message: int, call: str, state: CallState, result: str) -> None:
        with reporting(self.failed):
            calls = self._store.messages.settle_call(message, call, state, result)
            self._queue.changed.emit(chat)
            self._go_on(chat, message, calls)

    def _go_on(self, chat: int, message: int, calls: list[StoredCall]) -> None:
        if all(call.state != "open" for call in calls):
            self._queue.go_on(chat, message)

    def _pass_over(self, chat: int, message: int) -> None:
        """Refuse the open calls of an answer, because the user goes on without them."""
        with reporting(self.failed):
            for call in self._store.messages.calls(message):
                if call.state == "open":
                    self._leave(call.id)
                    self._store.messages.settle_call(message, call.id, "refused", PASSED_OVER)
            self._queue.changed.emit(chat)

    def _open(self, message: int, call: str) -> StoredCall | None:
        with reporting(self.failed):
            calls = self._store.messages.calls(message)
            return next((each for each in calls if each.id == call and each.state == "open"), None)
        return None


def _is_passed_over(call: StoredCall) -> bool:
    return call.state == "refused" and call.result == PASSED_OVER
