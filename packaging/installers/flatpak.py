"""Write the manifest with which flatpak-builder packs the program of the .deb.

The .deb is its only source, named by its address in a release and its SHA-256. Keys: flatpak-builder's
data/flatpak-manifest.schema.json.
"""

import json
import os
from pathlib import Path

from installers.common import NAME, sha256

IDENTIFIER = "io.github.specexec_desktop"  # also the id in the AppStream data
RUNTIME_VERSION = "24.08"
SHARE = "usr/share"
ICON = f"s/Icon={NAME}/Icon={IDENTIFIER}/"
# Flatpak shows the system only files that are named after the program.
COMMANDS = (
    f"ar x {NAME}.deb",
    "tar -xf data.tar.*",
    "mkdir -p $FLATPAK_DEST/lib $FLATPAK_DEST/bin",
    f"cp -a opt/{NAME} $FLATPAK_DEST/lib/",
    f"ln -s ../lib/{NAME}/{NAME} ../lib/{NAME}/specexec $FLATPAK_DEST/bin/",
    f"sed -i '{ICON}' {SHARE}/applications/{NAME}.desktop",
    f"sed -i 's/{NAME}.desktop/{IDENTIFIER}.desktop/; s/stock\">{NAME}/stock\">{IDENTIFIER}/' "
    f"{SHARE}/metainfo/{NAME}.metainfo.xml",
    f"for file in $(find {SHARE} -type f -name '{NAME}.*'); do "
    f"install -Dm644 $file $FLATPAK_DEST/share/$(dirname ${{file#{SHARE}/}})/"
    f"{IDENTIFIER}${{file##*/{NAME}}}; done",
)
FINISH = (
    "--share=network",
    "--share=ipc",  # X11's shared memory
    "--socket=wayland",
    "--socket=fallback-x11",
    "--device=dri",
    "--talk-name=org.freedesktop.secrets",  # access tokens, and the local server's key
)


def write(deb: Path, version: str, repository: str) -> Path:
    """Write the manifest beside `deb` and return its path. repository: as in `manifests.write`."""
    tag = os.environ.get("GITHUB_REF_NAME", f"v{version}")
    url = f"{repository}/releases/download/{tag}/{deb.name}"
    target = deb.with_name(f"{IDENTIFIER}.json")
    target.write_text(json.dumps(manifest(url, sha256(deb)), indent=4) + "\n", "utf-8")
    return target


def manifest(url: str, digest: str) -> dict[str, object]:
    """Return the manifest. Data, settings and caches lie in the folders that Flatpak gives each program."""
    source = {"type": "file", "url": url, "sha256": digest, "dest-filename": f"{NAME}.deb"}
    module = {
        "name": NAME,
        "buildsystem": "simple",
        "no-python-timestamp-fix": True,  # its bytecode names no times
        "build-commands": list(COMMANDS),
        "sources": [{**source, "only-arches": ["x86_64"]}],
    }
    return {
        "id": IDENTIFIER,
        "runtime": "org.freedesktop.Platform",
        "runtime-version": RUNTIME_VERSION,
        "sdk": "org.freedesktop.Sdk",
        "command": NAME,
        "finish-args": list(FINISH),
        "build-options": {"no-debuginfo": True},
        "modules": [module],
    }
