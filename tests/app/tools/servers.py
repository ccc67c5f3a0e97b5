"""Tool servers for tests."""

import shlex
import sys
from pathlib import Path

from app.preferences import ToolServer
from app.tools.listed import tools_of
from tests.app.tools.reference_server import TOOLS

SCRIPT = Path(__file__).with_name("reference_server.py")


def reference(way: str = "honest", *, is_on: bool = True) -> ToolServer:
    """Return the reference server with its tools as the user has seen them. way: how it behaves."""
    command = shlex.join([sys.executable, str(SCRIPT), way])
    return ToolServer("Reference", command, is_on=is_on, tools=tools_of({"tools": TOOLS}))
