"""No test reads or writes what the user's own programs keep; minutes by area are printed at the end."""

from collections import Counter
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def data_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Also of the processes that tests start (platformdirs, on Linux)."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("data", "config"):
            patch.setenv(f"XDG_{name.upper()}_HOME", str(tmp_path_factory.mktemp(name)))
        yield


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
