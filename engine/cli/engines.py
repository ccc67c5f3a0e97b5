"""`specexec engines`: list, add, remove and test engines elsewhere."""

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from engine.cli.serve import key_in
from engine.remote import engines
from engine.remote.engines import AddedEngine
from engine.remote.models import RemoteModel, models
from engine.terminal import Commands, add_action, add_command, say


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "engines",
        run,
        "list, add, remove or test engines elsewhere",
        "An engine elsewhere is a server with OpenAI's interface, such as vLLM, SGLang, llama-server, LM "
        "Studio or Ollama. What is asked with specexec chat --engine NAME is sent to it; to all others, "
        "nothing is. Without an action, lists the added engines.",
    )
    parser.set_defaults(act=_list)
    actions = parser.add_subparsers(metavar="ACTION", title="actions")
    adding = add_action(actions, "add", _add, "add an engine")
    adding.add_argument("name", metavar="NAME", help="name to call it by")
    adding.add_argument(
        "address",
        metavar="ADDRESS",
        help="base URL of its interface, such as http://localhost:8000/v1; without a scheme, http:// for "
        "this machine and https:// for others; without a path, /v1",
    )
    adding.add_argument(
        "--key-file",
        type=Path,
        metavar="FILE",
        help="file with the key that the engine asks for; the key is stored in the system's keyring "
        "(default: $SPECEXEC_ENGINE_KEY_NAME, or else none)",
    )
    adding.add_argument(
        "--certificate",
        metavar="FILE",
        default="",
        help="file in PEM with the certificate of the server or of its authority (default: the authorities "
        "that the system trusts)",
    )
    adding.add_argument(
        "--allow-clear",
        action="store_true",
        help="send the key unencrypted over http:// to a public address, too (default: refuse)",
    )
    removing = add_action(actions, "remove", _remove, "remove an engine and its key")
    removing.add_argument("name", metavar="NAME", help="engine, as listed")
    testing = add_action(actions, "test", _test, "ask an engine which models it serves")
    testing.add_argument("name", metavar="NAME", help="engine, as listed")


def run(parsed: argparse.Namespace) -> int:
    status: int = parsed.act(parsed)
    return status


# -- the actions; each returns the exit status -------------------------------------------------------------


def _list(parsed: argparse.Namespace) -> int:
    listed = engines.added()
    if parsed.json:
        say(json.dumps({"engines": [asdict(engine) for engine in listed]}, ensure_ascii=False))
        return 0
    for engine in listed:
        say(f"{engine.name}  {engine.address}")
    if not listed:
        say("No engine was added: all models run on this machine.", to_stderr=True)
    return 0


def _add(parsed: argparse.Namespace) -> int:
    key = key_in(parsed.key_file) if parsed.key_file else ""
    engine = AddedEngine(parsed.name, parsed.address, parsed.certificate, parsed.allow_clear)
    notice = engines.add(engine, key)
    engine = engines.checked(engine)
    if parsed.json:
        say(json.dumps({**asdict(engine), "notice": notice}, ensure_ascii=False))
    else:
        say(f"{engine.name} was added: {engine.address}. specexec engines test {engine.name} tries it.")
    if notice:
        say(notice, to_stderr=True)
    return 0


def _remove(parsed: argparse.Namespace) -> int:
    engines.remove(parsed.name)
    if parsed.json:
        say(json.dumps({"name": parsed.name, "removed": True}, ensure_ascii=False))
    else:
        say(f"{parsed.name} was removed, with its key.")
    return 0


def _test(parsed: argparse.Namespace) -> int:
    engine = engines.find(parsed.name)
    served = models(engine, engines.key_of(engine.name))
    if parsed.json:
        described = [asdict(model) for model in served]
        say(json.dumps({"name": engine.name, "place": engine.place, "models": described}, ensure_ascii=False))
        return 0
    say(f"{engine.place} answers as {served[0].server}.")
    for model in served:
        say(_line(model))
    return 0


def _line(model: RemoteModel) -> str:
    return f"{model.id}" + (f"  (context of {model.context} tokens)" if model.context else "")
