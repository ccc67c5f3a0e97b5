"""Places of tokens in an answer: servers list tokens beside pieces of text, which need not be the same."""

from engine.protocol import Committed, TokenLogProbs

ToldToken = tuple[str, TokenLogProbs, list[str]]  # its text, its log-probabilities, the texts of the best


class TokenPlaces:
    """Finds the characters that listed tokens have produced.

    Text and tokens wait for each other until they are the same. Where they differ, as around a thought whose
    marks the server leaves out, both are given up, so that no token is shown for another one's characters.
    """

    def __init__(self) -> None:
        self._text = ""
        self._tokens: list[ToldToken] = []

    def place(self, end: int, text: str, tokens: list[ToldToken]) -> Committed | None:
        """Add text that ends at character `end` of the answer, and tokens that came with it. Return the
        tokens for which all text has come, or None."""
        self._text += text
        self._tokens += tokens
        listed = "".join(piece for piece, *_ in self._tokens)
        if not self._tokens:
            self._text = ""  # text whose tokens are not told
            return None
        if listed != self._text:
            if not (listed.startswith(self._text) or self._text.startswith(listed)):
                self._text, self._tokens = "", []
            return None
        placed, start = self._tokens, end - len(self._text)
        self._text, self._tokens = "", []
        return Committed(
            start=start,
            pieces=[piece for piece, *_ in placed],
            log_probs=[entry for _, entry, _ in placed],
            top_texts=[texts for *_, texts in placed],
        )
