"""The access token of the user's account on the Hub, which is stored in the system's keyring."""

import os
from urllib.parse import urlsplit

from engine.errors import BadOption
from engine.secret import NO_KEYRING, KeptSecret

VARIABLE = "HF_TOKEN"


class AccessTokens:
    """The access token for one Hub: from this session, else the system's keyring, else $HF_TOKEN.

    endpoint: the Hub's URL. A token that was stored for one host is never sent to another.
    """

    def __init__(self, endpoint: str) -> None:
        self._secret = KeptSecret(urlsplit(endpoint).netloc)

    def get(self) -> str | None:
        return self._secret.get() or os.environ.get(VARIABLE) or None

    def keep(self, token: str) -> str:
        """Store the token in the keyring. Return "", or a notice for the user if there is no keyring.

        Raises `BadOption` if `token` cannot be an access token.
        """
        token = token.strip()
        if not (token.isascii() and token.isprintable() and token) or " " in token:
            raise BadOption("This is not an access token.", "Copy all of it; it begins with hf_.")
        return "" if self._secret.keep(token) else NO_KEYRING.format(what="token")

    def forget(self) -> None:
        self._secret.forget()
