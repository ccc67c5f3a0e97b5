"""The thought with which some models begin an answer: the marks around it, and how to split it off."""

# The closing mark by the opening one.
THOUGHT_MARKS = {
    "<think>": "</think>",
    "<thinking>": "</thinking>",
    "<thought>": "</thought>",
    "<reasoning>": "</reasoning>",
    "<seed:think>": "</seed:think>",
    "[THINK]": "[/THINK]",
    "◁think▷": "◁/think▷",
    "<|START_THINKING|>": "<|END_THINKING|>",
    "<|begin_of_thought|>": "<|end_of_thought|>",
    "<|channel|>analysis<|message|>": "<|end|>",
    "<|channel>thought": "<channel|>",  # Gemma 4, in the chat template that Google publishes with it
}
# gpt-oss answers in messages with headers (openai/harmony, docs/format.md); this one begins the answer.
# Its prompts end with the start of one.
START, CHANNEL = "<|start|>assistant", "<|channel|>"
_FINAL = f"{CHANNEL}final<|message|>"
ANSWER_HEADERS = (f"{START}{_FINAL}", _FINAL)
# Seed-OSS's prompt without thinking goes on with this behind the opening mark: the model writes there that it
# is not to think, and closes the thought (chat template of Seed-OSS; ggml-org/llama.cpp, models/templates).
BUDGET_NOTE = "<seed:cot_budget_reflect>"
# What follows a closing mark that is forced, by the opening mark.
FORCED_HEADERS = {"<|channel|>analysis<|message|>": ANSWER_HEADERS[0]}
MARKS = (*THOUGHT_MARKS, *THOUGHT_MARKS.values())
# The special tokens that are a mark, or a part of one.
SHOWN = (*MARKS, "<|start|>", "<|channel|>", "<|message|>", "<|channel>")


def opened(text: str) -> str:
    """Return the opening mark that `text`, the end of a prompt, ends with, or "". An answer to that prompt
    begins within a thought."""
    text = text.rstrip().removesuffix(BUDGET_NOTE).rstrip()
    return next((opening for opening in THOUGHT_MARKS if text.endswith(opening)), "")


def divided(text: str, opened: str = "") -> tuple[str, str]:
    """Return the thought with which a complete text begins, or "", and the answer proper. opened: as in
    `ThoughtSplitter`."""
    splitter = ThoughtSplitter(opened)
    parts = splitter.add(text), splitter.finish()
    return parts[0][0] + parts[1][0], parts[0][1] + parts[1][1]


def closing_of(text: str, opened: str = "") -> str:
    """Return the mark that closes the thought in which `text` ends, or "" if it ends in none."""
    splitter = ThoughtSplitter(opened)
    splitter.add(text)
    return splitter.closing if splitter.is_inside else ""


class ThoughtSplitter:
    """Divides a text that arrives in pieces into the thought with which it may begin, and the answer proper.

    Text that may be the beginning of a mark is held back, and so is the white space that surrounds the
    thought. A header of the answer proper is left out. However the text is cut into pieces, the result is
    the same.

    Attributes: `has_thought`, whether there is a thought; `is_inside`, whether the text is within it;
    `closing`, the mark that closes it, "" as long as there is none.
    """

    def __init__(self, opened: str = "") -> None:
        """opened: the mark of a thought that has been opened before the text, or ""."""
        self.closing = THOUGHT_MARKS.get(opened, "")
        self._held = ""
        self._is_undecided = not opened
        self._has_words = False  # whether the thought has had any
        self._skips = False  # whether the white space after the thought is being left out
        self._is_first = True  # whether the answer proper has not begun
        self.has_thought = self.is_inside = bool(opened)

    def add(self, text: str) -> tuple[str, str]:
        """Add a piece; return what it adds to the thought, and what to the answer proper."""
        self._held += text
        if self._is_undecided:
            self._decide()
        thought = self._thought() if self.is_inside else ""
        return thought, "" if self.is_inside or self._is_undecided else self._rest()

    def finish(self) -> tuple[str, str]:
        """Return what is still held back: the text is complete."""
        held, self._held = self._held, ""
        if self.is_inside:
            return self._spaced(held).rstrip(), ""
        return "", held.lstrip() if self._skips else held

    def _decide(self) -> None:
        begun = self._held.lstrip()
        for opening, closing in THOUGHT_MARKS.items():
            if begun.startswith(opening):
                self.closing, self._held = closing, begun[len(opening) :]
                self.has_thought = self.is_inside = True
        self._is_undecided = not self.is_inside and any(mark.startswith(begun) for mark in THOUGHT_MARKS)

    def _thought(self) -> str:
        found = self._held.find(self.closing)
        if found >= 0:
            text, self._held = self._held[:found].rstrip(), self._held[found + len(self.closing) :]
            self.is_inside, self._skips = False, True
            return self._spaced(text)
        # White space before the closing mark is held back together with a part of the mark.
        keep = overlap(self._held, self.closing)
        keep = len(self._held) - len(self._held[: len(self._held) - keep].rstrip())
        text, self._held = self._held[: len(self._held) - keep], self._held[len(self._held) - keep :]
        return self._spaced(text)

    def _spaced(self, text: str) -> str:
        """Return a piece of the thought, without the white space with which the thought begins."""
        text = text if self._has_words else text.lstrip()
        self._has_words = self._has_words or bool(text)
        return text

    def _rest(self) -> str:
        if self._is_first:
            begun = self._held.lstrip()
            header = next((header for header in ANSWER_HEADERS if begun.startswith(header)), "")
            if not header and any(header.startswith(begun) for header in ANSWER_HEADERS):
                return ""
            self._is_first = False
            if header:
                self._held, self._skips = begun[len(header) :], True
        text, self._held = self._held.lstrip() if self._skips else self._held, ""
        self._skips = self._skips and not text
        return text


def overlap(text: str, mark: str) -> int:
    """Return the length of the longest end of `text` with which `mark` begins, without being complete."""
    return next((n for n in range(min(len(text), len(mark) - 1), 0, -1) if text.endswith(mark[:n])), 0)
