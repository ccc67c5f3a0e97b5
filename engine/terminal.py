"""What all commands share: options, the printing of errors, progress on a terminal, Ctrl-C."""

import argparse
import contextlib
import json
import re
import signal
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol, TypeAlias, TypeVar

import msgspec

from engine import interruption, protocol
from engine.errors import BadOption, SpecExecError

T = TypeVar("T")
# What steers a terminal or reorders its text: control characters (C0, DEL, C1), marks of direction,
# separators of lines; and halves of surrogate pairs, which no terminal can show.
_STEERING = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

DTYPES = ["auto", "float32", "bfloat16", "float16"]
DEVICES = ["auto", "cuda", "cpu"]
CACHES = ["f16", "q8_0"]


class HelpFormatter(argparse.HelpFormatter):
    """An argparse formatter that keeps the paragraphs of a description, separated by blank lines, and does
    not wrap indented ones. It lists subcommands without an extra line for their placeholder, such as
    COMMAND."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        paragraphs = [
            paragraph if paragraph.startswith(" ") else textwrap.fill(paragraph, width)
            for paragraph in re.split(r"\n\n+", text.strip("\n"))
        ]
        return textwrap.indent("\n\n".join(paragraphs), indent)

    def _format_action(self, action: argparse.Action) -> str:
        if isinstance(action, argparse._SubParsersAction):
            return "".join(map(self._format_action, action._get_subactions()))
        return super()._format_action(action)


def add_command(
    commands: Commands,
    name: str,
    run: Callable[[argparse.Namespace], int],
    summary: str,
    details: str = "",
    as_json: str = "print the result as one JSON object",
) -> argparse.ArgumentParser:
    """Add the command `name`, with the option --json, to `commands`.

    summary: one line for the list of commands, in lower case and without a full stop. details: further
    paragraphs of the description. `run` takes the parsed arguments and returns the exit status.
    """
    description = f"{summary[0].upper()}{summary[1:]}.\n\n{details}"
    parser = commands.add_parser(
        name, help=summary, description=description, formatter_class=HelpFormatter, allow_abbrev=False
    )
    parser.set_defaults(run=run)
    parser.add_argument("--json", action="store_true", help=as_json)
    return parser


def add_action(
    actions: Commands, name: str, act: Callable[..., int], summary: str
) -> argparse.ArgumentParser:
    """Add an action, with the option --json, to the actions of a command. `act` is stored as `parsed.act`,
    and called by the command itself."""
    action = actions.add_parser(
        name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.", allow_abbrev=False
    )
    action.set_defaults(act=act)
    # No default here, because it would overwrite the value in `specexec COMMAND --json ACTION`.
    action.add_argument(
        "--json", action="store_true", default=argparse.SUPPRESS, help="print the result as one JSON object"
    )
    return action


def plain(text: str, keep: str = "") -> str:
    """Return `text` with each character that steers a terminal as an escape, which is also valid in JSON.

    keep: such characters to leave as they are.
    """
    return _STEERING.sub(lambda match: match[0] if match[0] in keep else f"\\u{ord(match[0]):04x}", text)


def say(*lines: str, to_stderr: bool = False) -> None:
    """Print lines, which may contain names and sentences of others, and flush them."""
    for line in lines:
        print(plain(line), file=sys.stderr if to_stderr else sys.stdout, flush=True)


def say_piece(text: str, to_stderr: bool = False) -> None:
    """Print a piece of an answer; on a terminal without what steers it, except for lines and tabs."""
    stream = sys.stderr if to_stderr else sys.stdout
    print(plain(text, keep="\n\t") if stream.isatty() else text, end="", file=stream, flush=True)


def fail(error: SpecExecError, as_json: bool, **more: Any) -> int:
    """Print `error` to stderr, and if `as_json` also to stdout, as one JSON object together with `more`.
    Return the exit status."""
    if as_json:
        say(json.dumps({**more, "error": error.as_dict()}, ensure_ascii=False))
    say(*f"{error.message} {error.hint}".strip().splitlines(), to_stderr=True)
    return 1


def about_hindrance(why: protocol.Hindrance, drafter: str) -> str:
    """Return a sentence that says why the draft cannot go on while the target verifies. drafter: its name."""
    match why:
        case "drafter":
            return f"The drafter {drafter} keeps no tree beyond the verdict."
        case "card":
            return "The draft cannot go on while this target verifies on the graphics card."
        case "memory":
            return "This target is wholly in memory: it never waits, which is when the draft could go on."


def validated(kind: type[T], values: dict[str, Any]) -> T:
    """Return `values` as a protocol message of type `kind`. Raises BadOption, which names the option, if a
    value is out of range."""
    try:
        return msgspec.convert(values, kind)
    except msgspec.ValidationError as error:
        name = str(error).rpartition("$.")[2].rstrip("`").replace("_", "-")
        reason = str(error).partition(" - ")[0].removeprefix("Expected ").replace("`", "")
        raise BadOption(
            f"--{name} is out of range: expected {reason}.", "See specexec chat --help."
        ) from None


def add_model_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that `load_request` reads."""
    models = parser.add_argument_group("models")
    models.add_argument(
        "--target",
        metavar="ID|PATH",
        help="target model: the ID of a catalogue model, a GGUF file, or a folder of safetensors "
        "(default: the embedded model)",
    )
    models.add_argument(
        "--draft",
        metavar="ID|PATH|mtp|self|none",
        default="auto",
        help="draft model or heads, given like --target; mtp: the layer for drafts that comes with the "
        "target; self: on the processor, a streamed target itself in fewer bits; none: no draft (default: "
        "auto, the installed draft that the catalogue pairs with the target, or else heads that come with "
        "the program, or with a target that is in memory as a whole)",
    )
    add_compute_options(models)
    models.add_argument(
        "--weights",
        choices=["auto", "packed", "unpacked"],
        default="auto",
        help="keep weights in memory packed, as stored, or unpacked, which is faster but takes more memory "
        "(default: auto, whichever is predicted to be faster and fits)",
    )
    add_cache_option(models)
    models.add_argument(
        "--vram-limit",
        type=float,
        metavar="GiB",
        help="maximum VRAM for the target's weights, streaming buffers included, in GiB (default: what fits)",
    )
    models.add_argument(
        "--ram-limit",
        type=float,
        metavar="GiB",
        help="maximum RAM for the target's weights, in GiB; weights beyond both limits are streamed from the "
        "model files in every pass (default: what fits)",
    )
    add_helps_option(models)
    models.add_argument(
        "--threads",
        type=int,
        metavar="N",
        help="number of threads that compute on the CPU, at most one per physical core; it changes the speed "
        "only (default: one per physical core)",
    )
    models.add_argument(
        "--context",
        type=int,
        metavar="N",
        help="maximum number of tokens of prompt and answer together (default: 8192, or fewer if the model "
        "or the free memory allows no more)",
    )
    models.add_argument(
        "--prompt-cache",
        type=float,
        metavar="GiB",
        help="RAM for what the models have computed of other conversations, so that these are not read anew "
        "when they go on; 0: none (default: a tenth of the free RAM, at most 1)",
    )
    models.add_argument(
        "--prompt-cache-disk",
        type=float,
        default=0.0,
        metavar="GiB",
        help="room on the disk for what the models have computed of all conversations, so that these are not "
        "read anew after a restart (default: 0, none)",
    )


def add_compute_options(parser: "argparse._ActionsContainer") -> None:
    """Add --dtype and --device."""
    parser.add_argument(
        "--dtype",
        choices=DTYPES,
        default="auto",
        help="number type to compute in (default: auto, on the CPU weights as stored times activations in 8 "
        "bits, on CUDA the shortest type that the device computes at full speed)",
    )
    parser.add_argument(
        "--device",
        choices=DEVICES,
        default="auto",
        help="compute device (default: auto, the fastest that is available)",
    )


def add_cache_option(parser: "argparse._ActionsContainer") -> None:
    """Add --kv-cache."""
    parser.add_argument(
        "--kv-cache",
        choices=CACHES,
        default="f16",
        help="format of the KV cache on the CPU: f16, or q8_0, rounded to 8 bits, which takes about half the "
        "memory and runs only with weights as stored (default: f16)",
    )


def add_helps_option(parser: "argparse._ActionsContainer") -> None:
    """Add --processor-helps."""
    parser.add_argument(
        "--processor-helps",
        choices=["auto", "never", "measured"],
        default="auto",
        help="auto: beside a graphics card, the processor multiplies by experts of a mixture that the card "
        "lacks, where they lie in RAM, if the plan promises more tokens per second so; measured: also by a "
        "share of other weights in RAM, if passes measured at loading are faster so; it rounds activations "
        "to 8 bits (default: auto)",
    )


def add_folder_option(parser: "argparse._ActionsContainer") -> None:
    """Add --models."""
    parser.add_argument(
        "--models",
        type=Path,
        metavar="PATH",
        help="models folder (default: $SPECEXEC_MODELS, or else the folder the models were last moved to, or "
        "else a folder among the user's data)",
    )


def load_request(parsed: argparse.Namespace) -> protocol.Load:
    """Return the Load request that the model options describe. Raises BadOption if one is out of range."""
    options = vars(parsed)
    fields = {name: options[name] for name in protocol.Load.__struct_fields__ if name in options}
    return validated(protocol.Load, {"type": "Load", "id": 0, **fields})


def number_or_auto(text: str) -> int | None:
    """Parse an option that is a number or “auto”; return None for “auto”."""
    return None if text == "auto" else int(text)


class ShowProgress(Protocol):
    """Shows how far something has come: a share, or nothing if `total` is 0. what: what is done."""

    def __call__(self, done: int, total: int, what: str = ...) -> None: ...


@contextlib.contextmanager
def progress_line(what: str) -> Iterator[ShowProgress]:
    """Show progress on one line of the terminal, and clear the line at the end. If stderr is not a terminal,
    show nothing.

    what: what is done, for all calls of the function yielded that name nothing else.
    """

    def show(done: int, total: int, what: str = what) -> None:
        if sys.stderr.isatty():
            share = f" {100 * done // total} %" if total else ""
            print(f"\r\x1b[K{plain(what)}{share}", end="", file=sys.stderr, flush=True)

    try:
        yield show
    finally:
        if sys.stderr.isatty():
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


@contextlib.contextmanager
def cancelled_by_ctrl_c(ends_pass: bool = False) -> Iterator[Callable[[], bool]]:
    """Turn the first Ctrl-C into a request to stop cleanly; a second one raises KeyboardInterrupt. ends_pass:
    whether it ends the running pass of a model at once, even if that waits for a disk.

    Yields a function that returns whether Ctrl-C was pressed.
    """
    pressed = False

    def handle(signum: int, frame: object) -> None:
        nonlocal pressed
        if pressed:
            raise KeyboardInterrupt
        pressed = True
        if ends_pass:
            interruption.interrupt()

    previous = signal.signal(signal.SIGINT, handle)
    try:
        yield lambda: pressed
    finally:
        signal.signal(signal.SIGINT, previous)
        if ends_pass:
            interruption.resume()


def add_truncation_options(sampling: argparse._ArgumentGroup) -> None:
    """Add --top-p, --top-k and --min-p, which leave out improbable tokens."""
    sampling.add_argument(
        "--top-p",
        type=float,
        metavar="P",
        default=1.0,
        help="sample from the most probable tokens that together reach probability P (default: 1, all "
        "tokens)",
    )
    sampling.add_argument(
        "--top-k",
        type=int,
        metavar="K",
        default=0,
        help="sample from the K most probable tokens (default: 0, all tokens)",
    )
    sampling.add_argument(
        "--min-p",
        type=float,
        metavar="P",
        default=0.0,
        help="drop tokens less probable than P times the most probable one (default: 0, drop none)",
    )
