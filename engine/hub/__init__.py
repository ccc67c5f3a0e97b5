"""Models from the Hugging Face Hub onto this machine, and what is here of them. Free of torch and Qt.

A `Hub` says what there is; `choose` and `item_of` make an `Item` of it, a `Download` brings the item into the
models folder, across faults of the network, pauses and restarts. `stored` lists what is there; `verify`,
`delete`, `import_model` and `move` care for it. Files lie in models/owner/name as the Hub names them, with a
manifest.
"""

from engine.hub.catalogue import item_of
from engine.hub.choosing import Offer, choose, offers
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
from engine.hub.importing import import_model
from engine.hub.item import Item, RemoteFile, Repository, item
from engine.hub.limit import Limit
from engine.hub.moving import move
from engine.hub.progress import FileProgress, Progress
from engine.hub.repository import Found, Hub, repository_id
from engine.hub.stop import Stop, Stopped
from engine.hub.storage import Verified, delete, verify
from engine.hub.stored import Stored, find_stored, stored
from engine.hub.tokens import Tokens
from engine.hub.transfer import Patience
from engine.hub.unfinished import unfinished

__all__ = [
    "AccessRefused",
    "BadDownload",
    "DiskFull",
    "Download",
    "DownloadRunning",
    "FileProgress",
    "Found",
    "Gated",
    "Hub",
    "HubUnreachable",
    "Item",
    "LicenseNotAccepted",
    "Limit",
    "Offer",
    "OnlyByXet",
    "Patience",
    "Progress",
    "RemoteFile",
    "Repository",
    "Stop",
    "Stopped",
    "Stored",
    "TokenNeeded",
    "Tokens",
    "UnsafeName",
    "Verified",
    "choose",
    "delete",
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
