"""Grammars: JSON schemas, regular expressions, Lark and GBNF grammars and lists of choices, by llguidance.

llguidance works on bytes. Its masks contain every token whose bytes may follow, also where only one text is
possible: forced bytes do not fix the tokenization (`no_forcing`).
"""

import json
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass

import llguidance
import numpy as np
from llguidance.gbnf_to_lark import any_to_lark

from engine.calls.grammar import WHITE_SPACE
from engine.constraint.masks import NOTHING, Bits, Ended, PathState
from engine.errors import BadConstraint
from engine.protocol import Constraint

TEXT_LIMIT = 1 << 20  # characters of a schema or grammar
REASON_LIMIT = 240  # characters of an error message from llguidance
WORDS = {
    "json_schema": "JSON schema",
    "json_object": "JSON object",
    "regex": "regular expression",
    "grammar": "grammar",
    "choice": "list of choices",
}
_LIMITS = llguidance.LLParserLimits(verbose_errors=False)


def definition(constraint: Constraint) -> str:
    """Return the grammar in llguidance's dialect of Lark. Raises BadConstraint if it cannot be read."""
    text = constraint.text
    if len(text) > TEXT_LIMIT or sum(map(len, constraint.choices)) > TEXT_LIMIT:
        raise bad(constraint, "it is too long")
    try:
        match constraint.kind:
            case "json_schema":
                rules = f"start: %json {json.dumps(_schema(json.loads(text)))}"
            case "json_object":
                rules = f"start: %json {json.dumps(_schema({'type': 'object'}))}"
            case "regex":
                rules = f"start: /{llguidance.regex_to_lark(text)}/"
            case "grammar":
                rules = any_to_lark(text)
            case "choice":
                if not constraint.choices or not all(constraint.choices):
                    raise ValueError("a choice is empty")
                quoted = [json.dumps(each, ensure_ascii=False) for each in constraint.choices]
                rules = "start: " + " | ".join(quoted)
    except RecursionError as error:
        raise bad(constraint, "it is nested too deeply") from error
    except Exception as error:  # the converter from GBNF raises errors of many kinds
        raise bad(constraint, str(error)) from error
    return f'%llguidance {{"no_forcing": true}}\n{rules}'


def _schema(schema: object) -> object:
    """Return a JSON schema with this module's settings in place of its own."""
    if isinstance(schema, bool):
        schema = {} if schema else {"not": {}}
    if not isinstance(schema, dict):
        raise ValueError("a schema is a JSON object")
    return {**schema, "x-guidance": {"whitespace_pattern": WHITE_SPACE}}


def _reason(error: str) -> str:
    """Return an error of llguidance without its place in the grammar and its excerpt of it."""
    text = re.sub(r"(?s)^at \d+\(\d+\): |\s+1 \|.*|<non-verbose/>.*", "", error)
    text = text.replace("Enable 'coerce_one_of' option to approximate oneOf with anyOf", "Use anyOf instead")
    return text.removeprefix("failed to compile JSON schema: ")


def bad(constraint: Constraint, reason: str) -> BadConstraint:
    reason = " ".join(reason.split())[:REASON_LIMIT].rstrip(".")
    return BadConstraint(
        f"The {WORDS[constraint.kind]} cannot be used: {reason}.",
        "Correct or simplify it; docs/constraints.md lists what is supported.",
    )


class _Spelling:
    """A tokenizer as llguidance asks for it."""

    bos_token_id = None

    def __init__(
        self, tokens: list[bytes], ends: list[int], special: list[int], encode: Callable[[str], list[int]]
    ) -> None:
        self.tokens = tokens
        self.eos_token_id = ends[0]
        self.special_token_ids = special
        self._encode = encode

    def __call__(self, text: bytes) -> list[int]:
        return self._encode(text.decode(errors="ignore"))


class Grammars:
    """Compiles grammars for one vocabulary."""

    def __init__(
        self,
        tokens: list[bytes],
        ends: Collection[int],
        special: Collection[int] = (),
        encode: Callable[[str], list[int]] = lambda text: [],
    ) -> None:
        """tokens: the bytes of each token; ends: the tokens that end a text; special: those without text;
        encode: the usual spelling of a text, for guesses."""
        self._ends = frozenset(ends)
        named = sorted(token for token in {*special, *ends} if token < len(tokens))
        spelling = _Spelling(tokens, sorted(ends), named, encode)
        self._tokenizer = llguidance.LLTokenizer(
            llguidance.TokenizerWrapper(spelling), n_vocab=len(tokens), eos_token=sorted(ends)
        )

    def start(self, constraint: Constraint) -> PathState:
        """Return the state before the first token. Raises BadConstraint."""
        grammar = llguidance.LLMatcher.grammar_from_lark(definition(constraint))
        matcher = llguidance.LLMatcher(self._tokenizer, grammar, log_level=0, limits=_LIMITS)
        if matcher.is_error():
            raise bad(constraint, _reason(matcher.get_error()))
        state = GrammarState(matcher, self._ends)
        if not state.allowed().any():
            raise bad(constraint, "no text satisfies it")
        return state


@dataclass(frozen=True, slots=True)
class GrammarState(PathState):
    """What the tokens so far mean to a grammar. A copy of the matcher takes 3 µs, a mask 3 to 600 µs."""

    matcher: llguidance.LLMatcher
    ends: frozenset[int]

    def allowed(self) -> Bits:
        bits = np.frombuffer(self.matcher.compute_bitmask(), np.uint8)
        return NOTHING if self.matcher.is_error() else bits

    def guess(self) -> int | None:
        matcher = self.matcher.deep_copy()  # what follows changes it
        tokens = matcher.compute_ff_tokens() if matcher.compute_ff_bytes() else ()
        return tokens[0] if tokens else None

    def after(self, token: int) -> PathState | None:
        if token in self.ends:
            return Ended() if self.matcher.is_accepting() else None
        if not self.matcher.validate_tokens([token]):
            return None
        matcher = self.matcher.deep_copy()
        matcher.consume_token(token)
        return GrammarState(matcher, self.ends)
