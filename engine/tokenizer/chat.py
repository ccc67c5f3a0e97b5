"""Conversations to text, by the chat template a model brings; templates are run in transformers' sandbox."""

import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from engine.errors import BadOption, UnsupportedModel


def render(
    template: str,
    messages: Sequence[Mapping[str, str]],
    add_generation_prompt: bool,
    tokens: Mapping[str, str],
) -> str:
    """The text of `messages` in `template`; `tokens` are its bos_token, eos_token, ...

    Raises `BadOption` where the template refuses the messages, `UnsupportedModel` where it does not run.
    """
    # Imported here, because that takes a second and the rest of this package does not need them.
    from jinja2.exceptions import TemplateError
    from transformers.utils.chat_template_utils import render_jinja_template

    variables: dict[str, Any] = dict(tokens)
    conversation = [dict(message) for message in messages]
    try:
        found: Any = render_jinja_template(
            [conversation], chat_template=template, add_generation_prompt=add_generation_prompt, **variables
        )
    except TemplateError as error:
        if type(error) is TemplateError:  # the template's own raise_exception("...")
            raise BadOption(
                f"The model's chat template refuses this conversation: {str(error)[:200]}.",
                "Change the messages, for example leave the system message out.",
            ) from error
        raise _broken(error) from error
    except (TypeError, ValueError, KeyError, AttributeError, ArithmeticError, RecursionError) as error:
        raise _broken(error) from error
    text: str = found[0][0]
    return text


def _broken(error: Exception) -> UnsupportedModel:
    return UnsupportedModel(
        f"The model's chat template does not run: {str(error)[:200]}.", "Choose another file of this model."
    )


class Guard:
    """Keeps special tokens that a message merely spells out from being read as special tokens.

    Each is replaced by a mark before the template is applied, and found again in the rendered text: so the
    template may trim, repeat or drop messages. Texts without any, nearly all, go through unchanged.
    """

    def __init__(self, special: Iterable[str]) -> None:
        # The longest first, so that <|im_end|> is not taken for a shorter token in it.
        ordered = sorted(filter(None, special), key=len, reverse=True)
        self._special = re.compile("|".join(map(re.escape, ordered)) or r"(?!)")
        self._mark = f"\ufdd0{secrets.token_hex(8)}:%s\ufdd1"  # no text can have this
        self._taken: list[str] = []

    def take_out(self, text: str) -> str:
        return self._special.sub(self._take, text)

    def _take(self, match: re.Match[str]) -> str:
        self._taken.append(match[0])
        return self._mark % (len(self._taken) - 1)

    def pieces(self, rendered: str) -> Iterator[tuple[str, bool]]:
        """(text, whether it is to be read as mere text) one after another."""
        parts = re.split(self._mark % r"(\d+)", rendered)
        for index, part in enumerate(parts):
            if index % 2:
                yield self._taken[int(part)], True
            elif part:
                yield part, False
