"""`specexec pull`: a model from the Hugging Face Hub, resumed and verified."""

import argparse
import getpass
import json
import sys
import time
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine import catalog
from engine.catalog import Variant
from engine.cli.common import Commands, cancelled_by_ctrl_c
from engine.errors import BadOption, Interrupted, ModelNotFound

if TYPE_CHECKING:
    from engine.hub import Download, Hub, Item, Progress, Repository

_GIB = 2**30


def add(commands: Commands) -> None:
    pull = commands.add_parser(
        "pull",
        help="download a model; ended in any way, the same command goes on",
        description="Says what will come before it comes. An access token is kept in the system's keyring.",
        allow_abbrev=False,
    )
    pull.set_defaults(run=run)
    pull.add_argument("repository", metavar="REPO", help="OWNER/NAME on the Hub, its address, or a known id")
    pull.add_argument(
        "--file", action="append", default=[], metavar="NAME", help="which GGUF file of several"
    )
    pull.add_argument("--revision", default="", metavar="NAME", help="a branch, tag or commit")
    pull.add_argument(
        "--draft", metavar="REPO|auto", help="its draft with it; auto: the one known to go with a known id"
    )
    pull.add_argument("--models", type=Path, metavar="PATH", help="the folder of the models")
    pull.add_argument("--max-speed", type=float, default=0.0, metavar="MB/s", help="of all files together")
    pull.add_argument("--token", action="store_true", help="ask for an access token of the Hub first")
    pull.add_argument("--dry-run", action="store_true", help="only say what would come")
    pull.add_argument("--json", action="store_true", help="print one JSON object")


def run(parsed: argparse.Namespace) -> int:
    from engine import hub

    if not 0 <= parsed.max_speed < float("inf"):
        raise BadOption("--max-speed is out of range.", "Give megabytes per second; 0 is no limit.")
    source = hub.Hub()
    if parsed.token:
        _ask_token(source)
    models = (parsed.models or catalog.models_folder()).expanduser()
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
        print(json.dumps(_told(item, models, done), ensure_ascii=False))
    elif done is not None:
        for repository in item.repositories:
            print(models / repository.id)
    return 0


# -- what is wanted ------------------------------------------------------------------------------------------


def _item(source: "Hub", parsed: argparse.Namespace) -> "Item":
    """Raises ModelNotFound, BadOption, and what the Hub raises."""
    from engine import hub

    target = _wanted(source, parsed.repository, parsed.file, parsed.revision)
    if parsed.draft is None:
        return hub.item(parsed.repository, target)
    draft = parsed.draft
    if draft == "auto":
        known = _variant(parsed.repository)
        pairs = catalog.catalog().drafts_for(known.model) if known else []
        if not pairs:
            raise BadOption(f"No draft is known for {parsed.repository}.", "Name one: --draft OWNER/NAME.")
        draft = pairs[0].draft
    return hub.item(f"{parsed.repository} + {draft}", target, _wanted(source, draft, [], ""))


def _wanted(source: "Hub", name: str, files: list[str], revision: str) -> "Repository":
    from engine import hub

    variant = _variant(name)
    if variant is not None:
        if not files:
            files = list(variant.files) if variant.format == "gguf" else []
        return hub.choose(source.repository(variant.repository, revision or variant.revision), files)
    id = hub.repository_id(name)
    if id is None:
        raise ModelNotFound(
            f"{name!r} is neither a repository nor a known model.",
            "Give OWNER/NAME as on huggingface.co, or an id of resources/catalog.",
        )
    return hub.choose(source.repository(id, revision), files)


def _variant(name: str) -> Variant | None:
    """A variant of the catalogue; for the id of a model, its first one."""
    known = catalog.catalog().models.get(name)
    return known.variants[0] if known else catalog.entries().get(name)


def _ask_token(source: "Hub") -> None:
    if sys.stdin.isatty():
        given = getpass.getpass("Access token (it is not shown): ")
    else:
        given = sys.stdin.readline()
    if notice := source.tokens.keep(given):
        print(notice, file=sys.stderr)


@contextmanager
def _opening_pages(may_open: bool) -> Iterator[None]:
    """A licence is accepted on the model's page: opened where a person sits here."""
    from engine.hub import LicenseNotAccepted

    try:
        yield
    except LicenseNotAccepted as error:
        if may_open and sys.stderr.isatty():
            webbrowser.open(error.page)
        raise


# -- what is said --------------------------------------------------------------------------------------------


def _announce(item: "Item", models: Path) -> None:
    for repository in item.repositories:
        license = repository.license or "no licence named"
        print(f"{repository.id} at {repository.commit[:12]}, {license}", file=sys.stderr)
        for file in repository.files:
            print(f"  {file.nbytes / _GIB:8.2f} GiB  {file.name}", file=sys.stderr)
    print(f"{item.nbytes / _GIB:.2f} GiB in all, to {models}", file=sys.stderr)


def _followed(download: "Download") -> "Progress":
    """Until it is done. Raises why it is not."""
    with cancelled_by_ctrl_c() as cancelled, _bar(download.item.nbytes) as show:
        download.start()
        while (seen := download.wait(0.2)).state == "running":
            show(seen)
            if cancelled():
                download.pause()
    if seen.state != "done":
        raise download.error or Interrupted("The download is paused.", "The same command goes on from here.")
    return seen


@contextmanager
def _bar(nbytes: int) -> Iterator[Callable[["Progress"], None]]:
    """A bar on a terminal; elsewhere only troubles."""
    from rich import progress as rich
    from rich.console import Console

    bar = rich.Progress(
        rich.BarColumn(),
        rich.DownloadColumn(),
        rich.TextColumn("{task.fields[speed]}"),
        rich.TextColumn("{task.fields[trouble]}", style="yellow", markup=False),
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )
    told = ""

    def show(seen: "Progress") -> None:
        nonlocal told
        speed = f"{seen.bytes_per_s / 1e6:.1f} MB/s"
        if seen.seconds_left is not None:
            speed += ", " + time.strftime("%H:%M:%S", time.gmtime(seen.seconds_left)) + " left"
        bar.update(task, completed=seen.done_nbytes, speed=speed, trouble=seen.trouble)
        if seen.trouble and seen.trouble != told and bar.disable:
            print(seen.trouble, file=sys.stderr)
        told = seen.trouble

    with bar:
        task = bar.add_task("", total=nbytes, speed="", trouble="")
        yield show


def _told(item: "Item", models: Path, done: "Progress | None") -> dict[str, Any]:
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
