"""Which torch is installed, known without importing it: that takes seconds."""

import runpy
from dataclasses import dataclass
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path


@dataclass(frozen=True, slots=True)
class TorchBuild:
    """cuda, rocm: the version it was built for, such as "13.0"; None: not for that.

    architectures: of CUDA devices it was compiled for, such as "sm_90" (`torch.cuda.get_arch_list`); empty
    where they are unknown.
    """

    version: str
    cuda: str | None = None
    rocm: str | None = None
    architectures: tuple[str, ...] = ()


def installed_torch(packages: Path | None = None) -> TorchBuild | None:
    """From torch's own version.py, its architectures unknown; None where torch is not installed.

    packages: the folder they are in; None: this interpreter's.
    """
    spec = PathFinder.find_spec("torch", [str(packages)]) if packages else find_spec("torch")
    file = Path(spec.origin).with_name("version.py") if spec and spec.origin else None
    if file is None or not file.is_file():
        return None
    said = runpy.run_path(str(file))
    return TorchBuild(said["__version__"], said.get("cuda"), said.get("hip"))
