"""Run a module with the engine's packages: python -m engine.launch.entry FOLDER MODULE [ARGUMENT...].

FOLDER is the folder of a runtime or of the app itself, or "current" for the one that `packages_home` chooses.
Until its packages are on the import path, only one of the app's own is imported: platformdirs.
"""

import os
import runpy
import sys
from pathlib import Path

from engine.launch import interpreter


def enter(folder: Path) -> None:
    """Put the packages in folder/lib ahead of all others on the import path.

    Also tells child processes, through an environment variable, to use the same ones.
    """
    sys.path.insert(0, str(folder / "lib"))
    os.environ[interpreter.RUNTIME_VARIABLE] = str(folder)


def enter_current() -> None:
    """Enter the folder that `packages_home` chooses, if the packages are not in the environment."""
    if home := interpreter.packages_home():
        enter(home)


def main() -> None:
    folder, module, *arguments = sys.argv[1:]
    if folder == "current":
        enter_current()
    else:
        enter(Path(folder))
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
