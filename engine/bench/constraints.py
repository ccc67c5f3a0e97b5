"""`specexec bench constraints`: answers that must satisfy JSON schemas. Each is checked against its schema by
code that knows nothing of masks, and compared with the answer of constrained plain decoding."""

import argparse
import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import Any

import msgspec

from engine import protocol
from engine.bench.estimates import mean
from engine.bench.options import say
from engine.bench.parting import parting_of
from engine.constraint.grammar import Grammars
from engine.constraint.masks import PathState
from engine.errors import Interrupted
from engine.serving.service import EngineService
from engine.terminal import Commands, add_command, add_model_options, cancelled_by_ctrl_c, load_request
from engine.tokenizer import Tokenizer

TOKENS = 400  # more than the longest text that a schema allows in practice
_WORD = {"type": "string", "minLength": 1, "maxLength": 24}


def _record(**properties: object) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


SCHEMAS = (
    _record(name=_WORD, born={"type": "integer", "minimum": 0, "maximum": 2030}),
    _record(answer={"enum": ["yes", "no", "it depends"]}, reason={"type": "string", "maxLength": 60}),
    _record(tags={"type": "array", "items": _WORD, "minItems": 2, "maxItems": 4}),
    _record(place=_record(city=_WORD, country=_WORD), visited={"type": "boolean"}),
    _record(score={"type": "number", "minimum": 0, "maximum": 10}, note={"anyOf": [_WORD, {"type": "null"}]}),
    _record(date={"type": "string", "pattern": "^[12][0-9]{3}-[01][0-9]-[0-3][0-9]$"}, event=_WORD),
    {"type": "array", "items": {"enum": ["red", "green", "blue"]}, "minItems": 1, "maxItems": 5},
    {
        "$defs": {"point": _record(x={"type": "integer"}, y={"type": "integer"})},
        **_record(start={"$ref": "#/$defs/point"}, end={"$ref": "#/$defs/point"}),
    },
    _record(title=_WORD, steps={"type": "array", "items": _record(do=_WORD), "minItems": 1, "maxItems": 3}),
    {"enum": ["north", "south", "east", "west"]},
)
SUBJECTS = (
    "Ada Lovelace",
    "the harbour of Genoa",
    "a rainy day",
    "how to bake bread",
    "the moon landing",
    "a chess game",
    "bicycles",
    "the river Danube",
    "prime numbers",
    "a cat named Kuro",
)


class Constrained(msgspec.Struct, frozen=True):
    """What the answers of one drafter were: how many, how many of them are valid and equal to those of plain
    decoding, and their tokens per pass with the schemas and without."""

    drafter: str
    answers: int
    valid: int
    equal: int
    tokens: int
    tokens_per_pass: float
    tokens_per_pass_free: float
    tokens_per_second: float


class Masking(msgspec.Struct, frozen=True):
    """How long masks take for a model's vocabulary: in seconds once, then in microseconds for each token."""

    vocabulary: int
    prepare_s: float
    compile_ms: float
    mask_us: float  # the median, and so are the next ones
    longest_mask_us: float
    token_us: float  # to copy a state and move the copy past a token


def add(kinds: Commands) -> None:
    parser = add_command(
        kinds,
        "constraints",
        run,
        "check answers that must satisfy JSON schemas",
        "Answers questions in the form of ten JSON schemas, by plain decoding and by drafters, and prints "
        "how many answers are valid and equal to those of plain decoding.",
    )
    add_model_options(parser)
    parser.add_argument(
        "--answers", type=int, default=100, metavar="N", help="number of answers (default: 100)"
    )
    parser.add_argument(
        "--drafters", default="auto", metavar="NAMES", help="drafters, separated by commas (default: auto)"
    )
    parser.add_argument(
        "--temperature", type=float, default=0.8, metavar="T", help="as in specexec chat (default: 0.8)"
    )


def run(parsed: argparse.Namespace) -> int:
    engine = EngineService()
    with cancelled_by_ctrl_c() as cancelled:
        engine.load(load_request(parsed), lambda event: None, cancelled)
        names = parsed.drafters.split(",")
        results = measure(engine, names, parsed.answers, parsed.temperature, say, cancelled)
    assert engine.session
    masking = time_masks(engine.session.pair.tokenizer)
    if parsed.json:
        found = {"constraints": results, "masks": masking}
        print(json.dumps(msgspec.to_builtins(found)))
    else:
        print("\n".join([*table(results), "", *mask_table(masking)]))
    return 0


def time_masks(tokenizer: Tokenizer) -> Masking:
    """Time the masks of one JSON text, token by token."""
    started = time.perf_counter()
    grammars = Grammars(tokenizer.token_bytes(), tokenizer.eos_ids, tokenizer.special_ids)
    prepared = time.perf_counter()
    constraint = protocol.Constraint(kind="json_schema", text=json.dumps(SCHEMAS[8]))
    state: PathState | None = grammars.start(constraint)
    compiled = time.perf_counter()
    masks, tokens = [], []
    for token in tokenizer.encode_plain(
        '{"title": "A cat named Kuro", "steps": [{"do": "Feed it at noon."}]}'
    ):
        assert state
        before = time.perf_counter()
        state.allowed()
        middle = time.perf_counter()
        state = state.after(token)
        masks.append((middle - before) * 1e6)
        tokens.append((time.perf_counter() - middle) * 1e6)
    return Masking(
        tokenizer.vocabulary_size,
        prepared - started,
        (compiled - prepared) * 1e3,
        median(masks),
        max(masks),
        median(tokens),
    )


def mask_table(masking: Masking) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    yield "| vocabulary | prepare, s | compile, ms | mask, µs | longest mask, µs | token, µs |"
    yield "|---:|" + "---:|" * 5
    once = f"{masking.vocabulary:,} | {masking.prepare_s:.2f} | {masking.compile_ms:.1f}"
    yield f"| {once} | {masking.mask_us:.0f} | {masking.longest_mask_us:.0f} | {masking.token_us:.1f} |"


def measure(
    engine: EngineService,
    drafters: Sequence[str],
    answers: int,
    temperature: float,
    say: Callable[[str], None],
    cancelled: Callable[[], bool],
) -> list[Constrained]:
    """Answer by plain decoding and by each drafter. Raises Interrupted if `cancelled` returns true, and the
    errors from answering."""

    def answered(number: int, drafter: str, schema: object | None) -> protocol.Answer:
        text = json.dumps(SCHEMAS[number % len(SCHEMAS)])
        subject = SUBJECTS[number // len(SCHEMAS) % len(SUBJECTS)]
        question = f"Write about {subject} as JSON that satisfies this schema: {text}"
        constraint = None if schema is None else protocol.Constraint(kind="json_schema", text=text)
        options = protocol.Options(
            drafter=drafter,
            temperature=temperature,
            seed=number,
            max_new_tokens=TOKENS if constraint else 64,
            constraint=constraint,
        )
        chat = protocol.Chat(id=0, messages=[protocol.Message("user", question)], options=options)
        answer = engine.answer(chat, lambda event: None, cancelled)
        if answer.stop_reason == "cancelled":
            raise Interrupted("The benchmark was interrupted.", "Run the same command again to restart it.")
        return answer

    plain: list[protocol.Answer] = []
    results = []
    for name in ("none", *drafters):
        found, free = [], []
        for number in range(answers):
            schema = SCHEMAS[number % len(SCHEMAS)]
            found.append(answered(number, name, schema))
            if number % 5 == 0:
                free.append(answered(number, name, None))
            if not satisfies(found[-1].text, schema):
                say(f"{name}, answer {number} is not valid ({found[-1].stop_reason}): {found[-1].text}")
            if plain and (place := parting_of(found[-1].token_ids, plain[number].token_ids)) is not None:
                say(f"{name}, answer {number} parts from plain decoding after {place} tokens")
        plain = plain or found
        pairs = zip(found, plain, strict=True)
        results.append(
            Constrained(
                found[0].drafter,
                answers,
                sum(satisfies(answer.text, SCHEMAS[i % len(SCHEMAS)]) for i, answer in enumerate(found)),
                sum(ours.token_ids == theirs.token_ids for ours, theirs in pairs),
                sum(answer.tokens for answer in found),
                _per_pass(found),
                _per_pass(free),
                mean([answer.tokens_per_second or 0.0 for answer in found]).value,
            )
        )
        say(f"{name} done")
    return results


def _per_pass(answers: Sequence[protocol.Answer]) -> float:
    passes = sum(answer.target_passes for answer in answers)
    return sum(answer.tokens - 1 for answer in answers) / max(1, passes)


def satisfies(text: str, schema: dict[str, Any]) -> bool:
    """Return whether `text` is JSON that satisfies one of SCHEMAS."""
    try:
        value = json.loads(text)
    except ValueError:
        return False
    return _fits(value, schema, schema.get("$defs", {}))


def _fits(value: Any, schema: dict[str, Any], defs: dict[str, Any]) -> bool:
    if "$ref" in schema:
        return _fits(value, defs[schema["$ref"].rpartition("/")[2]], defs)
    if "anyOf" in schema:
        return any(_fits(value, each, defs) for each in schema["anyOf"])
    if "enum" in schema:
        return value in schema["enum"]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    low, high = schema.get("minimum", float("-inf")), schema.get("maximum", float("inf"))
    match schema["type"]:
        case "object":
            names = schema["properties"].keys()
            return (
                isinstance(value, dict)
                and value.keys() == names
                and all(_fits(value[name], schema["properties"][name], defs) for name in names)
            )
        case "array":
            return (
                isinstance(value, list)
                and schema["minItems"] <= len(value) <= schema["maxItems"]
                and all(_fits(item, schema["items"], defs) for item in value)
            )
        case "string":
            return (
                isinstance(value, str)
                and schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value))
                and re.search(schema.get("pattern", ""), value) is not None
            )
        case "integer":
            return is_number and value == int(value) and low <= value <= high
        case "number":
            return is_number and low <= value <= high
        case "boolean":
            return isinstance(value, bool)
        case "null":
            return value is None
    raise AssertionError(schema)


def table(results: Sequence[Constrained]) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    heads = ("drafter", "valid", "equal to plain decoding", "tokens", "tokens per pass", "free text")
    yield f"| {' | '.join(heads)} | tokens/s |"
    yield "|---|" + "---:|" * len(heads)
    for each in results:
        shares = f"{each.valid} of {each.answers} | {each.equal} of {each.answers}"
        paces = f"{each.tokens_per_pass:.2f} | {each.tokens_per_pass_free:.2f}"
        yield f"| {each.drafter} | {shares} | {each.tokens} | {paces} | {each.tokens_per_second:.1f} |"
