"""A secret in the system's keyring, such as an access token. Imports nothing else from the engine."""

from contextlib import suppress

SERVICE = "specexec-desktop"
NO_KEYRING = "This system has no keyring: the {what} is kept in memory until the program ends."


class StaysLocked(Exception):
    """A keyring that the user has not unlocked."""


def stored(account: str) -> str | None:
    """Return a secret from the system's keyring; None if the keyring has none, or does not work.

    May take as long as the user takes to unlock the keyring. Raises StaysLocked.
    """
    import keyring
    from keyring.errors import KeyringLocked

    try:
        return keyring.get_password(SERVICE, account)
    except KeyringLocked as error:
        raise StaysLocked from error
    except Exception:  # a KeyringError, or one of the keyring's own library, such as D-Bus
        return None


def store(account: str, secret: str) -> bool:
    """Store a secret in the system's keyring. Return False if there is none, or it refuses."""
    import keyring

    try:
        keyring.set_password(SERVICE, account, secret)
    except Exception:  # as above
        return False
    return True


class KeptSecret:
    """One secret: from this session, else from the system's keyring, which is asked once.

    account: what the secret is for, in the keyring's list.
    """

    def __init__(self, account: str) -> None:
        self._account = account
        self._kept: str | None = None
        self._asked_keyring = False

    def get(self) -> str | None:
        if self._kept is None and not self._asked_keyring:
            self._asked_keyring = True
            with suppress(StaysLocked):
                self._kept = stored(self._account)
        return self._kept

    def keep(self, secret: str) -> bool:
        """Store the secret in the keyring. Return False if there is none; it lasts for this session."""
        self._kept = secret
        return store(self._account, secret)

    def forget(self) -> None:
        import keyring

        self._kept, self._asked_keyring = None, True
        # The keyring may have no such secret, or there may be no keyring.
        with suppress(Exception):
            keyring.delete_password(SERVICE, self._account)
