"""`specexec serve`: a server that speaks OpenAI's and Anthropic's interfaces."""

import argparse
import asyncio
import contextlib
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from engine.errors import BadOption
from engine.files import named_path
from engine.terminal import Commands, add_command, add_model_options, load_request, say

if TYPE_CHECKING:
    from engine.server.site import SiteOptions

KEY_VARIABLE = "SPECEXEC_KEY"
MOST_KEY_NBYTES = 4096


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "serve",
        run,
        "serve a model to other programs on this machine",
        "Speaks OpenAI's interfaces (/v1/models, /v1/chat/completions, /v1/completions, /v1/responses) and "
        "Anthropic's (/v1/messages, /v1/messages/count_tokens), and has /health and /metrics. Shares the "
        "engine, and the model that it has loaded, with the window. Ctrl-C ends it.",
        as_json="print one JSON object with the address and the model once requests are answered",
    )
    add_model_options(parser)
    network = parser.add_argument_group("network")
    network.add_argument(
        "--host", metavar="ADDRESS", default="127.0.0.1", help="address to listen at (default: 127.0.0.1)"
    )
    network.add_argument(
        "--port", type=int, metavar="N", default=8484, help="port; 0: any free one (default: 8484)"
    )
    network.add_argument(
        "--key-file",
        type=Path,
        metavar="FILE",
        help="file with the key that clients must give; every address but this machine's own requires one "
        f"(default: ${KEY_VARIABLE}, or else none)",
    )
    network.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="another name under which clients address this server; repeatable (default: none)",
    )
    network.add_argument(
        "--allow-origin",
        action="append",
        default=[],
        metavar="ORIGIN",
        help="web page that may ask, such as http://localhost:3000; repeatable (default: none)",
    )
    network.add_argument(
        "--end-with-input",
        action="store_true",
        help="end when the standard input ends, for programs that start the server (default: Ctrl-C ends it)",
    )
    serving = parser.add_argument_group("requests")
    serving.add_argument(
        "--switch",
        action="store_true",
        help="load another installed model when a request names it (default: such requests are refused)",
    )
    serving.add_argument(
        "--most-waiting",
        type=int,
        metavar="N",
        default=16,
        help="number of requests that may wait while another is answered (default: 16)",
    )


def run(parsed: argparse.Namespace) -> int:
    from engine.server.listener import open_socket, serve

    options = site_options(parsed)
    opened = open_socket(parsed.host, parsed.port)
    host = f"[{parsed.host}]" if ":" in parsed.host else parsed.host
    address = f"http://{host}:{opened.getsockname()[1]}"

    def ready(model: str) -> None:
        if parsed.json:
            say(json.dumps({"address": address, "model": model}, ensure_ascii=False))
        else:
            say(f"{model} is served at {address}/v1. Ctrl-C ends the server.")

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(opened, options, ready, sys.stdin.fileno() if parsed.end_with_input else None))
    return 0


def site_options(parsed: argparse.Namespace) -> "SiteOptions":
    """Return the options of the server. Raises BadOption if others could use it without a key."""
    from engine.server.gate import LOOPBACK
    from engine.server.site import SiteOptions

    key = key_of(parsed.key_file)
    if parsed.host not in LOOPBACK and key is None:
        raise BadOption(
            f"At {parsed.host}, other machines could use the model without a key.",
            f"Give a key with --key-file or ${KEY_VARIABLE}, or listen at 127.0.0.1.",
        )
    if parsed.most_waiting < 0:
        raise BadOption("--most-waiting must not be negative.", "Give 0 or more.")
    return SiteOptions(
        load=structs.replace(load_request(parsed), asker="specexec serve"),
        key=key,
        hosts=(*LOOPBACK, parsed.host, *parsed.allow_host),
        origins=tuple(parsed.allow_origin),
        switches=parsed.switch,
        most_waiting=parsed.most_waiting,
    )


def key_of(file: Path | None) -> str | None:
    """Return the key that clients must give; None: none. Raises BadOption if the file holds none.

    The variable is removed, so that the processes that the server starts, such as the engine, do not get it.
    """
    given = os.environ.pop(KEY_VARIABLE, "")
    return given or None if file is None else key_in(file)


def key_in(file: Path) -> str:
    """Return the key in a file. Raises BadOption if it holds none."""
    try:
        with named_path(file).open("rb") as opened:
            key = opened.read(MOST_KEY_NBYTES).decode().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BadOption(f"The key cannot be read from {file}: {error}.", "Check --key-file.") from error
    if not key:
        raise BadOption(f"{file} holds no key.", "Write one into it, as one line of text.")
    return key
