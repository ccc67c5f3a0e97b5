"""The access token of the user's account, in the system's keyring."""

import os
from urllib.parse import urlsplit

from engine.errors import BadOption

SERVICE = "specexec-desktop"
VARIABLE = "HF_TOKEN"


class Tokens:
    """The token for one endpoint: of this session, else from the system's keyring, else from $HF_TOKEN.

    A token kept for one host is never given to another.
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
            except KeyringError:  # none here, or it stays locked
                self._kept = None
        return self._kept or os.environ.get(VARIABLE) or None

    def keep(self, token: str) -> str:
        """Returns a notice for the user, "" where the keyring has taken it. Raises `BadOption`."""
        import keyring
        from keyring.errors import KeyringError

        token = token.strip()
        if not (token.isascii() and token.isprintable() and token) or " " in token:
            raise BadOption("This is no access token.", "Copy it whole; it begins with hf_.")
        self._kept = token
        try:
            keyring.set_password(SERVICE, self._host, token)
        except KeyringError:
            return "This system has no keyring: the token is kept in memory only, until the program ends."
        return ""

    def forget(self) -> None:
        import keyring
        from keyring.errors import KeyringError

        self._kept, self._asked_keyring = None, True
        try:
            keyring.delete_password(SERVICE, self._host)
        except KeyringError:
            return  # none was kept
