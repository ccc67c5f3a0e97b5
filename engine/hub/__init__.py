"""Download models from the Hugging Face Hub and manage those on this machine. Imports neither torch nor Qt.

A `Hub` searches for repositories and lists their files; `choose` selects a model's files, and `item_of` puts
the files of one or more models into an `Item`; a `Download` fetches an item into the models folder and
survives network faults, pauses and restarts. `stored` lists the models in that folder; `find_renewal` finds
newer files of one; `verify`, `delete`, `import_model` and `move` manage them. Files are stored in
models/owner/name under the names they have on the Hub, with a manifest.
"""

from engine.hub.download import Download
from engine.hub.errors import (
    AccessRefused,
    BadDownload,
    DiskFull,
    DownloadRunning,
    Gated,
    HubUnreachable,
    LicenseNotAccepted,
    OnlyByXet,
    TokenNeeded,
    UnsafeName,
)
from engine.hub.imports import import_model
from engine.hub.item import Item, RemoteFile, Repository, item
from engine.hub.progress import DownloadProgress, FileProgress
from engine.hub.relocation import move
from engine.hub.renewal import Renewal, find_renewal
from engine.hub.repository import Hub, SearchHit, repository_id
from engine.hub.selection import RepositoryModel, choose, item_of, offers
from engine.hub.stop import Stop, Stopped
from engine.hub.stored import StoredModel, Verified, delete, find_stored, stored, verify
from engine.hub.tokens import AccessTokens
from engine.hub.transfer import Limit, Patience
from engine.hub.unfinished import unfinished

__all__ = [
    "AccessRefused",
    "AccessTokens",
    "BadDownload",
    "DiskFull",
    "Download",
    "DownloadProgress",
    "DownloadRunning",
    "FileProgress",
    "Gated",
    "Hub",
    "HubUnreachable",
    "Item",
    "LicenseNotAccepted",
    "Limit",
    "OnlyByXet",
    "Patience",
    "RemoteFile",
    "Renewal",
    "Repository",
    "RepositoryModel",
    "SearchHit",
    "Stop",
    "Stopped",
    "StoredModel",
    "TokenNeeded",
    "UnsafeName",
    "Verified",
    "choose",
    "delete",
    "find_renewal",
    "find_stored",
    "import_model",
    "item",
    "item_of",
    "move",
    "offers",
    "repository_id",
    "stored",
    "unfinished",
    "verify",
]
