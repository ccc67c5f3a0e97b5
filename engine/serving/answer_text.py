"""The text of an answer in progress: what its tokens spell, where it ends, and how long its thought is."""

from engine import protocol
from engine.protocol.thoughts import ThoughtSplitter
from engine.repetition import LoopDetector
from engine.serving.stop_strings import StoppableText
from engine.tokenizer import Tokenizer


class AnswerText:
    """Collects the tokens of an answer and decodes them, up to one that completes a stop string or a loop.

    Attributes: `tokens`, those so far; `characters`, the number of characters that they spell, whether
    released or not; `thought_tokens` and `thought_s`, tokens and seconds of the thought with which the answer
    begins.
    """

    def __init__(self, options: protocol.Options, tokenizer: Tokenizer, thought: str, beginning: str) -> None:
        """thought: the mark of the thought that the prompt leaves open, or "". beginning: the beginning of
        the answer, at the prompt's end."""
        self.tokens: list[int] = []
        self.characters = 0
        self.thought_tokens = 0
        self.thought_s = 0.0
        self._decoder = tokenizer.stream(options.shown)
        self._text = StoppableText(options.stop)
        self._loops = LoopDetector()
        self._stops_loops = options.stop_loops
        self._thought = ThoughtSplitter(thought)
        self._thought.add(beginning)

    @property
    def released(self) -> str:
        """The text that may be shown so far."""
        return self._text.text

    @property
    def stop_string(self) -> str:
        """The stop string that has ended the answer, or ""."""
        return self._text.found

    @property
    def is_loop(self) -> bool:
        """Whether the answer has ended because it goes round in a loop."""
        return self._loops.found and self._stops_loops

    @property
    def is_ended(self) -> bool:
        """Whether a stop string or a loop has ended the answer."""
        return self._text.stopped or self.is_loop

    def add(self, token: int, seconds: float) -> tuple[str, str]:
        """Add a token that was committed `seconds` after the first one; return its text, and the text that
        can be released now."""
        self.tokens.append(token)
        piece = self._decoder.step(token)
        self.characters += len(piece)
        released = self._text.add(piece)
        self._count_thought(piece, seconds)
        self._loops.add(token)
        return piece, released

    def finish(self) -> str:
        """Return the rest of the text: no token follows."""
        return self._text.finish(self._decoder.flush())

    def _count_thought(self, piece: str, seconds: float) -> None:
        """The token that closes the thought belongs to it."""
        if self._thought.is_inside or not self._thought.has_thought:
            self._thought.add(piece)
            if self._thought.has_thought:
                self.thought_tokens = len(self.tokens)
                self.thought_s = seconds
