"""What can go wrong between here and the Hub, as kinds of `engine.errors`."""

from engine.errors import DiskProblem, SpecExecError


class HubUnreachable(SpecExecError):
    """The Hub does not answer, or not in a way that is understood."""

    kind = "hub_unreachable"


class UnsafeName(SpecExecError):
    """A repository offers a file whose name leads out of its folder, or means something else on some
    system."""

    kind = "unsafe_name"


class BadDownload(SpecExecError):
    """What a server sends is not what the Hub's list promises: another size, another SHA-256."""

    kind = "bad_download"


class OnlyByXet(SpecExecError):
    """A file beyond 50 GB that its server does not give out in ranges of bytes."""

    kind = "only_by_xet"


class DownloadRunning(SpecExecError):
    """Another process, or another download, has the model."""

    kind = "download_running"


class DiskFull(DiskProblem):
    """No room is left. A download pauses; nothing is lost."""


class Gated(SpecExecError):
    """A model that is not given to everyone. Attribute `page`: where a person can change that."""

    def __init__(self, message: str, hint: str, page: str) -> None:
        super().__init__(message, hint)
        self.page = page


class TokenNeeded(Gated):
    """The model wants an account, and no access token was sent."""

    kind = "token_needed"


class LicenseNotAccepted(Gated):
    """The account has not yet accepted the model's licence on its page."""

    kind = "license_not_accepted"


class AccessRefused(Gated):
    """The account or its token may not have the model."""

    kind = "access_refused"
