"""The access token of the user's account on the Hub, which is stored in the system's keyring."""

import os
from urllib.parse import urlsplit

from engine.errors import BadOption

SERVICE = "specexec-desktop"
VARIABLE = "HF_TOKEN"


class AccessTokens:
    """The access token for one Hub: from this session, else the system's keyring, else $HF_TOKEN.

    endpoint: the Hub's URL. A token that was stored for one host is never sent to another.
    """

    def __init__(self, endpoint: str) -> None:
        self._host = urlsplit(endpoint).netloc
        self._kept: str | None = None
        self._asked_keyring = False

    def get(self) -> str | None:
        if self._kept is None and not self._asked_keyring:
            import keyring
            from keyring.errors import KeyringError

            self._asked_keyring = True
            try:
                self._kept = keyring.get_password(SERVICE, self._host)
            except KeyringError:  # there is no keyring, or it stays locked
                self._kept = None
        return self._kept or os.environ.get(VARIABLE) or None

    def keep(self, token: str) -> str:
        """Store the token in the keyring. Return "", or a notice for the user if there is no keyring.

        Raises `BadOption` if `token` cannot be an access token.
        """
        import keyring
        from keyring.errors import KeyringError

        token = token.strip()
        if not (token.isascii() and token.isprintable() and token) or " " in token:
            raise BadOption("This is not an access token.", "Copy all of it; it begins with hf_.")
        self._kept = token
        try:
            keyring.set_password(SERVICE, self._host, token)
        except KeyringError:
            return "This system has no keyring: the token is kept in memory until the program ends."
        return ""

    def forget(self) -> None:
        import keyring
        from keyring.errors import KeyringError

        self._kept, self._asked_keyring = None, True
        try:
            keyring.delete_password(SERVICE, self._host)
        except KeyringError:
            return  # the keyring had no token, or there is no keyring
