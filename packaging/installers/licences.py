"""Licences and an SBOM (CycloneDX 1.5) of everything that a tree bundles, read from what lies in it."""

import datetime
import email
import json
import shutil
import sys
import uuid
from pathlib import Path

import dev

from installers.common import NAME, PACKAGING, ROOT, epoch, sha256
from installers.common import version as own_version

MODEL_CARD = "SmolLM2-135M-Instruct by HuggingFaceTB, Apache-2.0\n"


def write(folder: Path, system: str) -> None:
    """folder/licences: one folder a package; folder/sbom.json."""
    target = folder / "licences"
    target.mkdir()
    shutil.copy(ROOT / "LICENSE", target / f"{NAME}.txt")
    (target / "SmolLM2-135M-Instruct.txt").write_text(MODEL_CARD)
    components = []
    for info in sorted((folder / "lib").glob("*.dist-info")):
        said = email.message_from_string((info / "METADATA").read_text("utf-8"))
        name, version = said["Name"], said["Version"]
        texts = [path for path in sorted(info.rglob("*")) if path.is_file() and _is_licence(path)]
        for path in texts:
            place = target / name / path.name
            place.parent.mkdir(exist_ok=True)
            shutil.copy(path, place)
        licence = said["License-Expression"] or said["License"] or ""
        components.append(_component("library", name, version, licence, f"pkg:pypi/{name.lower()}@{version}"))
    components += _others(target, system)
    (folder / "sbom.json").write_text(json.dumps(_bill(components), indent=1), "utf-8")


def _is_licence(path: Path) -> bool:
    return path.name.upper().startswith(("LICENSE", "LICENCE", "COPYING", "NOTICE", "AUTHORS"))


def _others(target: Path, system: str) -> list[dict[str, object]]:
    """The interpreter, uv, the model."""
    for place in (Path(sys.base_prefix) / "LICENSE.txt", Path(sys.base_prefix) / "LICENSE"):
        if place.is_file():
            shutil.copy(place, target / "Python.txt")
    (target / "uv.txt").write_text("uv by Astral, MIT or Apache-2.0\n")
    pin = (PACKAGING / "requirements" / "uv.txt").read_text().splitlines()[1].split()[0]
    uv = pin.partition("==")[2]
    python = ".".join(map(str, sys.version_info[:3])) if system == "linux" else "3.11.9"
    model = _component("machine-learning-model", "SmolLM2-135M-Instruct", "Q4_1", "Apache-2.0", "")
    model["hashes"] = [{"alg": "SHA-256", "content": dev.MODEL_SHA256}]
    return [
        _component("application", "python", python, "PSF-2.0", f"pkg:generic/python@{python}"),
        _component("application", "uv", uv, "MIT OR Apache-2.0", f"pkg:pypi/uv@{uv}"),
        model,
    ]


def _component(kind: str, name: str, version: str, licence: str, purl: str) -> dict[str, object]:
    found: dict[str, object] = {"type": kind, "name": name, "version": version}
    if purl:
        found |= {"bom-ref": purl, "purl": purl}
    if licence and len(licence) < 100:
        found["licenses"] = [{"license": {"name": licence}}]
    return found


def _bill(components: list[dict[str, object]]) -> dict[str, object]:
    serial = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(components, sort_keys=True))
    moment = datetime.datetime.fromtimestamp(epoch(), datetime.UTC).isoformat()
    own = {"type": "application", "name": NAME, "version": own_version()}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{serial}",
        "version": 1,
        "metadata": {"timestamp": moment, "component": own},
        "components": components,
    }


def checksums(folder: Path) -> None:
    """folder/SHA256SUMS of all that lies in it."""
    files = [path for path in sorted(folder.iterdir()) if path.is_file() and path.name != "SHA256SUMS"]
    (folder / "SHA256SUMS").write_text("".join(f"{sha256(path)}  {path.name}\n" for path in files))
