"""Says how full the model's context is, and offers ways on when it is nearly full."""

from PySide6.QtCore import QCoreApplication, Signal
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from app import formatting
from app.widgets.flow import Flow
from app.widgets.plain_text import PlainLabel
from app.widgets.wrapped_button import AS_OTHERS, WrappedButton

SHOWN_FROM, NEAR = 0.25, 0.85  # shares of the context


class ContextBar(QWidget):
    """One line, hidden while there is plenty of room; nearly full, it has three buttons.

    Signals:
        new_chat_asked: the user wants to send the message in a new chat
        leave_out_asked: the user wants the oldest turns to be left out
        larger_asked: int, the number of tokens of the context that the user wants
    """

    new_chat_asked = Signal()
    leave_out_asked = Signal()
    larger_asked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._larger = 0  # tokens of the context that is offered
        self._is_near = self._has_larger = False
        self._notices = 0  # that offer to leave out turns or a larger context themselves
        self.label = PlainLabel(parent=self)
        self.label.setWordWrap(True)
        self.new_chat = QPushButton(self.tr("New chat with this"), self)
        self.new_chat.clicked.connect(self.new_chat_asked)
        self.leave_out = WrappedButton(self, above=AS_OTHERS)
        self.leave_out.setText(self.tr("Leave out the oldest turns"))
        self.leave_out.setToolTip(
            self.tr("The model then reads the newest questions and answers only. The chat keeps all of them.")
        )
        self.leave_out.clicked.connect(self.leave_out_asked)
        self.larger = WrappedButton(self, above=AS_OTHERS)
        self.larger.clicked.connect(lambda: self.larger_asked.emit(self._larger))
        column = QVBoxLayout(self)
        column.setContentsMargins(4, 0, 0, 0)
        column.addWidget(self.label)
        column.setSpacing(4)
        buttons = Flow()
        buttons.setSpacing(4)
        for button in (self.new_chat, self.leave_out, self.larger):
            buttons.addWidget(button)
        column.addLayout(buttons)
        self.hide()

    def show_use(self, used: int, adds: int, context: int, token_nbytes: int, *, longest: int = 0) -> None:
        """Show how much of the context is taken, in tokens.

        used: by the chat so far; adds: by the message being written, about; token_nbytes: what each further
        token of context takes, 0 if it is not known; longest: the largest context that the model can be
        loaded with, 0 if it is not known.
        """
        share = (used + adds) / context
        is_near = share >= NEAR
        words = self.tr("{} of {} tokens of the context are used.").format(
            formatting.number(used), formatting.number(context)
        )
        if adds:
            words += " " + self.tr("This message adds about {}.").format(formatting.number(adds))
        if share > 1:
            words += " " + self.tr("That is more than fits.")
        role = "danger" if is_near else "caption"
        if self.label.property("role") != role:
            self.label.setProperty("role", role)
            self.label.style().unpolish(self.label)
            self.label.style().polish(self.label)
        self.label.setText(words)
        self._larger, text = larger_context(used + adds, context, longest, token_nbytes)
        self.larger.setText(text)
        self._is_near, self._has_larger = is_near, self._larger > context
        self._show_ways()
        self.setVisible(share >= SHOWN_FROM)

    def leave_ways_to(self, notice: QWidget) -> None:
        """Do not offer what `notice` offers, too, as long as it is there."""
        self._notices += 1
        self._show_ways()
        notice.destroyed.connect(self._forget_notice)

    def _forget_notice(self) -> None:
        self._notices -= 1
        self._show_ways()

    def _show_ways(self) -> None:
        self.new_chat.setVisible(self._is_near)
        self.leave_out.setVisible(self._is_near and not self._notices)
        self.larger.setVisible(self._is_near and self._has_larger and not self._notices)

    def allow_leaving_out(self, allowed: bool) -> None:
        """Set whether there are turns that can be left out now."""
        self.leave_out.setEnabled(allowed)


def larger_context(tokens: int, context: int, longest: int, token_nbytes: int) -> tuple[int, str]:
    """Return a larger context in which the tokens leave room, and the words that offer it with its cost.

    longest: the most that the model allows, 0 if it is not known; token_nbytes: as in `ContextBar.show_use`.
    """
    larger = 2 * context
    while tokens >= NEAR * larger:
        larger *= 2
    larger = min(larger, longest or larger)
    size = formatting.number(larger)
    if not token_nbytes:
        return larger, _tr("Larger context: {} tokens").format(size)
    more = formatting.nbytes(token_nbytes * (larger - context))
    return larger, _tr("Larger context: {} tokens, {} more memory").format(size, more)


def _tr(text: str) -> str:
    return QCoreApplication.translate("ContextBar", text)
