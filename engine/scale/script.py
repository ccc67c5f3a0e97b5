"""Shell text: arguments quoted, one option on each line, and comments."""

import shlex
from collections.abc import Iterable, Sequence

NODE_RANK, HEAD_ADDRESS = "NODE_RANK", "HEAD_ADDRESS"


def command_text(arguments: Sequence[str], raw: Sequence[str] = (), program: int = 1) -> str:
    """Return `arguments` as one command, each option with its values on a line of its own.

    program: the number of arguments that name the program. raw: further lines of options in shell syntax,
    for values that the shell puts in.
    """
    lines: list[list[str]] = [[shlex.quote(argument) for argument in arguments[:program]]]
    for argument in arguments[program:]:
        if argument.startswith("-") and not argument[1:2].isdigit():
            lines.append([])
        lines[-1].append(shlex.quote(argument))
    return " \\\n  ".join([*(" ".join(line) for line in lines), *raw])


def comments(lines: Iterable[str]) -> str:
    """Return `lines` as shell comments; a line break within one starts another."""
    return "".join(f"# {part}\n" for line in lines for part in line.splitlines())


def node_checks(nodes: int) -> str:
    """Return the lines by which a script that runs on each of several machines asks for its place."""
    last = f"1 to {nodes - 1}" if nodes > 2 else "1"
    return (
        f': "${{{NODE_RANK}:?set it to 0 on the first machine, and to {last} on the others}}"\n'
        f': "${{{HEAD_ADDRESS}:?set it to the address of the first machine}}"\n'
    )
