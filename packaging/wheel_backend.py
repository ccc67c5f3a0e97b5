"""The build backend of the wheel: setuptools', with the lists from which an installed program sets torch up.
They are in the wheel only, not in the checkout."""

import shutil
from pathlib import Path

from installers import lists
from installers.common import pip_wheel_folder
from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F403 - the hooks that stay as they are

LISTS = Path(__file__).parents[1] / "resources" / "requirements"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    wheels = pip_wheel_folder()
    try:
        for system in ("linux", "windows"):
            lists.write(LISTS / system, system, wheels)
        return build_meta.build_wheel(wheel_directory, config_settings, metadata_directory)
    finally:
        shutil.rmtree(LISTS, ignore_errors=True)
