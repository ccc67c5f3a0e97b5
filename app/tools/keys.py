"""The keys of tool servers behind addresses, in the system's keyring."""

from msgspec import structs

from app.preferences import ToolServer
from app.tools.fault import ToolFault
from app.tools.web import address_of
from engine.remote.address import origin_of
from engine.secret import KeptSecret

_secrets: dict[str, KeptSecret] = {}  # by account; without a keyring, they live as long as the program


def key_of(server: ToolServer) -> str:
    """Return the key of a server; "" if it has none. May wait for the keyring. Raises ToolFault."""
    return (server.has_key and _secret(server).get()) or ""


def with_key(server: ToolServer, key: str, before: ToolServer | None) -> tuple[ToolServer, bool]:
    """Return the server as the settings name it, after storing its key, and whether the keyring has taken it:
    else it lasts until the program ends.

    key: "": that of the server before stays, unless the address leads to another server now. before: the
    server that this one replaces, whose key is deleted where it is not this one's. May wait for the keyring.
    Raises ToolFault if the key or the address cannot be one.
    """
    if not key.isascii() or not key.isprintable():
        raise ToolFault("The key has characters that no key has.", "Copy it again.")
    if before is not None and before.has_key:
        same_place = server.address and _origin(server) == _origin(before)
        if same_place and server.name == before.name and not key:
            return structs.replace(server, has_key=True), True
        key = key or (key_of(before) if same_place else "")
        forget_key(before)
    if not key or not server.address:
        return structs.replace(server, has_key=False), True
    return structs.replace(server, has_key=True), _secret(server).keep(key)


def forget_key(server: ToolServer) -> None:
    """Delete the key of a server, if it has one. May wait for the keyring. Raises ToolFault."""
    if server.has_key:
        _secret(server).forget()


def _secret(server: ToolServer) -> KeptSecret:
    # With the origin, so that a key is sent to the server for which it was stored, whatever the settings say.
    account = f"tools/{server.name}/{_origin(server)}"
    return _secrets.setdefault(account, KeptSecret(account))


def _origin(server: ToolServer) -> str:
    return origin_of(str(address_of(server.address)))
