"""python -m engine.entering FOLDER MODULE [ARGUMENT...]: runs a module with the packages of a runtime.

FOLDER "current": the one in use. Of the window's packages only platformdirs is imported before.
"""

import os
import runpy
import sys
from pathlib import Path

from engine import launching


def enter(folder: Path) -> None:
    """The runtime's packages come before the window's."""
    sys.path.insert(0, str(folder / "lib"))
    os.environ[launching.ENTERED] = str(folder)


def main() -> None:
    folder, module, *arguments = sys.argv[1:]
    if folder != "current":
        enter(Path(folder))
    elif (found := launching.current()) is not None:
        enter(found.folder)
    else:
        sys.exit("The engine is not set up yet. Start the window once: it leads through it.")
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
