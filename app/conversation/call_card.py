"""A card below an answer for a call of a tool: what is called with what, the user's decision, the result."""

import json
from enum import Enum, auto

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.rendering.quiet_button import QuietButton
from app.store import StoredCall
from app.widgets.flow import Flow
from app.widgets.form_parts import Card, button, label

SHOWN = 4000  # characters of arguments or of a result


class Decision(Enum):
    """The user's decision about a call."""

    ONCE = auto()
    ALWAYS = auto()
    REFUSE = auto()  # also stops one that runs


class CallCard(Card):
    """Shows one call. Arguments and result are untrusted: plain text, which is never rendered.

    Attributes:
        title, arguments, state, result: its labels; the result is folded away until the user asks for it.
        once, always, refuse: the buttons of an open call; `refuse` stops a running one.
        switch: shows the result.

    Signals:
        decided: str, Decision: the call's id and what the user wants
    """

    decided = Signal(str, Decision)

    def __init__(self, call: StoredCall, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.call, self._is_running = call, False
        self.title = label(role="name", parent=self)
        self.arguments = label(_shown(call.arguments), "code", self)
        self.arguments.setAccessibleName(self.tr("Arguments"))
        self.state = label(role="caption", parent=self)
        self.once = button(self.tr("Allow once"), parent=self)
        self.once.setProperty("role", "main")
        self.always = button(self.tr("Always allow"), parent=self)
        self.refuse = button("", parent=self)
        self.switch = QuietButton("", self.tr("Show or hide what the tool answered"), self)
        self.switch.setCheckable(True)
        self.result = label(role="muted", parent=self)
        self.result.setAccessibleName(self.tr("What the tool answered"))
        decisions = {self.once: Decision.ONCE, self.always: Decision.ALWAYS, self.refuse: Decision.REFUSE}
        buttons = Flow()
        for each, decision in decisions.items():
            each.clicked.connect(lambda _=False, meant=decision: self.decided.emit(self.call.id, meant))
            buttons.addWidget(each)
        for widget in (self.title, self.arguments, self.state):
            self.column.addWidget(widget)
        self.column.addLayout(buttons)
        self.column.addWidget(self.switch)
        self.column.addWidget(self.result)
        self.switch.toggled.connect(self._fold)
        self._show()

    def show_call(self, call: StoredCall, *, is_running: bool) -> None:
        """Show what has become of the call."""
        if (call, is_running) != (self.call, self._is_running):
            self.call, self._is_running = call, is_running
            self._show()

    def _show(self) -> None:
        call, is_open = self.call, self.call.state == "open"
        self.title.setText(
            self.tr("{} of the tool server {}").format(call.name, call.server) if call.server else call.name
        )
        self.arguments.setVisible(call.arguments.strip() not in ("", "{}"))
        self.state.setText(self._words())
        for each in (self.once, self.always):
            each.setVisible(is_open and not self._is_running)
        self.refuse.setVisible(is_open)
        self.refuse.setText(self.tr("Stop") if self._is_running else self.tr("Refuse"))
        self.refuse.setAccessibleName(self.refuse.text())
        self.setAccessibleName(f"{self.title.text()}. {self.state.text()}")
        self.result.setText(call.result[:SHOWN])
        self.switch.setVisible(call.state in ("done", "failed"))
        self._fold(self.switch.isChecked())

    def _words(self) -> str:
        match self.call.state:
            case "open" if self._is_running:
                return self.tr("Running…")
            case "open":
                return self.tr("The model wants to call this tool with these arguments. Allow it?")
            case "done":
                return self.tr("Called. The answer is not checked: it may be wrong or try to mislead.")
            case "failed":
                return self.tr("Failed")
            case "refused":
                return self.tr("Not called")

    def _fold(self, is_shown: bool) -> None:
        text = self.tr("Answer of the tool")
        self.switch.setText(f"{'▾' if is_shown else '▸'} {text}")
        self.result.setVisible(is_shown and self.call.state in ("done", "failed"))


def _shown(arguments: str) -> str:
    """Return arguments on several lines if they are JSON."""
    try:
        text = json.dumps(json.loads(arguments), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        text = arguments
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"
