"""The errors that setting up a runtime can raise."""

from engine.errors import SpecExecError


class Unreachable(SpecExecError):
    """A server cannot be reached over this network."""

    kind = "packages_unreachable"


class BadPackage(SpecExecError):
    """A package differs from the one in the requirement list, or is not available."""

    kind = "bad_package"


class BadArchive(SpecExecError):
    """A file that is not a runtime file, is damaged, or was made for another version of the app or system."""

    kind = "bad_archive"


class RuntimeRefused(SpecExecError):
    """The new runtime does not work on this machine."""

    kind = "runtime_refused"


class SetupRunning(SpecExecError):
    """Another window is setting up a runtime."""

    kind = "setup_running"
