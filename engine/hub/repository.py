"""What the Hub says of models: search, a repository's files at a pinned commit, and whether it may be had."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

import httpx2

from engine.errors import BadOption
from engine.hub.access import refusal
from engine.hub.errors import HubUnreachable
from engine.hub.item import RemoteFile, Repository
from engine.hub.quiet import hush
from engine.hub.tokens import Tokens

if TYPE_CHECKING:
    from huggingface_hub import HfApi
    from huggingface_hub.hf_api import ModelInfo

HUGGING_FACE = "https://huggingface.co"
ENDPOINT_VARIABLE = "HF_ENDPOINT"
_COMMIT = re.compile(r"[0-9a-f]{7,64}")
_ADDRESS = re.compile(r"(?:https?://[^/\s]+/)?([\w.-]+/[\w.-]+)(?:/(?:tree|blob|resolve)/\S*|/)?")


@dataclass(frozen=True, slots=True)
class Found:
    """A repository that a search found. `license`: "" where it names none."""

    id: str
    downloads: int
    likes: int
    license: str
    gated: bool


class Hub:
    """The Hugging Face Hub or a mirror of it. Each call waits for the network: none belongs on a window's
    thread.

    All raise `HubUnreachable`, `ModelNotFound`, and `TokenNeeded`, `LicenseNotAccepted` or `AccessRefused`.
    Attributes: `endpoint` ($HF_ENDPOINT, else huggingface.co), `tokens`.
    """

    def __init__(self, endpoint: str | None = None, tokens: Tokens | None = None) -> None:
        self.endpoint = (endpoint or os.environ.get(ENDPOINT_VARIABLE) or HUGGING_FACE).rstrip("/")
        if urlsplit(self.endpoint).scheme not in ("http", "https") or not urlsplit(self.endpoint).netloc:
            raise BadOption(
                f"{self.endpoint!r} is no address of a Hub.", f"Set {ENDPOINT_VARIABLE} to https://…"
            )
        self.tokens = tokens or Tokens(self.endpoint)

    def page(self, repository: str) -> str:
        """The model's page, for a person."""
        return f"{self.endpoint}/{repository}"

    def file_url(self, repository: Repository, file: RemoteFile) -> str:
        return f"{self.endpoint}/{repository.id}/resolve/{repository.commit}/{quote(file.name)}"

    def search(self, text: str, limit: int = 20) -> list[Found]:
        """Repositories whose name has `text` in it, the most downloaded first."""
        with self._named(text) as api:
            models = api.list_models(
                search=text,
                limit=limit,
                sort="downloads",
                expand=["downloads", "likes", "gated", "tags"],
                token=self.tokens.get() or False,
            )
            return [
                Found(info.id, info.downloads or 0, info.likes or 0, _license(info), bool(info.gated))
                for info in models
            ]

    def repository(self, id: str, revision: str = "") -> Repository:
        """All files of the repository `id` (owner/name), with the commit that `revision` (a branch, a tag, a
        commit; "": the usual branch) stands for now. Raises `UnsafeName` for names that no folder can
        hold."""
        with self._named(id) as api:
            info = api.model_info(
                id, revision=revision or None, files_metadata=True, token=self.tokens.get() or False
            )
            commit = info.sha or ""
            if not _COMMIT.fullmatch(commit):
                raise ValueError("no commit")
            files = tuple(
                RemoteFile(
                    found.rfilename,
                    _size(found.lfs.size if found.lfs else found.size),
                    _hexadecimal(found.lfs.sha256, 64) if found.lfs else "",
                    _hexadecimal(found.blob_id, 40) if not found.lfs and found.blob_id else "",
                )
                for found in info.siblings or ()
            )
        return Repository(id, commit, _license(info), bool(info.gated), self.page(id), files)

    def check_access(self, repository: Repository) -> None:
        """Whether its files will be given out, before the first is asked for: raises the errors above."""
        if not repository.gated:
            return
        from huggingface_hub.errors import HfHubHTTPError

        with self._named(repository.id) as api:
            try:
                api.auth_check(repository.id, token=self.tokens.get() or False)
            except HfHubHTTPError as error:
                if error.response.status_code != 404:  # a mirror may not know this question
                    raise

    @contextmanager
    def _named(self, repository: str) -> Iterator["HfApi"]:
        """Errors of the library as ours."""
        hush()
        from huggingface_hub import HfApi, constants
        from huggingface_hub.errors import HfHubHTTPError

        if constants.HF_HUB_OFFLINE:
            raise HubUnreachable("The Hub is switched off by HF_HUB_OFFLINE.", "Unset it to download models.")
        host = urlsplit(self.endpoint).netloc
        try:
            yield HfApi(endpoint=self.endpoint)
        except HfHubHTTPError as error:
            status = error.response.status_code
            if status in (401, 403, 404):
                sent_token = self.tokens.get() is not None
                raise refusal(
                    status, error.response.headers, repository, self.page(repository), sent_token
                ) from None
            raise HubUnreachable(f"{host} answers with error {status}.", "Try again later.") from None
        except httpx2.HTTPError as error:
            raise HubUnreachable(
                f"{host} does not answer.",
                "Check the connection to the Internet, and the proxy if there is one.",
            ) from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise HubUnreachable(
                f"{host} answers in a way that is not understood.", "Is it the address of a Hub?"
            ) from error


def repository_id(text: str) -> str | None:
    """owner/name from what a person typed or pasted: that, or the address of a page of it."""
    match = _ADDRESS.fullmatch(text.strip())
    return match[1] if match else None


def _size(said: object) -> int:
    if type(said) is not int or said < 0:
        raise ValueError("a file without a size")
    return said


def _hexadecimal(said: object, digits: int) -> str:
    if not isinstance(said, str) or not re.fullmatch(rf"[0-9a-f]{{{digits}}}", said):
        raise ValueError("a checksum that is none")
    return said


def _license(info: "ModelInfo") -> str:
    named = (tag.removeprefix("license:") for tag in info.tags or () if tag.startswith("license:"))
    return next(named, "")
