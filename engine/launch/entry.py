"""Run a module with the packages of a runtime: python -m engine.launch.entry FOLDER MODULE [ARGUMENT...].

FOLDER is the runtime's folder, or "current" for the runtime in use. Until the runtime's packages are on the
import path, only one of the window's packages is imported: platformdirs.
"""

import os
import runpy
import sys
from pathlib import Path

from engine.launch import interpreter


def enter(folder: Path) -> None:
    """Put the packages of the runtime at `folder` ahead of the window's packages on the import path.

    Also tells child processes, through an environment variable, that this process runs in the runtime.
    """
    sys.path.insert(0, str(folder / "lib"))
    os.environ[interpreter.RUNTIME_VARIABLE] = str(folder)


def main() -> None:
    folder, module, *arguments = sys.argv[1:]
    if folder != "current":
        enter(Path(folder))
    elif (runtime := interpreter.current()) is not None:
        enter(runtime.folder)
    else:
        sys.exit("The engine is not set up yet. Open the app and follow the set-up steps.")
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
