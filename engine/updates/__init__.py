"""Updates of the program: find a newer version, download and verify it, try it, keep it or roll it back.

Imports neither torch nor Qt. Nothing here is done without being called: the window asks before each step.
"""

from engine.updates.errors import BadRelease, ReleasesUnreachable, UpdateRefused
from engine.updates.index import ReleaseIndex, newest_release
from engine.updates.installation import Installation, this_installation
from engine.updates.package import Package, this_package
from engine.updates.trial import confirm, tidy, try_new_version
from engine.updates.update import prepare

__all__ = [
    "BadRelease",
    "Installation",
    "Package",
    "ReleaseIndex",
    "ReleasesUnreachable",
    "UpdateRefused",
    "confirm",
    "newest_release",
    "prepare",
    "this_installation",
    "this_package",
    "tidy",
    "try_new_version",
]
