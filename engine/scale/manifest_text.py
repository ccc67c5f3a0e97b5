"""YAML for SkyPilot and KubeRay: keys in the order given, scripts as blocks."""

from collections.abc import Mapping
from typing import Any

import yaml


class _Dumper(yaml.SafeDumper):  # type: ignore[misc]
    """PyYAML's safe dumper, which writes strings of several lines as literal blocks."""

    def ignore_aliases(self, data: object) -> bool:
        return True  # the same mapping twice is written twice


def _string(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _string)


def yaml_text(*documents: Mapping[str, Any]) -> str:
    """Return `documents` as YAML, with a line of three dashes between them."""
    text: str = yaml.dump_all(documents, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    return text


def label(text: str) -> str:
    """Return `text` as a name for Kubernetes and SkyPilot: lower-case letters, digits and hyphens, at most
    40, with a letter first."""
    plain = "".join(each if each.isascii() and each.isalnum() else "-" for each in text.lower())
    name = "-".join(filter(None, plain.split("-"))) or "model"
    return (name if name[0].isalpha() else f"m-{name}")[:40].rstrip("-")
