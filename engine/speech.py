"""What an answer that has to begin again tells its listener."""

from collections.abc import Callable

from msgspec import structs

from engine import protocol

Emit = Callable[[protocol.Event], None]


class Speech:
    """Passes events on; of an answer that begins again, only the text that was not said before."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._said = self._heard = 0  # characters that went out, and that came in since the last beginning

    def __call__(self, event: protocol.Event) -> None:
        if isinstance(event, protocol.TextDelta):
            new = event.text[max(0, self._said - self._heard) :]
            self._heard += len(event.text)
            if not new:
                return
            self._said += len(new)
            event = structs.replace(event, text=new)
        self._emit(event)

    def begin_again(self) -> None:
        self._heard = 0

    def silent(self, event: protocol.Event) -> None:
        """For what nobody is to hear of."""
