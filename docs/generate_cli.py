"""Print the reference of the command line as Markdown, made from the parsers themselves:

    python docs/generate_cli.py > docs/cli.md

The output depends neither on the terminal's width nor on this machine. `--check FILE` only compares it with
FILE.
"""

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from engine.cli import build_parser


def main() -> int:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument(
        "--check", type=Path, metavar="FILE", help="exit with status 1 if FILE is out of date"
    )
    parsed = options.parse_args()
    text = "\n".join(document(build_parser())) + "\n"
    if parsed.check:
        return 0 if parsed.check.is_file() and parsed.check.read_text(encoding="utf-8") == text else 1
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    sys.stdout.write(text)
    return 0


def document(root: argparse.ArgumentParser) -> Iterator[str]:
    """Yield the lines of the whole page."""
    yield "# Command line"
    yield ""
    yield "<!-- Made by docs/generate_cli.py from the parsers in engine/cli; do not edit by hand. -->"
    yield from section(root, level=2)


def section(parser: argparse.ArgumentParser, level: int) -> Iterator[str]:
    """Yield the section of a command, then those of its subcommands."""
    yield ""
    yield f"{'#' * level} {parser.prog}"
    yield ""
    yield "```text"
    yield usage(parser)
    yield "```"
    if parser.description:
        yield ""
        yield from paragraphs(parser.description)
    for group in parser._action_groups:
        yield from arguments(parser, group)
    if parser.epilog:
        yield ""
        yield from paragraphs(parser.epilog)
    for command in subcommands(parser).values():
        yield from section(command, min(level + 1, 4))


def usage(parser: argparse.ArgumentParser) -> str:
    """Return the usage without the options, of which only required ones are named."""
    parts = [parser.prog]
    if any(action.option_strings for action in parser._actions):
        parts.append("[OPTIONS]")
    for action in parser._actions:
        if action.option_strings and action.required:
            parts.append(f"{action.option_strings[0]} {placeholder(action)}")
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            parts.append(f"{action.metavar} …" if action.required else f"[{action.metavar} …]")
        elif not action.option_strings:
            name = placeholder(action)
            parts.append(
                {"?": f"[{name}]", "*": f"[{name} …]", "+": f"{name} …"}.get(str(action.nargs), name)
            )
    return " ".join(parts)


def arguments(parser: argparse.ArgumentParser, group: argparse._ArgumentGroup) -> Iterator[str]:
    """Yield the arguments of one group as a list, or its subcommands as a table."""
    actions = [action for action in group._group_actions if action.help is not argparse.SUPPRESS]
    actions = [action for action in actions if not isinstance(action, argparse._HelpAction)]
    if not actions:
        return
    titles = {"positional arguments": "Arguments", "options": "Options"}
    title = titles.get(group.title or "", f"{(group.title or '')[:1].upper()}{(group.title or '')[1:]}")
    yield ""
    yield f"**{title}**"
    yield ""
    if group.description:
        yield from paragraphs(group.description)
        yield ""
    for action in actions:
        if isinstance(action, argparse._SubParsersAction):
            yield "| command | purpose |"
            yield "|---|---|"
            for choice in action._get_subactions():
                command = action.choices[choice.dest]
                yield f"| [`{command.prog}`](#{anchor(command.prog)}) | {escaped(choice.help or '')} |"
        else:
            yield f"- {heading(action)}: {escaped(help_text(parser, action))}"


def heading(action: argparse.Action) -> str:
    """Return the names of an argument, with its placeholder, as code."""
    if not action.option_strings:
        return f"`{placeholder(action)}`"
    value = "" if action.nargs == 0 else f" {placeholder(action)}"
    return ", ".join(f"`{name}{value}`" for name in action.option_strings)


def placeholder(action: argparse.Action) -> str:
    if action.metavar is not None:
        return str(action.metavar)
    if action.choices is not None:
        return "|".join(map(str, action.choices))
    return action.dest.upper().replace("_", "-")


def help_text(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    """Return the help with its default filled in, as argparse does, but independent of this machine."""
    values = {**vars(action), "prog": parser.prog}
    return (action.help or "") % values


def subcommands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    return {
        name: command
        for action in parser._actions
        if isinstance(action, argparse._SubParsersAction)
        for name, command in action.choices.items()
    }


def paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs of a description, one line each; indented ones become code blocks."""
    for number, paragraph in enumerate(re.split(r"\n\n+", text.strip("\n"))):
        if number:
            yield ""
        if paragraph.startswith(" "):
            yield "```sh"
            yield from (line.strip() for line in paragraph.splitlines())
            yield "```"
        else:
            yield escaped(" ".join(paragraph.split()))


def escaped(text: str) -> str:
    """Escape the characters that Markdown or a table would interpret, and mark options as code."""
    text = re.sub(r"([|*_<>\[\]])", r"\\\1", text)
    return re.sub(r"(?<![\w-])(--[a-z][a-z-]*)", r"`\1`", text)


def anchor(title: str) -> str:
    """Return the anchor that Markdown renderers make of a heading."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


if __name__ == "__main__":
    sys.exit(main())
