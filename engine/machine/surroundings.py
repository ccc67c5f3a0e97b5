"""Where the machine itself runs: on battery, under Windows, in a container, watched from afar."""

from collections.abc import Mapping
from pathlib import Path

from engine.machine.data import Surroundings
from engine.machine.system_files import ROOT, text


def linux_surroundings(on_battery: bool, environ: Mapping[str, str], root: Path = ROOT) -> Surroundings:
    kernel = text(root / "proc/sys/kernel/osrelease").lower()
    return Surroundings(
        on_battery=on_battery,
        remote="ssh" if environ.get("SSH_CONNECTION") else None,
        wsl="microsoft" in kernel,
        container=_container(environ, root),
    )


def windows_surroundings(
    on_battery: bool, environ: Mapping[str, str], in_remote_session: bool
) -> Surroundings:
    ssh = "ssh" if environ.get("SSH_CONNECTION") else None
    return Surroundings(on_battery=on_battery, remote="remote desktop" if in_remote_session else ssh)


def _container(environ: Mapping[str, str], root: Path) -> str | None:
    if environ.get("KUBERNETES_SERVICE_HOST"):
        return "kubernetes"
    if (root / ".dockerenv").exists():
        return "docker"
    if (root / "run/.containerenv").exists():
        return "podman"
    said = environ.get("container") or text(root / "run/systemd/container")  # systemd.io/CONTAINER_INTERFACE
    return None if said in ("", "wsl") else said
