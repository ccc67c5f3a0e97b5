"""A simulated machine's /proc and /sys as files in a folder."""

from pathlib import Path

GIB = 2**30


def put(root: Path, files: dict[str, str | bytes]) -> Path:
    """Write the files, each ending in a line break as the kernel's files do."""
    for path, content in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else f"{content}\n".encode())
    return root
