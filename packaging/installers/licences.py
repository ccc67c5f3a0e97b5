"""Write the licences of everything in a tree and an SBOM (CycloneDX 1.5), from what its files declare."""

import datetime
import email
import json
import platform
import shutil
import sys
import uuid
from pathlib import Path

import dev

from installers.common import NAME, PACKAGING, ROOT, epoch, run, sha256

TEXTS = PACKAGING / "licences"  # licence texts for packages that contain none
MODEL = "SmolLM2-135M-Instruct"


def write(folder: Path, system: str, version: str, more: list[Path]) -> None:
    """Write folder/licences, with a folder per package, and folder/sbom.json.

    more: the folders with the metadata of what is in the tree besides the packages of lib/.
    """
    target = folder / "licences"
    target.mkdir()
    shutil.copy(ROOT / "LICENSE", target / f"{NAME}.txt")
    packages = [*sorted((folder / "lib").glob("*.dist-info")), *more]
    components = [_package(info, target) for info in packages]
    if system == "linux":
        components += _libraries(folder / "python" / "lib", target)
    components += [_python(folder / "python", target, system), _model(target)]
    (folder / "sbom.json").write_text(json.dumps(_bill(version, components), indent=1), "utf-8")


def _package(info: Path, target: Path) -> dict[str, object]:
    metadata = email.message_from_string((info / "METADATA").read_text("utf-8"))
    name, version = metadata["Name"], metadata["Version"]
    licence = metadata["License-Expression"] or metadata["License"] or ""
    texts = [path for path in sorted(info.rglob("*")) if path.is_file() and _is_licence(path)]
    for path in texts:
        place = target / name / path.relative_to(info).as_posix().removeprefix("licenses/")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, place)
    if not texts:
        (target / name).mkdir()
        lacking = [TEXTS / "LGPL-3.0.txt", TEXTS / "GPL-3.0.txt"] if "LGPL" in licence else []
        for path in (info / "METADATA", *lacking):
            shutil.copy(path, target / name)
    return _component("library", name, version, licence, f"pkg:pypi/{name.lower()}@{version}")


def _is_licence(path: Path) -> bool:
    names = ("LICENSE", "LICENCE", "COPYING", "NOTICE", "AUTHORS")
    return "licenses" in path.parts or path.name.upper().startswith(names)


def _libraries(folder: Path, target: Path) -> list[dict[str, object]]:
    """Return SBOM entries for the libraries beside the interpreter, and copy their licences to `target`.

    The libraries come from the build machine's Debian or Ubuntu, which knows their packages.
    """
    components = {}
    for path in sorted(folder.glob("*.so*")):
        if path.name.startswith("libpython"):
            continue
        package = run(["dpkg-query", "--search", f"*/{path.name}"]).partition(":")[0]
        version = run(["dpkg-query", "--show", "--showformat=${Version}", package])
        (target / package).mkdir(exist_ok=True)
        shutil.copy(f"/usr/share/doc/{package}/copyright", target / package)
        purl = f"pkg:deb/{platform.freedesktop_os_release()['ID']}/{package}@{version}"
        components[package] = _component("library", package, version, "", purl)
    return list(components.values())


def _python(folder: Path, target: Path, system: str) -> dict[str, object]:
    """Return the SBOM entry for the interpreter, and copy its licence to `target`.

    The embeddable build for Windows contains its own licence and those of its libraries.
    """
    own = folder / "LICENSE.txt"
    shutil.copy(own if own.is_file() else TEXTS / "PSF-2.0.txt", target / "Python.txt")
    version = ".".join(map(str, sys.version_info[:3])) if system == "linux" else "3.11.9"
    return _component("application", "python", version, "PSF-2.0", f"pkg:generic/python@{version}")


def _model(target: Path) -> dict[str, object]:
    text = (ROOT / "LICENSE").read_text("utf-8")
    (target / f"{MODEL}.txt").write_text(f"{MODEL} by HuggingFaceTB\n\n{text}", "utf-8")
    component = _component("machine-learning-model", MODEL, "Q4_1", "Apache-2.0", "")
    return component | {"hashes": [{"alg": "SHA-256", "content": dev.MODEL_SHA256}]}


def _component(kind: str, name: str, version: str, licence: str, purl: str) -> dict[str, object]:
    component: dict[str, object] = {"type": kind, "name": name, "version": version}
    if purl:
        component |= {"bom-ref": purl, "purl": purl}
    if licence and len(licence) < 100:
        component["licenses"] = [{"license": {"name": licence}}]
    return component


def _bill(version: str, components: list[dict[str, object]]) -> dict[str, object]:
    serial = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(components, sort_keys=True))
    moment = datetime.datetime.fromtimestamp(epoch(), datetime.UTC).isoformat()
    own = {"type": "application", "name": NAME, "version": version}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{serial}",
        "version": 1,
        "metadata": {"timestamp": moment, "component": own},
        "components": components,
    }


def checksums(folder: Path) -> None:
    """Write folder/SHA256SUMS for all files in the folder."""
    files = [path for path in sorted(folder.iterdir()) if path.is_file() and path.name != "SHA256SUMS"]
    (folder / "SHA256SUMS").write_text("".join(f"{sha256(path)}  {path.name}\n" for path in files))
