"""The errors of downloads and of the Hub, as subclasses of `SpecExecError`."""

from engine.errors import DiskProblem, SpecExecError


class HubUnreachable(SpecExecError):
    """The Hub does not respond, or its response cannot be understood."""

    kind = "hub_unreachable"


class UnsafeName(SpecExecError):
    """A repository or file name that leads out of its folder, or is not a plain name on every system."""

    kind = "unsafe_name"


class BadDownload(SpecExecError):
    """A server sends something other than the file that the Hub lists: another size or another SHA-256."""

    kind = "bad_download"


class OnlyByXet(SpecExecError):
    """A file larger than 50 GB whose server does not support range requests."""

    kind = "only_by_xet"


class DownloadRunning(SpecExecError):
    """Another process or download is working on the model's files."""

    kind = "download_running"


class DiskFull(DiskProblem):
    """The disk has no free space left. A download pauses; nothing is lost."""


class Gated(SpecExecError):
    """Access to the model is restricted. `page`: the URL of the web page where the user can get access."""

    def __init__(self, message: str, hint: str, page: str) -> None:
        super().__init__(message, hint)
        self.page = page


class TokenNeeded(Gated):
    """The model requires an account, and no access token was sent."""

    kind = "token_needed"


class LicenseNotAccepted(Gated):
    """The account has not yet accepted the model's licence on its page."""

    kind = "license_not_accepted"


class AccessRefused(Gated):
    """The account or its token has no access to the model."""

    kind = "access_refused"
