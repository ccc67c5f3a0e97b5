"""The packages that the engine runs with, in the user's data folder: proposed, set up, tested, replaced. Free
of torch and Qt.

`backends` are what this build of the app can set up, `propose` puts them in order for a machine. A `Setup`
brings one with uv, from lists with hashes, beside the one in use, and only switches once it has answered; so
a set-up that fails, is ended or is killed leaves the old one at work. Repairing and changing the backend are
set-ups too.
"""

from engine.launching import Runtime, RuntimeMissing, command, current, is_packaged
from engine.runtime.archive import Archive
from engine.runtime.backends import Backend, Proposal, backends, is_up_to_date, propose
from engine.runtime.errors import BadArchive, BadPackage, Refused, SetupRunning, Unreachable
from engine.runtime.installing import Sources
from engine.runtime.progress import Progress, Stage, State
from engine.runtime.releases import Release, newer_release, repository
from engine.runtime.setup import Setup
from engine.runtime.stored import nbytes, tidy

__all__ = [
    "Archive",
    "Backend",
    "BadArchive",
    "BadPackage",
    "Progress",
    "Proposal",
    "Refused",
    "Release",
    "Runtime",
    "RuntimeMissing",
    "Setup",
    "SetupRunning",
    "Sources",
    "Stage",
    "State",
    "Unreachable",
    "backends",
    "command",
    "current",
    "is_packaged",
    "is_up_to_date",
    "nbytes",
    "newer_release",
    "propose",
    "repository",
    "tidy",
]
