"""Builds the masks of the answers of one model, from what a request asks for."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from engine.constraint.check import check
from engine.constraint.grammar import Grammars, bad
from engine.constraint.masks import Bits, Free, Masks, PathState, packed
from engine.constraint.thought import Before, Headed, Inside, ThoughtRules
from engine.errors import BadOption
from engine.protocol import Constraint, thoughts
from engine.protocol.thoughts import ANSWER_HEADERS, CHANNEL, FORCED_HEADERS, START, THOUGHT_MARKS
from engine.tokenizer import Tokenizer

_TAIL = 16  # tokens at the end of a prompt that may hold an opening mark
_MARKS = {opening.encode(): closing.encode() for opening, closing in THOUGHT_MARKS.items()}


class Constraints:
    """Builds masks for one tokenizer. What takes long is kept for later answers: a vocabulary of 152,000
    tokens takes 1 s once."""

    def __init__(self, tokenizer: Tokenizer, vocabulary: int) -> None:
        """vocabulary: number of tokens that the model has."""
        self._tokenizer = tokenizer
        self._vocabulary = vocabulary
        self._compilers: dict[frozenset[str], Grammars] = {}

    def masks(
        self,
        constraint: Constraint | None,
        thinking_budget: int | None,
        prompt: Sequence[int],
        begun: str,
        shown: frozenset[str] = frozenset(),
    ) -> Masks:
        """Return the masks of an answer.

        prompt: the tokens before the answer; begun: the text with which the answer already begins; shown:
        the special tokens whose names are part of the answer's text. Raises
        BadConstraint; BadOption if `begun` does not satisfy the constraint.
        """
        answer: PathState = Free()
        if constraint:
            if not self._tokenizer.eos_ids:
                raise bad(constraint, "the model names no token that ends an answer")
            check(constraint)
            answer = self._grammars(shown).start(constraint)
        answers = dict.fromkeys(_MARKS, answer)
        rules = ThoughtRules(
            self._tokens,
            _MARKS,
            self._closings if constraint else self._closings_with_headers,
            self._openers,
            self._spelled,
            self._tokenizer.encode,
            self._no_ends,
            answers,
            constraint is not None,
            thinking_budget,
        )
        before = b"".join(self._tokens[token] for token in prompt[-_TAIL:]).rstrip()
        opened = thoughts.opened(before.decode(errors="replace")).encode()
        if constraint and not self._names_channels(constraint, answer):
            for opening, header in FORCED_HEADERS.items():
                answers[opening.encode()] = Headed(rules, header.encode(), answer)
            if before.endswith(START.encode()) and (not begun or begun.lstrip().startswith(CHANNEL)):
                answer = Headed(rules, ANSWER_HEADERS[1].encode(), answer)
        state: PathState | None = Inside(rules, opened) if opened else Before(rules, answer)
        for token in self._tokenizer.encode_plain(begun) if begun else ():
            state = state and state.after(token)
        if state is None:
            raise BadOption(
                "The beginning of the answer does not satisfy the constraint.",
                "Ask for the whole answer again, or leave out the constraint.",
            )
        return Masks(state)

    def _names_channels(self, constraint: Constraint, answer: PathState) -> bool:
        """Return whether the constraint is a grammar of whole messages, with their headers, as those of calls
        are."""
        return constraint.kind == "grammar" and answer.after(self._tokenizer.encode(CHANNEL)[0]) is not None

    @cached_property
    def _tokens(self) -> list[bytes]:
        return self._tokenizer.token_bytes()

    def _grammars(self, shown: frozenset[str]) -> Grammars:
        """Return the compiler for answers in which the special tokens `shown` are text like any other."""
        tokenizer = self._tokenizer
        names = shown.intersection(tokenizer.special_names)
        if names not in self._compilers:
            special = tokenizer.special_ids - {tokenizer.special_names[name] for name in names}
            known = self._tokens[: self._vocabulary]
            self._compilers[names] = Grammars(known, tokenizer.eos_ids, special, tokenizer.encode_plain)
        return self._compilers[names]

    @cached_property
    def _no_ends(self) -> Bits:
        flags = np.ones(len(self._tokens), np.bool_)
        flags[list(self._tokenizer.eos_ids)] = False
        return np.packbits(flags, bitorder="little")

    @cached_property
    def _openers(self) -> Bits:
        return packed(token for token, text in enumerate(self._tokens) if text in _MARKS)

    @cached_property
    def _spelled(self) -> list[bytes]:
        """The opening marks of several tokens that begin with a special one."""
        firsts = [self._tokens[token] for token in self._tokenizer.special_ids if token < len(self._tokens)]
        begins = tuple(filter(None, firsts))
        return [opening for opening in _MARKS if opening.startswith(begins) and opening not in begins]

    @cached_property
    def _closings(self) -> dict[bytes, list[int]]:
        return {opening: self._tokenizer.encode(closing.decode()) for opening, closing in _MARKS.items()}

    @cached_property
    def _closings_with_headers(self) -> dict[bytes, list[int]]:
        """The tokens of each closing mark, with the header of the answer that follows it."""
        headers = {opening.encode(): header for opening, header in FORCED_HEADERS.items()}
        return {
            opening: self._tokenizer.encode(closing.decode() + headers[opening])
            if opening in headers
            else tokens
            for (opening, closing), tokens in zip(_MARKS.items(), self._closings.values(), strict=True)
        }
