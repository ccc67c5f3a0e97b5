"""The options of `ServerPreferences`, in the order of the page."""

from PySide6.QtCore import QCoreApplication
from PySide6.QtNetwork import QAbstractSocket, QHostAddress, QNetworkInterface

from app.settings.options import Choice, Option, OptionSection


def _tr(text: str) -> str:
    return QCoreApplication.translate("server_options", text)


def server_sections() -> list[OptionSection]:
    """Return the options for the local server, in one section."""
    return [OptionSection(_tr("Options"), _options())]


def _options() -> list[Option]:
    return [
        Option(
            "server.starts_with_window",
            "switch",
            _tr("Start with the window"),
            _tr("Start the server whenever the window is opened."),
        ),
        Option(
            "server.port",
            "whole",
            _tr("Port"),
            _tr("The number at the end of the address. Programs that use the server must know it."),
        ),
        Option(
            "server.needs_key",
            "switch",
            _tr("Require a key"),
            _tr(
                "Only programs that give the key are answered. Without it, every program on this machine is."
            ),
        ),
        Option(
            "server.address",
            "choice",
            _tr("Who can reach it"),
            _tr(
                "Other machines need the key, and what they send is not encrypted: choose this in networks "
                "that you trust only."
            ),
            choices=_addresses(),
        ),
        Option(
            "server.origins",
            "lines",
            _tr("Web pages"),
            _tr("Web pages that may ask the server, such as http://localhost:3000. One per line."),
        ),
    ]


def _addresses() -> list[Choice]:
    """Return the addresses at which the server can listen: this machine's own, and those in its networks."""
    own: list[Choice] = [("127.0.0.1", _tr("This machine only"))]
    return own + [(each, _tr("Also other machines, at {}").format(each)) for each in _in_networks()]


def _in_networks() -> list[str]:
    return [
        address.toString()
        for address in QNetworkInterface.allAddresses()
        if address.protocol() == QAbstractSocket.NetworkLayerProtocol.IPv4Protocol
        and not address.isLoopback()
        and not address.isInSubnet(QHostAddress("169.254.0.0"), 16)
    ]
