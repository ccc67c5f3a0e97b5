"""Propose, install, test and replace the runtime: a folder in the user's data with torch for this machine and
all other packages of the engine.

Imports neither torch nor Qt. `backends` lists the backends that this build of the app can set up; `propose`
ranks them for a machine. A `Setup` installs a backend with uv, from requirement lists with hashes, beside the
runtime in use. It switches to the new runtime only after a model has produced a token there. A set-up that
fails, is cancelled or is killed leaves the old runtime working. Repairing a runtime and changing the backend
are set-ups too.
"""

from engine.launch.interpreter import Runtime, RuntimeMissing, command, current, uses_runtimes
from engine.runtime.archive import Archive
from engine.runtime.backends import Backend, Proposal, backends, is_up_to_date, propose
from engine.runtime.errors import BadArchive, BadPackage, RuntimeRefused, SetupRunning, Unreachable
from engine.runtime.installer import Sources
from engine.runtime.progress import SetupProgress, Stage, State
from engine.runtime.setup import Setup
from engine.runtime.store import nbytes, tidy

__all__ = [
    "Archive",
    "Backend",
    "BadArchive",
    "BadPackage",
    "Proposal",
    "Runtime",
    "RuntimeMissing",
    "RuntimeRefused",
    "Setup",
    "SetupProgress",
    "SetupRunning",
    "Sources",
    "Stage",
    "State",
    "Unreachable",
    "backends",
    "command",
    "current",
    "is_up_to_date",
    "nbytes",
    "propose",
    "tidy",
    "uses_runtimes",
]
