"""The environment of tool servers: what a program needs to start, and nothing that other programs left there,
such as keys and tokens. Adapted to what the specification's own client passes on."""

import os
import sys
from collections.abc import Iterable

from app.tools.fault import ToolFault

_WINDOWS = (
    "APPDATA HOMEDRIVE HOMEPATH LOCALAPPDATA PATH PATHEXT PROCESSOR_ARCHITECTURE PROGRAMFILES SYSTEMDRIVE "
    "SYSTEMROOT TEMP TMP USERNAME USERPROFILE"
)
_ELSEWHERE = "HOME LANG LC_ALL LC_CTYPE LOGNAME PATH SHELL TERM TMPDIR TZ USER"
_KEPT = (_WINDOWS if sys.platform == "win32" else _ELSEWHERE).split()


def environment(variables: Iterable[str] = ()) -> dict[str, str]:
    """Return the environment for a tool server. variables: lines NAME=value that the user adds. Raises
    ToolFault if one is no such line."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    for line in filter(None, map(str.strip, variables)):
        name, equals, value = line.partition("=")
        if not equals or not name.strip() or "\0" in line:
            raise ToolFault(f"“{name[:40]}” is no variable.", "Write one NAME=value per line.")
        kept[name.strip()] = value
    return kept
