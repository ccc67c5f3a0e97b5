"""Requirement lists with hashes, which `lock` generates from pyproject.toml.

`write` makes the lists of one bundle: an installer or a runtime file.
"""

import json
import re
import tomllib
from pathlib import Path

from installers.common import NAME, PACKAGING, PYTHON, ROOT, UV, Failed, run, say, sha256, tool, tools

LISTS = PACKAGING / "requirements"
# What an installed program leaves to a runtime; what it lacks as nothing imports it; what the engine does
# not need.
RUNTIME_ONLY = ("torch", "transformers", "accelerate", "safetensors")
UNUSED = ("hf-xet", "uv")  # `engine.hub` downloads files itself; uv lies beside the program
WINDOW_ONLY = ("pyside6-essentials", "ziamath", "pypdf", "openpyxl", "defusedxml")
UV_VERSION = "0.13.9"
TORCH = re.compile(r"torch|triton|cuda-.*|nvidia-(?!ml-py).*")  # packages specific to a build of torch
HEADER = "# Made by `python3 packaging/build.py lock`; do not edit by hand.\n"


def lock() -> None:
    """Regenerate packaging/requirements for both systems: package.txt, engine.txt, torch.txt, uv.txt."""
    tools()
    package = _compile((*RUNTIME_ONLY, *UNUSED))
    both = _compile((*WINDOW_ONLY, "uv"))
    _write("package.txt", package)
    _write("engine.txt", [block for block in both if not TORCH.fullmatch(_name(block))])
    _write("torch.txt", [block for block in both if TORCH.fullmatch(_name(block))])
    lock_uv()


def lock_uv() -> None:
    source = LISTS / "uv.in"
    source.write_text(f"uv=={UV_VERSION}\n")
    _write("uv.txt", _blocks(_uv_compile(source)))
    source.unlink()


def _compile(without: tuple[str, ...]) -> list[str]:
    override = LISTS / "without.in"
    override.write_text("".join(f"{name} ; sys_platform == 'never'\n" for name in without))
    constraints = PACKAGING / "constraints.txt"
    try:
        text = _uv_compile(
            ROOT / "pyproject.toml", "--extra", "torch", "--override", override, "--constraints", constraints
        )
    finally:
        override.unlink()
    never = re.compile(r"sys_platform == '(never|emscripten)'")
    return [block for block in _blocks(text) if not never.search(block)]


def _uv_compile(source: Path, *options: str | Path) -> str:
    """Return the requirements of `source` for all systems, with hashes but without the URL of an index."""
    shape = ["--universal", "--python-version", PYTHON, "--no-header", "--no-annotate", "--generate-hashes"]
    return run([tool("uv"), *UV, "pip", "compile", "--no-emit-index-url", *shape, *options, source])


def _blocks(text: str) -> list[str]:
    """Split a list into its entries, each a package with its hashes."""
    return [block for block in re.split(r"\n(?=\S)", text.strip()) if not block.startswith("#")]


def _name(block: str) -> str:
    return re.match(r"[\w.-]+", block).group()  # type: ignore[union-attr]


def _write(name: str, blocks: list[str]) -> None:
    (LISTS / name).write_text(HEADER + "".join(f"{block}\n" for block in blocks), "utf-8")
    say(f"packaging/requirements/{name}: {len(blocks)} packages")


def read(name: str) -> list[str]:
    return _blocks((LISTS / name).read_text("utf-8"))


def without_window() -> list[str]:
    """Return the packages that an installed program needs if it opens no window."""
    engine = {_name(block) for block in read("engine.txt")}
    return [block for block in read("package.txt") if _name(block) in engine]


def write(folder: Path, system: str, wheels: Path | None) -> list[str]:
    """Write the lists for a bundle or a wheel to `folder`, and return the backends that these offer.

    wheels: a folder of wheels, hashed here if backends.toml has no hash for them yet.
    """
    folder.mkdir(parents=True)
    (folder / "engine.txt").write_bytes((LISTS / "engine.txt").read_bytes())
    declared = tomllib.loads((PACKAGING / "backends.toml").read_text("utf-8"))
    offered = []
    lines = []
    for name, systems in declared.items():
        fields = dict(systems.get(system, {}))
        packages, also = fields.pop("packages", None), fields.pop("also", {})
        blocks = _default_torch(name) if packages is None else _pins(packages, wheels)
        if not fields or blocks is None:
            continue
        (folder / f"torch-{name}.txt").write_text("".join(f"{block}\n" for block in blocks))
        if also:
            more = "".join(f"{block}\n" for block in _pins(also, None) or ())
            (folder / f"engine-{name}.txt").write_text((folder / "engine.txt").read_text("utf-8") + more)
        lines += [f"[{name}]", *(f"{key} = {json.dumps(value)}" for key, value in fields.items()), ""]
        offered.append(name)
    (folder / "backends.toml").write_text("\n".join(lines), "utf-8")
    say(f"  backends of {NAME} for {system}: {', '.join(offered)}")
    return offered


def _default_torch(name: str) -> list[str]:
    blocks = read("torch.txt")
    return blocks if name == "cuda" else [block for block in blocks if _name(block) == "torch"]


def _pins(packages: dict[str, list[str]], wheels: Path | None) -> list[str] | None:
    """Return the pins with their hashes, or None if a hash is missing."""
    blocks = []
    for pin, hashes in packages.items():
        digests = hashes or [sha256(path) for path in _wheels(pin, wheels)]
        if not digests:
            return None
        blocks.append(" ".join([pin, *(f"--hash=sha256:{digest}" for digest in digests)]))
    return blocks


def _wheels(pin: str, wheels: Path | None) -> list[Path]:
    start = pin.replace("==", "-") + "-cp" + PYTHON.replace(".", "")
    return (
        []
        if wheels is None
        else [path for path in sorted(wheels.glob("*.whl")) if path.name.startswith(start)]
    )


def hashes() -> None:
    """Fill each empty list of hashes in backends.toml with the package's hashes from PyTorch's index."""
    tools()
    path = PACKAGING / "backends.toml"
    text = path.read_text("utf-8")
    for systems in tomllib.loads(text).values():
        for fields in systems.values():
            for pin in (pin for pin, known in fields.get("packages", {}).items() if not known):
                source = LISTS / "pin.in"
                source.write_text(pin + "\n")
                try:
                    listed = _uv_compile(source, "--no-deps", "--default-index", fields["index"])
                finally:
                    source.unlink()
                digests = sorted(set(re.findall(r"sha256:(\w{64})", listed)))
                if not digests:
                    raise Failed(f"{fields['index']} has no hash for {pin}")
                text = text.replace(f'"{pin}" = []', f'"{pin}" = {json.dumps(digests)}')
    path.write_text(text, "utf-8")
