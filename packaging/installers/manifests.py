"""Write the manifests with which winget and Scoop find and install the Windows set-up.

Each names the set-up's address in a release and its SHA-256. Schemas: winget-cli's schemas/JSON/manifests,
version 1.10.0; Scoop's schema.json.
"""

import json
import os
from pathlib import Path

from installers.common import NAME, TITLE, sha256

IDENTIFIER = "SpecExec.SpecExecDesktop"
VERSION = "1.10.0"  # of winget's schema
LOCALE = "en-US"
SHORT = "Chat with a language model larger than your graphics card"
LONG = (
    "A large language model is slow when it does not fit on the graphics card. Here, a small draft model "
    "proposes a whole tree of continuations, and the large model checks all of them in a single pass. "
    "Everything runs on your computer; a small model is included and answers without a network."
)
TAGS = ["chat", "gguf", "inference", "llm", "offline", "speculative-decoding"]


def write(setup: Path, version: str, repository: str) -> list[Path]:
    """Write the manifests beside `setup` and return their paths.

    repository: the address of the repository whose release has the set-up. The release is that of the tag
    that the workflow builds, or else of "v" and the version.
    """
    tag = os.environ.get("GITHUB_REF_NAME", f"v{version}")
    url = f"{repository}/releases/download/{tag}/{setup.name}"
    files = {
        f"{IDENTIFIER}{part}.yaml": _yaml(content)
        for part, content in winget(version, url, sha256(setup), repository).items()
    }
    files[f"{NAME}.json"] = json.dumps(scoop(version, url, sha256(setup), repository), indent=4) + "\n"
    for name, text in files.items():
        setup.with_name(name).write_text(text, "utf-8")
    return [setup.with_name(name) for name in files]


def winget(version: str, url: str, digest: str, repository: str) -> dict[str, dict[str, object]]:
    """Return winget's three manifests by the ends of their names."""

    def manifest(kind: str, fields: dict[str, object]) -> dict[str, object]:
        package: dict[str, object] = {"PackageIdentifier": IDENTIFIER, "PackageVersion": version}
        return {**package, **fields, "ManifestType": kind, "ManifestVersion": VERSION}

    installer = {
        "Platform": ["Windows.Desktop"],
        "MinimumOSVersion": "10.0.17763.0",
        "InstallerType": "nullsoft",
        "Scope": "user",
        "InstallModes": ["interactive", "silent"],
        "UpgradeBehavior": "install",
        "Commands": ["specexec"],
        "FileExtensions": ["specexec-chat"],
        "ProductCode": NAME,
        "Installers": [{"Architecture": "x64", "InstallerUrl": url, "InstallerSha256": digest.upper()}],
    }
    texts = {
        "PackageLocale": LOCALE,
        "Publisher": TITLE,
        "PublisherUrl": repository,
        "PublisherSupportUrl": f"{repository}/issues",
        "PackageName": TITLE,
        "PackageUrl": repository,
        "License": "Apache-2.0",
        "LicenseUrl": f"{repository}/blob/main/LICENSE",
        "ShortDescription": SHORT,
        "Description": LONG,
        "Moniker": NAME,
        "Tags": TAGS,
    }
    return {
        "": manifest("version", {"DefaultLocale": LOCALE}),
        ".installer": manifest("installer", installer),
        f".locale.{LOCALE}": manifest("defaultLocale", texts),
    }


def scoop(version: str, url: str, digest: str, repository: str) -> dict[str, object]:
    """Return Scoop's manifest. Scoop lets the set-up install into a folder of its own."""
    address = url.replace(version, "$version")
    return {
        "version": version,
        "description": SHORT,
        "homepage": repository,
        "license": "Apache-2.0",
        "architecture": {"64bit": {"url": url, "hash": digest}},
        # NSIS takes the rest of the line as the folder, spaces included.
        "installer": {"args": ["/S", "/D=$dir"]},
        "uninstaller": {"file": "uninstall.exe", "args": ["/S", "_?=$dir"]},
        "bin": "specexec.exe",
        "checkver": {"github": repository},
        "autoupdate": {"architecture": {"64bit": {"url": address}}},
    }


def _yaml(content: dict[str, object]) -> str:
    """Return the content as YAML, each scalar and list in JSON's notation, which YAML includes."""
    return "".join(f"{name}: {json.dumps(value, ensure_ascii=False)}\n" for name, value in content.items())
