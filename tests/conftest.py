"""No test reads or writes what the user's own programs keep, or learns from answers of an earlier test; tests
that run side by side share the cores, and begin with what takes longest; the minutes by area are printed at
the end."""

import gc
import os
import sys
from collections import Counter
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

# Tests start hundreds of processes. Without bytecode, each of them compiles what it imports, and so does each
# worker: it took 45 s of processor time to collect the tests, and 21 s with it. Where the environment says to
# write none, folders of sources are to stay clean: it lies elsewhere.
if sys.dont_write_bytecode:
    sys.dont_write_bytecode = False
    sys.pycache_prefix = str(Path(__file__).parents[1] / "build" / "bytecode")
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Torch and numpy read this when they are imported, and so do the processes that tests start.
if workers := int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "0")):
    # By default the threads of each worker take all cores, and wait for each other most of the time: on two
    # busy cores, a test of a tiny model took 60 s of processor time instead of 4.
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // workers)))

from engine.serving.service import GOMP_SPINCOUNT

os.environ.setdefault("GOMP_SPINCOUNT", GOMP_SPINCOUNT)  # as the engine does; tests import torch before it


@pytest.fixture(scope="session", autouse=True)
def data_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Also of the processes that tests start (platformdirs, on Linux)."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("data", "config"):
            patch.setenv(f"XDG_{name.upper()}_HOME", str(tmp_path_factory.mktemp(name)))
        yield


@pytest.fixture(autouse=True)
def no_past_answers(data_home: None) -> None:
    """Predictions and recommendations would depend on how busy the machine was during earlier tests."""
    Path(os.environ["XDG_DATA_HOME"], "specexec-desktop", "planner.json").unlink(missing_ok=True)


# The files that take longest: forty seconds to two minutes.
LONGEST = (
    "app/pages/test_pages.py",
    "real/test_coder_pair.py",
    "engine/compiled/test_other_instructions.py",
    "real/test_formats.py",
    "engine/quantization/test_triton.py",
    "app/test_real_brought.py",
    "engine/serving/test_prompt_cache.py",
    "app/wizard/test_real_wizard.py",
    "engine/model/test_perplexity.py",
)


def pytest_configure(config: pytest.Config) -> None:
    config.option.loadscopereorder = False  # pytest-xdist keeps the order of `pytest_collection_modifyitems`


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let workers begin with LONGEST, and go on with the files that have most tests: if the last file took
    long, the others would wait for it."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        places = {Path(__file__).parent / name: place for place, name in enumerate(LONGEST)}
        tests = Counter(item.path for item in items)
        items.sort(key=lambda item: (places.get(item.path, len(places)), -tests[item.path]))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Make a million objects without looking for garbage among them: this took a quarter of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.fixture(scope="module", autouse=True)
def no_garbage_of_others() -> None:
    """Collecting garbage looks at what this module makes, and not at a million objects of other tests: a
    full collection took 0.4 s, and the engine makes one whenever it closes a model."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the minutes of each area, so that it is seen where time goes."""
    seconds: Counter[str] = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                seconds["/".join(report.nodeid.partition("::")[0].split("/")[:3])] += report.duration
    if seconds.total() > 60:
        terminalreporter.section("minutes by area")
        for area, spent in seconds.most_common(12):
            terminalreporter.line(f"{spent / 60:5.1f}  {area}")
