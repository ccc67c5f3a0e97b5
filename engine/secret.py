"""A secret in the system's keyring, such as an access token. Imports nothing else from the engine."""

SERVICE = "specexec-desktop"
NO_KEYRING = "This system has no keyring: the {what} is kept in memory until the program ends."


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
            import keyring
            from keyring.errors import KeyringError

            self._asked_keyring = True
            try:
                self._kept = keyring.get_password(SERVICE, self._account)
            except KeyringError:  # there is no keyring, or it stays locked
                self._kept = None
        return self._kept

    def keep(self, secret: str) -> bool:
        """Store the secret in the keyring. Return False if there is none; it lasts for this session."""
        import keyring
        from keyring.errors import KeyringError

        self._kept = secret
        try:
            keyring.set_password(SERVICE, self._account, secret)
        except KeyringError:
            return False
        return True

    def forget(self) -> None:
        import keyring
        from keyring.errors import KeyringError

        self._kept, self._asked_keyring = None, True
        try:
            keyring.delete_password(SERVICE, self._account)
        except KeyringError:
            return  # the keyring had no such secret, or there is no keyring
