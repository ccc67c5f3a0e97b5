"""Turn token ids back into text, streamed without half characters, and tokens into the bytes they spell."""

from collections.abc import Mapping

import tokenizers

from engine.tokenizer.parts import DAMAGED, named_errors

HALF = "\ufffd"  # written by decoders for bytes that are not (yet) a character

# GPT-2's alphabet, which spells every byte as one printable character (openai/gpt-2, src/encoder.py).
# Printable Latin-1 characters stand for themselves; the other bytes, in order, are spelled U+0100 and up.
_PRINTABLE = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
_OTHER = [byte for byte in range(256) if byte not in _PRINTABLE]
BYTE_OF = {chr(byte): byte for byte in _PRINTABLE} | {
    chr(0x100 + index): byte for index, byte in enumerate(_OTHER)
}


def spelled_bytes(token: str) -> bytes | None:
    """Return the bytes that `token` spells in GPT-2's alphabet, or None if it has other characters."""
    values = [BYTE_OF.get(char) for char in token]
    return None if None in values else bytes(byte for byte in values if byte is not None)


class TextStream:
    """The text of a growing sequence of ids, piece by piece. The pieces together are exactly `decode(ids)`.

    A token's text depends on the tokens before it (a decoder may drop the first space; several tokens may
    form one character), so the newest ids are decoded together with the last finished piece, and only the
    new text is returned.
    """

    def __init__(
        self,
        backend: tokenizers.Tokenizer,
        special: frozenset[int],
        fallback: frozenset[int],
        shown: Mapping[int, str],
    ) -> None:
        """special: ids of special tokens, which have no text. fallback: ids of byte tokens, which stand for
        one byte each. shown: the texts of those special tokens that do have one."""
        self._backend = backend
        self._shown = shown
        self._special = special
        self._fallback = fallback
        self._before: list[int] = []  # the last finished piece
        self._open: list[int] = []  # ids whose text has not been returned yet

    def step(self, token: int) -> str:
        """Return the text that `token` completes. It is "" for special tokens, within a character, and within
        a run of byte tokens."""
        if token in self._shown:
            return self.flush() + self._shown[token]
        if token in self._special:
            return ""
        self._open.append(token)
        # A run of byte tokens is decoded as a whole: its first characters are not certain before it ends.
        if token in self._fallback:
            return ""
        text = self._new_text()
        if not text or text.endswith(HALF):
            return ""
        self._before, self._open = self._open, []
        return text

    def flush(self) -> str:
        """Return the remaining text; bytes of an incomplete character become U+FFFD."""
        text = self._new_text()
        self._before, self._open = [*self._before, *self._open], []
        return text

    def _new_text(self) -> str:
        with named_errors("The tokenizer cannot decode these tokens", DAMAGED):
            before: str = self._backend.decode(self._before)
            text: str = self._backend.decode(self._before + self._open)
        return text[len(before) :]
