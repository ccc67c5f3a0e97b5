"""The errors that an update can raise."""

from engine.errors import SpecExecError


class ReleasesUnreachable(SpecExecError):
    """The release index cannot be downloaded."""

    kind = "releases_unreachable"


class BadRelease(SpecExecError):
    """A release index or a file of a release that cannot be trusted."""

    kind = "bad_release"


class UpdateRefused(SpecExecError):
    """An update that cannot be applied to this installation."""

    kind = "update_refused"
