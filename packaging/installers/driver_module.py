"""Compile the module by which Triton talks to NVIDIA's driver, so that no user needs a C compiler for it."""

import hashlib
import re
import shutil
import sysconfig
from pathlib import Path

from installers import lists
from installers.common import WORK, fresh, install, run, say

_STUB = "libcuda.so.1"  # the driver's library, which the user's machine has


def build(folder: Path) -> Path:
    """Compile the module of the Triton that torch's build for CUDA brings, into `folder`.

    Returns the folder with Triton's metadata.
    """
    say("  Triton's module for NVIDIA's driver")
    whole, pin = fresh(WORK / "triton"), WORK / "triton.txt"
    pin.write_text("\n".join(block for block in lists.read("torch.txt") if re.match(r"triton\b", block)))
    install(pin, whole, "linux")
    compiled(whole / "triton" / "backends" / "nvidia", folder)
    (metadata,) = whole.glob("triton-*.dist-info")
    return metadata


def compiled(backend: Path, folder: Path) -> Path:
    """Compile driver.c of Triton's folder `backend` for this Python; return the module's path in `folder`.

    Its name tells what it was compiled from (`engine.machine.driver_module` looks for it).
    """
    source = backend / "driver.c"
    folder.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256(source.read_bytes()).hexdigest()[:16]
    target = folder / f"cuda_utils-{digest}{sysconfig.get_config_var('EXT_SUFFIX')}"
    stubs = fresh(folder / "stubs")
    run(["gcc", "-shared", f"-Wl,-soname,{_STUB}", "-o", stubs / _STUB, "-x", "c", "/dev/null"])
    headers = [f"-I{backend / 'include'}", f"-I{sysconfig.get_path('include')}"]
    linking = ["-Wl,--no-as-needed", f"-L{stubs}", f"-l:{_STUB}"]
    run(["gcc", source, "-O2", "-s", "-shared", "-fPIC", "-Wno-psabi", "-o", target, *headers, *linking])
    shutil.rmtree(stubs)
    return target
