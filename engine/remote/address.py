"""Addresses of engines elsewhere: as users give them, and who can read what is sent to them."""

import ipaddress
from urllib.parse import urlsplit

import httpx2

from engine.errors import BadOption

HINT = "Give it as http://host:8000/v1, with the port of the server."


def base_url(text: str) -> str:
    """Return the base URL of the interface from an address as a user gives it.

    Without a scheme, it is http:// for this machine and https:// for others; without a path, /v1. Raises
    BadOption if it is no address, or contains a password, a query or a fragment.
    """
    text = text.strip()
    if "://" not in text:
        host = _url(f"http://{text}").host
        text = f"{'http' if is_this_machine(host) else 'https'}://{text}"
    url = _url(text)
    if url.scheme not in ("http", "https") or not url.host or not 0 < (url.port or 80) < 65536:
        raise BadOption(f"{text[:200]!r} is no address of a server.", HINT)
    if url.userinfo or url.query or url.fragment:
        raise BadOption("The address contains more than a host, a port and a path.", HINT)
    path = url.path.rstrip("/")
    return str(url.copy_with(path=path or "/v1"))


def _url(text: str) -> httpx2.URL:
    try:
        return httpx2.URL(text)
    except (httpx2.InvalidURL, ValueError) as error:
        raise BadOption(f"{text[:200]!r} is no address of a server.", HINT) from error


def place_of(address: str) -> str:
    """Return host and port of a base URL, as users are shown where their text goes."""
    url = httpx2.URL(address)
    port = url.port or (443 if url.scheme == "https" else 80)
    host = f"[{url.host}]" if ":" in url.host else url.host
    return f"{host}:{port}"


def origin_of(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.scheme}://{place_of(address)}"


def is_this_machine(host: str) -> bool:
    """Return whether a host's name or address is surely this machine's own."""
    if host.lower().rstrip(".") == "localhost" or host.lower().endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_private(address: str) -> bool:
    """Return whether an IP address is this machine's or in a private network. False if it is no address."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(found, "ipv4_mapped", None)
    found = mapped or found
    return found.is_loopback or found.is_private or found.is_link_local
