"""`specexec models`: list, verify, delete, import and move installed models."""

import argparse
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine import catalog
from engine.errors import BadCheckpoint, BadOption, Interrupted
from engine.files import named_path
from engine.terminal import (
    Commands,
    add_action,
    add_command,
    add_folder_option,
    cancelled_by_ctrl_c,
    fail,
    progress_line,
    say,
)

if TYPE_CHECKING:
    from engine.hub import Stop, StoredModel, Verified


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "models",
        run,
        "list, verify, delete, import or move installed models",
        "Without an action, lists the models of the models folder with their sizes.",
    )
    parser.set_defaults(act=_list)
    add_folder_option(parser)
    actions = parser.add_subparsers(metavar="ACTION", title="actions")
    verify = add_action(actions, "verify", _verify, "read every file and compare its SHA-256 checksum")
    verify.add_argument("names", nargs="*", metavar="NAME", help="model, as listed (default: all models)")
    delete = add_action(actions, "delete", _delete, "delete a model")
    delete.add_argument("name", metavar="NAME", help="model, as listed")
    import_ = add_action(actions, "import", _import, "copy or link a model into the models folder")
    import_.add_argument("path", type=Path, metavar="PATH", help="a GGUF file or a folder of safetensors")
    move = add_action(
        actions, "move", _move, "move all models to another folder, which becomes the models folder"
    )
    move.add_argument(
        "path",
        type=Path,
        nargs="?",
        metavar="PATH",
        help="new models folder (default: moves the models that earlier versions kept in the cache, which "
        "cleaners empty, to the user's data)",
    )


def run(parsed: argparse.Namespace) -> int:
    models = named_path(parsed.models or catalog.models_folder())
    status: int = parsed.act(models, parsed)
    return status


# -- the actions; each returns the exit status
# ----------------------------------------------------------------


def _list(models: Path, parsed: argparse.Namespace) -> int:
    from engine import hub

    installed = hub.stored(models)
    unfinished = hub.unfinished(models)
    if parsed.json:
        result = {
            "folder": str(models),
            "bytes": sum(model.nbytes for model in installed),
            "models": [_described(model) for model in installed],
            "unfinished": [{"name": item.name, "bytes": item.nbytes} for item in unfinished],
            "faults": _faults(installed),
        }
        say(json.dumps(result, ensure_ascii=False))
        return 0
    say(str(models))
    for model in installed:
        facts = ", ".join(filter(None, [*model.ids, model.license]))
        say(f"{_gib(model.nbytes)}  {model.name}" + (f"  ({facts})" if facts else ""))
    for item in unfinished:
        say(f"{_gib(item.nbytes)}  {item.name}  (incomplete; specexec pull resumes it)")
    say(*_faults(installed), to_stderr=True)
    if parsed.models is None and (left := catalog.left_behind()) is not None:
        say(
            f"There are models in {left[0]}, a cache, which cleaners empty. specexec models move moves them "
            f"to {left[1]}.",
            to_stderr=True,
        )
    return 0


def _verify(models: Path, parsed: argparse.Namespace) -> int:
    from engine import hub

    chosen = [hub.find_stored(models, name) for name in parsed.names] or hub.stored(models)
    verified = {}
    for model in chosen:
        with _with_progress(f"Reading {model.name}") as (stop, progress):
            verified[model.name] = hub.verify(model, stop, progress)
    results = [{"name": name, "files": _files(files)} for name, files in verified.items()]
    if not parsed.json:
        for name, files in verified.items():
            say(f"{_verdict(files):8}  {name}")
        say(*_faults(chosen), to_stderr=True)
    bad = [name for name, files in verified.items() if _verdict(files) in ("damaged", "missing")]
    if bad:
        error = BadCheckpoint(
            f"Damaged or incomplete: {', '.join(bad)}.", "Delete the model and download it again."
        )
        return fail(error, parsed.json, models=results)
    if parsed.json:
        say(json.dumps({"models": results}, ensure_ascii=False))
    return 0


def _delete(models: Path, parsed: argparse.Namespace) -> int:
    from engine import hub

    model = hub.find_stored(models, parsed.name)
    freed = hub.delete(models, model)
    if parsed.json:
        say(json.dumps({"name": model.name, "bytes": freed}, ensure_ascii=False))
    else:
        say(f"{model.name}: {_gib(freed).strip()} freed")
    return 0


def _import(models: Path, parsed: argparse.Namespace) -> int:
    from engine import hub

    with _with_progress("Importing") as (stop, progress):
        model = hub.import_model(models, named_path(parsed.path), stop, progress)
    if parsed.json:
        say(json.dumps(_described(model), ensure_ascii=False))
    else:
        say(f"{model.name}: {_gib(model.nbytes).strip()}")
    return 0


def _move(models: Path, parsed: argparse.Namespace) -> int:
    from engine import hub

    if parsed.path is None:
        models, target = _left_behind()
    else:
        target = named_path(parsed.path).absolute()
    with _with_progress("Moving") as (stop, progress):
        nbytes = hub.move(models, target, stop, progress, catalog.keep_models_folder)
    if catalog.models_folder() != target:
        say(
            f"{catalog.MODELS_VARIABLE} names another folder and takes precedence: set it to {target}, or "
            "unset it.",
            to_stderr=True,
        )
    if parsed.json:
        say(json.dumps({"folder": str(target), "bytes": nbytes}, ensure_ascii=False))
    else:
        say(f"{target}: {_gib(nbytes).strip()}")
    return 0


def _left_behind() -> tuple[Path, Path]:
    """Return from where to where the models of earlier versions should be moved. Raises BadOption."""
    left = catalog.left_behind()
    if left is None:
        raise BadOption(
            f"Earlier versions left no models to move; the models folder is {catalog.models_folder()}.",
            "To move them elsewhere, give the new folder: specexec models move PATH.",
        )
    return left


# -- shared by the actions
# ------------------------------------------------------------------------------------


@contextmanager
def _with_progress(what: str) -> Iterator[tuple["Stop", Callable[[int, int], None]]]:
    """Show progress on a terminal, and turn Ctrl-C into a clean stop, after which Interrupted is raised."""
    from engine.hub import Stop, Stopped

    stop = Stop()
    with cancelled_by_ctrl_c() as cancelled, progress_line(what) as show:

        def progress(done: int, total: int) -> None:
            show(done, total)
            if cancelled():
                stop.ask()

        try:
            yield stop, progress
        except Stopped:
            raise Interrupted("The command was interrupted.", "Run it again to restart it.") from None


def _faults(models: "list[StoredModel]") -> list[str]:
    """Return what is wrong with the models' manifests; several models may have the same one."""
    return list(dict.fromkeys(fault for model in models for fault in model.faults))


def _described(model: "StoredModel") -> dict[str, Any]:
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
    """Return the worst state of a model's files."""
    states = {file.state for file in verified}
    return next((state for state in ("damaged", "missing", "unknown") if state in states), "ok")


def _gib(nbytes: int) -> str:
    return f"{nbytes / 2**30:8.2f} GiB"
