"""The options of `specexec chat` that say how to answer, in the groups of its help."""

import argparse
from pathlib import Path
from typing import Any

from engine import protocol
from engine.errors import BadOption
from engine.protocol.thought_control import EFFORTS, ThoughtChoice, control_of
from engine.terminal import add_truncation_options, number_or_auto

# What --thinking takes, and what it stands for.
THINKING: dict[str, ThoughtChoice] = {"on": True, "off": False, **{effort: effort for effort in EFFORTS[1:]}}


def add_drafting_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how tokens are drafted."""
    group = parser.add_argument_group("drafting")
    group.add_argument(
        "--drafter",
        metavar="NAME",
        default="auto",
        help="method that proposes tokens: none, specexec, specinfer, sps, pld, lookahead, recycling, eagle, "
        "medusa, p-eagle, dflash, assistant, merged, or several joined by +, such as specexec+pld (default: "
        "auto, specexec with a draft model, or else merged)",
    )
    group.add_argument(
        "--budget",
        type=number_or_auto,
        metavar="N|auto",
        help="maximum number of nodes of a token tree (default: auto, tuned to the measured speed)",
    )
    group.add_argument(
        "--beams",
        type=int,
        metavar="N",
        help="number of nodes that the draft expands per round (default: chosen by the drafter)",
    )
    group.add_argument(
        "--depth",
        type=int,
        metavar="N",
        help="maximum depth of a token tree, in tokens (default: chosen by the drafter)",
    )
    group.add_argument(
        "--overlap",
        choices=("auto", "on", "off"),
        default="auto",
        help="whether a draft model goes on drafting while the target waits for its streamed weights; the "
        "text stays the same (default: auto, where measuring shows that it pays)",
    )


def add_sampling_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how tokens are chosen."""
    group = parser.add_argument_group("sampling")
    group.add_argument(
        "--temperature",
        type=float,
        metavar="T",
        default=0.0,
        help="randomness of the answer; 0: always the most probable token (default: 0)",
    )
    add_truncation_options(group)
    _add_penalties(group)
    _add_dry(group)
    _add_xtc(group)
    group.add_argument(
        "--logit-bias",
        type=bias,
        action=Merged,
        default={},
        metavar="ID:B",
        help="add B to the logit of the token with this ID; repeatable (default: none)",
    )
    group.add_argument(
        "--log-probs",
        type=int,
        metavar="N",
        help="with --json, report the log-probability of each token and of the N most probable ones "
        "(default: none)",
    )
    group.add_argument(
        "--seed", type=int, metavar="S", help="seed of the random numbers (default: a new one, printed)"
    )


def _add_penalties(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--repetition-penalty",
        type=float,
        metavar="R",
        default=1.0,
        help="divide the logits of tokens that have occurred in the chat by R, or multiply negative ones "
        "(default: 1, no penalty)",
    )
    group.add_argument(
        "--presence-penalty",
        type=float,
        metavar="P",
        default=0.0,
        help="subtract P from the logits of tokens that have occurred in the chat (default: 0)",
    )
    group.add_argument(
        "--frequency-penalty",
        type=float,
        metavar="P",
        default=0.0,
        help="subtract P from a token's logit for each of its occurrences in the chat (default: 0)",
    )


def _add_dry(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--dry-multiplier",
        type=float,
        metavar="M",
        default=0.0,
        help="DRY: where a token would continue a repetition of n tokens, subtract M times B to the power of "
        "n minus N from its logit (default: 0, off; usual: 0.8)",
    )
    group.add_argument(
        "--dry-base", type=float, metavar="B", default=1.75, help="base B of DRY (default: 1.75)"
    )
    group.add_argument(
        "--dry-allowed-length",
        type=int,
        metavar="N",
        default=2,
        help="shortest repetition that DRY counts, in tokens (default: 2)",
    )
    group.add_argument(
        "--dry-range",
        type=int,
        metavar="N",
        default=0,
        help="search the last N tokens for repetitions (default: 0, the whole chat)",
    )
    group.add_argument(
        "--dry-breaker",
        action="append",
        dest="dry_breakers",
        metavar="TEXT",
        help="end a repetition at tokens that contain this text; repeatable; an empty TEXT alone: at none "
        "(default: line break, colon, quotation mark and asterisk)",
    )


def _add_xtc(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--xtc-probability",
        type=float,
        metavar="P",
        default=0.0,
        help="XTC: with probability P, exclude all tokens that reach the threshold, except the least "
        "probable of them; no effect at temperature 0 (default: 0, off; usual: 0.5)",
    )
    group.add_argument(
        "--xtc-threshold",
        type=float,
        metavar="P",
        default=0.1,
        help="probability from which on XTC excludes a token, at most 0.5 (default: 0.1)",
    )


def add_constraint_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say what the answer must be; see `constraint_of`."""
    group = parser.add_argument_group(
        "constraints", "What the answer must be; at most one of the first five. A thought before it is free."
    )
    group.add_argument("--json-object", action="store_true", help="any JSON object (default: any text)")
    group.add_argument(
        "--json-schema",
        metavar="FILE|TEXT",
        help="JSON that satisfies this schema, from a file or given as JSON itself (default: any text)",
    )
    group.add_argument(
        "--regex", metavar="TEXT", help="a text that matches this regular expression (default: any text)"
    )
    group.add_argument(
        "--grammar",
        type=Path,
        metavar="FILE",
        help="a text of the grammar in this file, in Lark or GBNF (default: any text)",
    )
    group.add_argument(
        "--choice",
        action="append",
        default=[],
        metavar="TEXT",
        help="one of the texts that are given this way; repeatable (default: any text)",
    )


def add_thinking_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how much the model thinks; see `template_input`."""
    group = parser.add_argument_group("thinking", "How much the model thinks before it answers.")
    group.add_argument(
        "--thinking",
        choices=tuple(THINKING),
        metavar="on|off|EFFORT",
        help="think, do not think, or think with this effort: minimal, low, medium, high, xhigh or max; the "
        "model's chat template must know it, but off works with every model: its thought is closed at once "
        "(default: as the model does by itself)",
    )
    group.add_argument(
        "--thinking-budget",
        type=int,
        metavar="N",
        help="maximum number of tokens of the model's thought, which is then closed (default: no limit)",
    )


def add_ending_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say where the answer ends."""
    group = parser.add_argument_group("end of the answer")
    group.add_argument(
        "--max-new-tokens",
        type=int,
        metavar="N",
        help="maximum number of tokens of an answer (default: until the model ends it or the context is "
        "full)",
    )
    group.add_argument(
        "--stop",
        action="append",
        default=[],
        metavar="TEXT",
        help="end the answer before this text; repeatable (default: none)",
    )
    group.add_argument(
        "--allow-loops",
        action="store_false",
        dest="stop_loops",
        help="do not stop an answer that repeats itself over and over (default: it is stopped)",
    )


def template_input(loaded: protocol.Loaded, parsed: argparse.Namespace) -> protocol.TemplateInput:
    """Return what the loaded model's chat template is told. Raises BadOption if it does not know that."""
    choice = THINKING[parsed.thinking] if parsed.thinking else None
    control = control_of(loaded.chat_template)
    if choice and choice not in (*control.choices, *control.efforts):
        known = [word for word, each in THINKING.items() if each in control.choices]
        raise BadOption(
            f"The chat template of {loaded.target.name} does not know --thinking {parsed.thinking}.",
            f"Choose {' or '.join(known)}, or leave it out." if known else "Leave it out.",
        )
    return protocol.TemplateInput(options=control.variables(choice, parsed.thinking_budget))


def constraint_of(parsed: argparse.Namespace) -> protocol.Constraint | None:
    """Return what the options say about the answer. Raises BadOption."""
    found = []
    if parsed.json_object:
        found.append(protocol.Constraint(kind="json_object"))
    if parsed.json_schema is not None:
        text = parsed.json_schema
        schema = text if text.lstrip().startswith("{") else contents(Path(text))
        found.append(protocol.Constraint(kind="json_schema", text=schema))
    if parsed.regex is not None:
        found.append(protocol.Constraint(kind="regex", text=parsed.regex))
    if parsed.grammar is not None:
        found.append(protocol.Constraint(kind="grammar", text=contents(parsed.grammar)))
    if parsed.choice:
        found.append(protocol.Constraint(kind="choice", choices=tuple(parsed.choice)))
    if len(found) > 1:
        raise BadOption("Several options say what the answer must be.", "Leave out all but one of them.")
    return found[0] if found else None


def contents(file: Path) -> str:
    """Return the text of a schema or grammar. Raises BadOption if the file cannot be read."""
    try:
        return file.read_text("utf-8")
    except (OSError, ValueError) as error:
        raise BadOption(f"{file} cannot be read: {error}.", "Name a text file in UTF-8.") from error


def bias(text: str) -> dict[int, float]:
    """Parse “ID:B” into {id: bias}."""
    token, _, value = text.partition(":")
    return {int(token): float(value)}


class Merged(argparse.Action):
    """An action that merges the dicts of a repeated option into one."""

    def __call__(self, parser: Any, namespace: argparse.Namespace, values: Any, option: Any = None) -> None:
        setattr(namespace, self.dest, {**getattr(namespace, self.dest), **values})
