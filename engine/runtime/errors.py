"""What can go wrong while a runtime is set up, as kinds of `engine.errors`."""

from engine.errors import SpecExecError


class Unreachable(SpecExecError):
    """The packages cannot be had over this network."""

    kind = "packages_unreachable"


class BadPackage(SpecExecError):
    """A package is not the one that the list names."""

    kind = "bad_package"


class BadArchive(SpecExecError):
    """A file that is no runtime archive, not a whole one, or not one for this app."""

    kind = "bad_archive"


class Refused(SpecExecError):
    """What was set up does not work on this machine."""

    kind = "runtime_refused"


class SetupRunning(SpecExecError):
    """Another window sets up a runtime."""

    kind = "setup_running"
