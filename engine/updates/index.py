"""The release index: one signed JSON document that names the newest version and its files.

It is read only after its signature (`engine.signature`) was verified.
"""

import re
from typing import Annotated
from urllib.parse import urljoin

import httpx2
from msgspec import Meta, Struct

from engine import signature
from engine.documents import json_of
from engine.errors import SpecExecError
from engine.hub.connection import Bounds, fetch
from engine.updates.errors import BadRelease, ReleasesUnreachable
from engine.updates.package import Kind, Package

CONTEXT = b"specexec-desktop release index 1\n"
BOUNDS = Bounds(silence_s=10.0, whole_s=30.0, nbytes=1 << 20)
MOST_NBYTES = 4 << 30  # of a package
_VERSION = re.compile(r"\d{1,9}(?:\.\d{1,9}){0,9}", re.ASCII)


class ReleaseFile(Struct, frozen=True):
    """A package in a release. `url`: its address, which may be relative to that of the index."""

    kind: Kind
    name: Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]{0,99}$")]
    url: str
    nbytes: Annotated[int, Meta(ge=1, le=MOST_NBYTES)]
    sha256: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]


class ReleaseIndex(Struct, frozen=True):
    """The newest release. `page`: the address of the web page that describes it, "" if there is none."""

    version: Annotated[str, Meta(pattern=r"^[0-9][0-9A-Za-z.]{0,39}$")]
    page: Annotated[str, Meta(pattern="^(https://.*)?$")]
    files: list[ReleaseFile]

    def file(self, kind: Kind) -> ReleaseFile | None:
        return next((file for file in self.files if file.kind == kind), None)


class _Envelope(Struct, frozen=True):
    """A signed document."""

    signed: str
    signature: Annotated[str, Meta(pattern="^[0-9a-f]{128}$")]


def verified_index(document: bytes, public_key: str) -> ReleaseIndex:
    """Return the index in a document. Raises `BadRelease` if the signature is wrong or the index invalid."""
    try:
        envelope = json_of(document, _Envelope)
        key, signed = bytes.fromhex(public_key), envelope.signed.encode()
        if not signature.verify(key, CONTEXT + signed, bytes.fromhex(envelope.signature)):
            raise ValueError("its signature is wrong")
        return json_of(signed, ReleaseIndex)
    except ValueError as error:
        raise BadRelease(
            f"The list of releases cannot be trusted: {error}.", "Try again later, or another network."
        ) from error


def newest_release(package: Package) -> ReleaseIndex | None:
    """Return the newest release if it is newer than `package`, else None.

    Sends one request without data about the user. File addresses become absolute. Raises
    `ReleasesUnreachable`; `BadRelease`.
    """
    try:
        answer = fetch(package.releases, bounds=BOUNDS)
        if answer.status != 200:
            raise ValueError(f"error {answer.status}")
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, SpecExecError) as error:
        raise ReleasesUnreachable(
            "The list of releases could not be downloaded.", "Try again later."
        ) from error
    index = verified_index(answer.body, package.public_key)
    if not is_newer(index.version, package.version):
        return None
    files = [
        ReleaseFile(file.kind, file.name, urljoin(package.releases, file.url), file.nbytes, file.sha256)
        for file in index.files
    ]
    return ReleaseIndex(index.version, index.page, files)


def is_newer(version: str, than: str) -> bool:
    return _order(version) > _order(than)


def _order(text: str) -> tuple[list[int], bool]:
    """Return a key that sorts versions: 1.2 before 1.2.1, and a pre-release (1.2rc1) before its release."""
    match = _VERSION.match(text)
    numbers = [int(part) for part in match.group().split(".")] if match else []
    return numbers, match is not None and match.group() == text
