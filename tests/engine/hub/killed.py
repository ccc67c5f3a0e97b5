"""The downloading process of test_killed.py."""

from pathlib import Path

from engine.hub import Download, Hub, Item, Patience


def bring(wanted: Item, models: str, endpoint: str) -> None:
    """Download `wanted`; exit with 1 unless it completes."""
    patience = Patience(silence_s=5, first_wait_s=0.05, longest_wait_s=0.5)
    running = Download(wanted, Path(models), Hub(endpoint), patience=patience)
    running.start()
    if running.wait().state != "done":
        raise SystemExit(1)
