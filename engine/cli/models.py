"""`specexec models`: what is here, whether it is sound, and away with it."""

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine import catalog
from engine.cli.common import Commands, cancelled_by_ctrl_c, fail, progress_line
from engine.errors import BadCheckpoint, Interrupted

if TYPE_CHECKING:
    from engine.hub import Stop, Stored, Verified


def add(commands: Commands) -> None:
    models = commands.add_parser(
        "models", help="what models are here; verify, delete, import or move them", allow_abbrev=False
    )
    models.set_defaults(run=run, act=_list)
    models.add_argument("--models", type=Path, metavar="PATH", help="the folder of the models")
    models.add_argument("--json", action="store_true", help="print one JSON object")
    actions = models.add_subparsers(metavar="ACTION")
    for act, name, help in (
        (_verify, "verify", "read every file and compare its SHA-256"),
        (_delete, "delete", "delete a model"),
        (_import, "import", "take over a .gguf file or a folder from elsewhere"),
        (_move, "move", "move all of them to another folder, and look there from now on"),
    ):
        action = actions.add_parser(name, help=help, allow_abbrev=False)
        action.set_defaults(act=act)
        action.add_argument("--json", action="store_true", default=argparse.SUPPRESS)
        if act is _verify:
            action.add_argument("names", nargs="*", metavar="NAME", help="default: all")
        elif act is _delete:
            action.add_argument("name", metavar="NAME")
        else:
            action.add_argument("path", type=Path, metavar="PATH")


def run(parsed: argparse.Namespace) -> int:
    models = (parsed.models or catalog.models_folder()).expanduser()
    status: int = parsed.act(models, parsed)
    return status


# -- one function for each action; each returns the exit status ----------------------------------------------


def _list(models: Path, parsed: argparse.Namespace) -> int:
    from engine import hub

    here = hub.stored(models)
    coming = hub.unfinished(models)
    if parsed.json:
        told = {
            "folder": str(models),
            "bytes": sum(model.nbytes for model in here),
            "models": [_described(model) for model in here],
            "unfinished": [{"name": item.name, "bytes": item.nbytes} for item in coming],
        }
        print(json.dumps(told, ensure_ascii=False))
        return 0
    print(models)
    for model in here:
        facts = ", ".join(filter(None, [*model.ids, model.license]))
        print(f"{_gib(model.nbytes)}  {model.name}" + (f"  ({facts})" if facts else ""))
    for item in coming:
        print(f"{_gib(item.nbytes)}  {item.name}  (not yet all here: specexec pull goes on)")
    return 0


def _verify(models: Path, parsed: argparse.Namespace) -> int:
    from engine import hub

    here = [hub.find_stored(models, name) for name in parsed.names] or hub.stored(models)
    verified = {}
    for model in here:
        with _watched(f"Reading {model.name}") as (stop, watch):
            verified[model.name] = hub.verify(model, stop, watch)
    told = [{"name": name, "files": _files(files)} for name, files in verified.items()]
    if not parsed.json:
        for name, files in verified.items():
            print(f"{_verdict(files):8}  {name}")
    bad = [name for name, files in verified.items() if _verdict(files) in ("damaged", "missing")]
    if bad:
        error = BadCheckpoint(f"Not as downloaded: {', '.join(bad)}.", "Delete and download it again.")
        return fail(error, parsed.json, models=told)
    if parsed.json:
        print(json.dumps({"models": told}, ensure_ascii=False))
    return 0


def _delete(models: Path, parsed: argparse.Namespace) -> int:
    from engine import hub

    model = hub.find_stored(models, parsed.name)
    freed = hub.delete(models, model)
    if parsed.json:
        print(json.dumps({"name": model.name, "bytes": freed}, ensure_ascii=False))
    else:
        print(f"{model.name}: {_gib(freed).strip()} freed")
    return 0


def _import(models: Path, parsed: argparse.Namespace) -> int:
    from engine import hub

    with _watched("Importing") as (stop, watch):
        model = hub.import_model(models, parsed.path.expanduser(), stop, watch)
    if parsed.json:
        print(json.dumps(_described(model), ensure_ascii=False))
    else:
        print(f"{model.name}: {_gib(model.nbytes).strip()}")
    return 0


def _move(models: Path, parsed: argparse.Namespace) -> int:
    from engine import hub

    target = parsed.path.expanduser().absolute()
    with _watched("Moving") as (stop, watch):
        nbytes = hub.move(models, target, stop, watch, catalog.keep_models_folder)
    if catalog.models_folder() != target:
        print(f"Set {catalog.MODELS_VARIABLE} to {target}, or unset it: it goes first.", file=sys.stderr)
    if parsed.json:
        print(json.dumps({"folder": str(target), "bytes": nbytes}, ensure_ascii=False))
    else:
        print(f"{target}: {_gib(nbytes).strip()}")
    return 0


# -- what they share -----------------------------------------------------------------------------------------


@contextmanager
def _watched(what: str) -> Iterator[tuple["Stop", Callable[[int, int], None]]]:
    """Progress on a terminal, and an end in good order by Ctrl-C."""
    from engine.hub import Stop, Stopped

    stop = Stop()
    with cancelled_by_ctrl_c() as cancelled, progress_line(what) as show:

        def watch(done: int, total: int) -> None:
            show(done, total)
            if cancelled():
                stop.ask()

        try:
            yield stop, watch
        except Stopped:
            raise Interrupted("It was ended.", "The same command begins again.") from None


def _described(model: "Stored") -> dict[str, Any]:
    return {
        "name": model.name,
        "ids": model.ids,
        "path": str(model.path),
        "bytes": model.nbytes,
        "repository": model.repository,
        "commit": model.commit,
        "license": model.license,
        "files": [str(file) for file in model.files],
    }


def _files(verified: list["Verified"]) -> list[dict[str, Any]]:
    return [
        {"path": str(file.path), "bytes": file.nbytes, "sha256": file.sha256, "state": file.state}
        for file in verified
    ]


def _verdict(verified: list["Verified"]) -> str:
    """The worst of its files."""
    states = {file.state for file in verified}
    return next((state for state in ("damaged", "missing", "unknown") if state in states), "ok")


def _gib(nbytes: int) -> str:
    return f"{nbytes / 2**30:8.2f} GiB"
