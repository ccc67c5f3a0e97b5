"""Token ids to text, one at a time, without ever showing half a character."""

import tokenizers

HALF = "\ufffd"  # what decoders write for bytes that are no character (yet)


class TextStream:
    """Text of a growing sequence. The pieces together are exactly `decode(ids)`.

    A token's text depends on what stands before it (a decoder may drop the first space; several tokens may
    make one character), so the newest ids are decoded together with the last finished piece, and only what
    is new is given.
    """

    def __init__(
        self, backend: tokenizers.Tokenizer, special: frozenset[int], fallback: frozenset[int]
    ) -> None:
        self._backend = backend
        self._special = special
        self._fallback = fallback
        self._before: list[int] = []  # the last finished piece
        self._open: list[int] = []  # ids whose text is not given yet

    def step(self, token: int) -> str:
        """The text that `token` completes; "" while a character is not complete, and for special tokens."""
        if token in self._special:
            return ""
        self._open.append(token)
        # A run of byte tokens is decoded as one: its first characters are not sure before it ends.
        if token in self._fallback:
            return ""
        text = self._new_text()
        if not text or text.endswith(HALF):
            return ""
        self._before, self._open = self._open, []
        return text

    def flush(self) -> str:
        """What is left at the end; bytes that never became a character are shown as U+FFFD."""
        text = self._new_text()
        self._before, self._open = [*self._before, *self._open], []
        return text

    def _new_text(self) -> str:
        before: str = self._backend.decode(self._before)
        text: str = self._backend.decode(self._before + self._open)
        return text[len(before) :]
