"""The documentation builds, its links lead somewhere, and its generated pages are up to date."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = subprocess.check_output(["git", "ls-files", "*.md"], cwd=ROOT, text=True).splitlines()
LINK = re.compile(r"\]\(<?([^)>\s]+)>?\)")


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives the headings of a page."""
    headings = re.findall(r"^#+ +(.*)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", PAGES)
def test_no_link_of_a_page_is_dead(name: str) -> None:
    page = ROOT / name
    dead = []
    for link in LINK.findall(page.read_text("utf-8")):
        target, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        path = (page.parent / target).resolve() if target else page
        if not path.exists() or (anchor and path.suffix == ".md" and anchor not in anchors(path)):
            dead.append(link)
    assert dead == []


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-n", "-q", "docs", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "design.html").is_file()


def test_the_picture_of_the_floors_is_drawn_from_the_contracts() -> None:
    drawn = runpy.run_path(str(ROOT / "docs" / "draw_floors.py"))["draw"]()
    assert drawn == (ROOT / "docs" / "floors.svg").read_text("utf-8"), "run python docs/draw_floors.py"


def test_the_command_line_page_is_made_from_the_parsers() -> None:
    printed = subprocess.check_output([sys.executable, "docs/generate_cli.py"], cwd=ROOT, text=True)
    assert printed == (ROOT / "docs" / "command-line.md").read_text("utf-8"), (
        "run python docs/generate_cli.py > docs/command-line.md"
    )
