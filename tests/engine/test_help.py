"""The help of every command, and the page of the documentation made from it."""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.cli import build_parser

ROOT = Path(__file__).parents[2]


def parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from parsers(command)


PARSERS = {parser.prog: parser for parser in parsers(build_parser())}


@pytest.mark.parametrize("name", PARSERS)
def test_every_command_and_option_is_described(name):
    parser = PARSERS[name]
    assert parser.description
    assert f"usage: {name}" in parser.format_help()
    for action in parser._actions:
        assert action.help or isinstance(action, argparse._SubParsersAction), action.option_strings
        if action.option_strings and action.nargs != 0 and not action.required:
            assert "default: " in action.help, f"{name} {action.option_strings[0]} does not state its default"


HEAVY = {"torch", "transformers", "matplotlib", "gguf", "numba", "PySide6", "rich"}


def test_the_parser_of_all_commands_imports_nothing_heavy():
    code = (
        "import sys; from engine.cli import build_parser; build_parser().format_help(); "
        f"print({HEAVY} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert done.stdout.strip() == "set()", done.stderr


def page(columns: int) -> str:
    done = subprocess.run(
        [sys.executable, "docs/generate_cli.py"],
        capture_output=True, encoding="utf-8", cwd=ROOT, timeout=60,
        env={**os.environ, "COLUMNS": str(columns)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_page_names_every_command_and_option_at_any_width():
    text = page(40)
    assert text == page(200)
    for name, parser in PARSERS.items():
        assert f"# {name}\n" in text
        for action in parser._actions:
            for option in action.option_strings:
                assert f"`{option}" in text or isinstance(action, argparse._HelpAction)
