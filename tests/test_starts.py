"""The command that starts the engine many times."""

import pytest

from engine.errors import EngineGone
from engine.protocol.connection import EngineConnection
from tests import starts


def test_starts_beside_a_busy_program_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    assert starts.main(["--count", "2", "--busy", "1"]) == 0
    said = capsys.readouterr().out
    assert "2 starts: 0 failed, 0 retried" in said
    assert "ready after: median" in said


@pytest.mark.parametrize(("failures", "counts"), [(1, (1, 0, 1)), (2, (0, 1, 2))])
def test_a_start_that_fails_is_tried_once_more(
    monkeypatch: pytest.MonkeyPatch, failures: int, counts: tuple[int, int, int]
) -> None:
    start, left = EngineConnection.start, [failures]

    def fail() -> EngineConnection:
        if left[0]:
            left[0] -= 1
            raise EngineGone("The engine process did not start.", "Read the log.")
        return start()

    monkeypatch.setattr(EngineConnection, "start", staticmethod(fail))
    done = starts.Starts()
    done.once()
    assert (done.retried, done.failed, len(done.failures)) == counts
    assert done.count == 1
