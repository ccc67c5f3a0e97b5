"""Find the module by which Triton talks to NVIDIA's driver, compiled in advance.

Triton compiles this one C file when it first sees a card; kernels themselves need no compiler. The Linux
packages bring the module, for their own interpreter and the Triton that torch's build for CUDA has
(packaging/installers/driver_module.py).
"""

import hashlib
import sysconfig
from pathlib import Path

from engine.assets import RESOURCES

SOURCE = Path("backends", "nvidia", "driver.c")  # in Triton's folder


def find(source: Path, folder: Path = RESOURCES / "triton") -> Path | None:
    """Return the module in `folder` that was compiled from file `source` for this Python, or None."""
    if not source.is_file():
        return None
    digest = hashlib.sha256(source.read_bytes()).hexdigest()[:16]
    module = folder / f"cuda_utils-{digest}{sysconfig.get_config_var('EXT_SUFFIX')}"
    return module if module.is_file() else None
