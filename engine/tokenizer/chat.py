"""Conversations to text, by the chat template a model brings; what a message merely spells out stays text."""

import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence

from engine.errors import BadOption, UnsupportedModel
from engine.tokenizer.templates import Refused, templates


def render(
    template: str,
    messages: Sequence[Mapping[str, str]],
    add_generation_prompt: bool,
    tokens: Mapping[str, str],
) -> str:
    """The text of `messages` in `template`; `tokens` are its bos_token, eos_token, ...

    Raises `BadOption` where the template refuses the messages, `UnsupportedModel` where it does not run, or
    not within its bounds of time and memory.
    """
    try:
        return templates.render(
            template, [dict(message) for message in messages], add_generation_prompt, tokens
        )
    except Refused as refused:
        if refused.by_template:
            raise BadOption(
                f"The model's chat template refuses this conversation: {str(refused)[:200]}.",
                "Change the messages, for example leave the system message out.",
            ) from refused
        raise broken(str(refused)) from refused


def broken(reason: str) -> UnsupportedModel:
    return UnsupportedModel(
        f"The model's chat template does not run: {reason[:200]}.", "Choose another file of this model."
    )


class Guard:
    """Keeps special tokens that a message merely spells out from being read as special tokens.

    Each is replaced by a mark before the template is applied, and found again in the rendered text: so the
    template may trim, repeat or drop messages. Texts without any, nearly all, go through unchanged.
    """

    def __init__(self, special: Iterable[str]) -> None:
        # The longest first, so that <|im_end|> is not taken for a shorter token in it.
        self._special = sorted(filter(None, special), key=len, reverse=True)
        self._mark = f"\ufdd0{secrets.token_hex(8)}:%s\ufdd1"  # no text can have this
        self._taken: list[str] = []

    def take_out(self, text: str) -> str:
        found = [re.escape(token) for token in self._special if token in text]
        return re.sub("|".join(found), self._take, text) if found else text

    def _take(self, match: re.Match[str]) -> str:
        self._taken.append(match[0])
        return self._mark % (len(self._taken) - 1)

    def pieces(self, rendered: str) -> Iterator[tuple[str, bool]]:
        """(text, whether it is to be read as mere text) one after another.

        Raises `UnsupportedModel` where the template has made up a mark.
        """
        parts = re.split(self._mark % "([0-9]{1,9})", rendered)
        for index, part in enumerate(parts):
            if index % 2:
                if int(part) >= len(self._taken):
                    raise broken("it changes the text of messages")
                yield self._taken[int(part)], True
            elif part:
                yield part, False
