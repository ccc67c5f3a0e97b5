"""`specexec pull`: download a model from the Hugging Face Hub, with resume and verification."""

import argparse
import getpass
import json
import sys
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine import catalog
from engine.catalog import Variant
from engine.errors import BadOption, Interrupted, ModelNotFound
from engine.files import named_path
from engine.terminal import Commands, add_command, add_folder_option, cancelled_by_ctrl_c, plain, say

if TYPE_CHECKING:
    from engine.hub import Download, DownloadProgress, Hub, Item, Repository

_GIB = 2**30


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "pull",
        run,
        "download a model from the Hugging Face Hub",
        "Prints the files and their sizes first, then downloads and verifies them. An interrupted download "
        "resumes when the same command is run again.",
    )
    parser.add_argument(
        "repository",
        metavar="REPO",
        help="repository as OWNER/NAME, its address, or the ID of a catalogue model",
    )
    parser.add_argument(
        "--file",
        action="append",
        default=[],
        metavar="NAME",
        help="GGUF file to download from a repository with several; repeatable (default: the only one, or "
        "the one the catalogue names)",
    )
    parser.add_argument(
        "--revision",
        default="",
        metavar="NAME",
        help="branch, tag or commit (default: the one the catalogue names, or else the main branch)",
    )
    parser.add_argument(
        "--draft",
        metavar="REPO|auto",
        help="also download this draft; auto: the draft that the catalogue pairs with REPO (default: no "
        "draft)",
    )
    add_folder_option(parser)
    parser.add_argument(
        "--max-speed",
        type=float,
        default=0.0,
        metavar="MB/s",
        help="maximum download speed of all files together, in MB/s (default: 0, no limit)",
    )
    parser.add_argument(
        "--token",
        action="store_true",
        help="ask for an access token of the Hub first, and keep it in the system's keyring",
    )
    parser.add_argument("--dry-run", action="store_true", help="only print what would be downloaded")


def run(parsed: argparse.Namespace) -> int:
    from engine import hub

    if not 0 <= parsed.max_speed < float("inf"):
        raise BadOption("--max-speed is out of range.", "Give megabytes per second, or 0 for no limit.")
    source = hub.Hub()
    if parsed.token:
        _ask_token(source)
    models = named_path(parsed.models or catalog.models_folder())
    with _opening_pages(not parsed.json):
        item = _item(source, parsed)
        _announce(item, models)
        for repository in item.repositories:
            source.check_access(repository)
        if parsed.dry_run:
            done = None
        else:
            limit = hub.Limit(parsed.max_speed * 1e6)
            done = _followed(hub.Download(item, models, source, limit))
    if parsed.json:
        say(json.dumps(_result(item, models, done), ensure_ascii=False))
    elif done is not None:
        for repository in item.repositories:
            say(str(models / repository.id))
    return 0


# -- what to download ----------------------------------------------------------------------------------------


def _item(source: "Hub", parsed: argparse.Namespace) -> "Item":
    """Return what to download. Raises ModelNotFound if a name is unknown; BadOption if the catalogue has no
    draft for the target, or if a repository has several models and none is named; UnsupportedModel if a
    repository has no model; and the errors from the Hub."""
    from engine import hub

    target = _repository(source, parsed.repository, parsed.file, parsed.revision)
    if parsed.draft is None:
        return hub.item(parsed.repository, target)
    draft = parsed.draft
    if draft == "auto":
        known = _variant(parsed.repository)
        drafts = _drafts(known.model) if known else []
        if not drafts:
            raise BadOption(
                f"The catalogue has no draft for {parsed.repository}.", "Name one with --draft OWNER/NAME."
            )
        draft = drafts[0]
    return hub.item(f"{parsed.repository} + {draft}", target, _repository(source, draft, [], ""))


def _repository(source: "Hub", name: str, files: list[str], revision: str) -> "Repository":
    from engine import hub

    variant = _variant(name)
    if variant is not None:
        if not files:
            files = list(variant.files) if variant.format == "gguf" else []
        return hub.choose(source.repository(variant.repository, revision or variant.revision), files)
    id = hub.repository_id(name)
    if id is None:
        raise ModelNotFound(
            f"{name!r} is neither a repository nor a model of the catalogue.",
            "Give OWNER/NAME as on huggingface.co, or the ID of a catalogue model.",
        )
    return hub.choose(source.repository(id, revision), files)


def _drafts(model: str) -> list[str]:
    """Return what may draft for a model, best first: the repository of its companion, and ids of models."""
    companion = catalog.catalog().models[model].companion
    own = [companion.repository] if companion else []
    return [*own, *(pair.draft for pair in catalog.catalog().drafts_for(model))]


def _variant(name: str) -> Variant | None:
    """Return the catalogue's variant with the ID `name`. If `name` is the ID of a model, return the model's
    first variant; if it is neither, None."""
    known = catalog.catalog().models.get(name)
    return known.variants[0] if known else catalog.entries().get(name)


def _ask_token(source: "Hub") -> None:
    prompt = "Access token (not shown): "
    given = getpass.getpass(prompt) if sys.stdin.isatty() else sys.stdin.readline()
    if notice := source.tokens.keep(given):
        say(notice, to_stderr=True)


@contextmanager
def _opening_pages(may_open: bool) -> Iterator[None]:
    """Open the model's page if its licence must be accepted there, `may_open` is true and stderr is a
    terminal."""
    from engine.hub import LicenseNotAccepted

    try:
        yield
    except LicenseNotAccepted as error:
        if may_open and sys.stderr.isatty():
            webbrowser.open(error.page)
        raise


# -- output --------------------------------------------------------------------------------------------------


def _announce(item: "Item", models: Path) -> None:
    for repository in item.repositories:
        license = repository.license or "unknown licence"
        say(f"{repository.id} at {repository.commit[:12]}, {license}", to_stderr=True)
        for file in repository.files:
            say(f"  {file.nbytes / _GIB:8.2f} GiB  {file.name}", to_stderr=True)
    say(f"Total {item.nbytes / _GIB:.2f} GiB, to {models}", to_stderr=True)


def _followed(download: "Download") -> "DownloadProgress":
    """Run the download with a progress bar until it is done. Raises the error that stopped it."""
    with cancelled_by_ctrl_c() as cancelled, _bar(download.item.nbytes) as show:
        download.start()
        while (seen := download.wait(0.2)).state == "running":
            show(seen)
            if cancelled():
                download.pause()
    if seen.state != "done":
        raise download.error or Interrupted(
            "The download was interrupted.", "Run the same command again to resume it."
        )
    return seen


@contextmanager
def _bar(nbytes: int) -> Iterator[Callable[["DownloadProgress"], None]]:
    """Show a progress bar if stderr is a terminal; otherwise print only errors.

    Yields a function that shows the given progress.
    """
    from rich import progress as rich
    from rich.console import Console

    bar = rich.Progress(
        rich.BarColumn(),
        rich.DownloadColumn(),
        rich.TextColumn("{task.fields[speed]}"),
        rich.TextColumn("{task.fields[error]}", style="yellow", markup=False),
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )
    printed = ""

    def show(seen: "DownloadProgress") -> None:
        nonlocal printed
        speed = f"{seen.bytes_per_s / 1e6:.1f} MB/s"
        if seen.seconds_left is not None:
            speed += f", {_clock(seen.seconds_left)} left"
        bar.update(task, completed=seen.done_nbytes, speed=speed, error=plain(seen.error))
        if seen.error and seen.error != printed and bar.disable:
            say(seen.error, to_stderr=True)
        printed = seen.error

    with bar:
        task = bar.add_task("", total=nbytes, speed="", error="")
        yield show


def _clock(seconds: float) -> str:
    """Return a time as hours, minutes and seconds; a stalled download may have thousands of hours left."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


def _result(item: "Item", models: Path, done: "DownloadProgress | None") -> dict[str, Any]:
    from engine.hub import manifest

    repositories = []
    for repository in item.repositories:
        kept = manifest.read(models / repository.id) if done else None
        files = [
            {
                "name": file.name,
                "bytes": file.nbytes,
                "sha256": kept.files[file.name].sha256 if kept else file.sha256,
            }
            for file in repository.files
        ]
        repositories.append(
            {
                "repository": repository.id,
                "commit": repository.commit,
                "license": repository.license,
                "gated": repository.gated,
                "path": str(models / repository.id),
                "files": files,
            }
        )
    fetched = done.fetched_nbytes if done else 0
    return {"bytes": item.nbytes, "bytes_fetched": fetched, "repositories": repositories}
