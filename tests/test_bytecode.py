"""What tests import is compiled once, whatever the environment says."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
SHOWN = "import sys; print(sys.dont_write_bytecode, sys.pycache_prefix)"
BESIDE = f"False {ROOT / 'build' / 'bytecode'}"
PROGRAM = f"import sys, subprocess; import tests.conftest; subprocess.run([sys.executable, '-c', {SHOWN!r}])"


def printed(**environment: str) -> str:
    """Return where a process that such a run of tests has started keeps its bytecode."""
    usual = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    command = [sys.executable, "-c", PROGRAM]
    return subprocess.check_output(command, cwd=ROOT, env=usual | environment, text=True).strip()


def test_where_no_bytecode_is_to_be_written_it_lies_away_from_the_sources() -> None:
    assert printed(PYTHONDONTWRITEBYTECODE="1") == BESIDE


def test_elsewhere_bytecode_lies_where_python_puts_it(tmp_path: Path) -> None:
    assert printed(PYTHONPYCACHEPREFIX=str(tmp_path)) == f"False {tmp_path}"
